// onnxruntime, in WebAssembly or native: its Attention operator and the graph it is made of.

/** `models(workload)` gives bytes by variant; `options` are those of the session. */
export function onnxPeer(name, ort, models, options) {
  return {
    name,
    async prepare(workload, { query, key, value }) {
      const { heads, length, headDim } = workload;
      const tensor = (values) => new ort.Tensor('float32', values, [1, heads, length, headDim]);
      const feeds = { query: tensor(query), key: tensor(key), value: tensor(value) };
      const variants = [];
      for (const [variant, bytes] of Object.entries(models(workload))) {
        const session = await ort.InferenceSession.create(bytes, options).catch(() => undefined);
        if (session === undefined) continue;
        variants.push({
          variant,
          call: async () => (await session.run(feeds)).context.data,
          release: () => session.release(),
        });
      }
      return variants;
    },
  };
}

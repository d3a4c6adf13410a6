// LiteRT.js (XNNPACK). Its instance is global: another build is loaded in place of the former.

let loaded;

async function load(litert, file, options) {
  if (loaded === file) return;
  if (loaded !== undefined) litert.unloadLiteRt();
  await litert.loadLiteRt(file, options);
  loaded = file;
}

/** `file`: the build's .js or the folder of all; `modelOf` gives a .tflite file's bytes. */
export function litertPeer(name, litert, file, modelOf, { load: loadOptions, compile } = {}) {
  return {
    name,
    async prepare(workload, data) {
      if (workload.causal) return []; // nothing but a mask over the whole square
      await load(litert, file, loadOptions);
      const { heads, length, headDim } = workload;
      const model = await litert.loadAndCompile(modelOf(workload), { accelerator: 'wasm', ...compile });
      const inputs = [data.query, data.key, data.value].map((x) => new litert.Tensor(x, [heads, length, headDim]));
      return [{
        call: async () => {
          const [context] = await model.run(inputs);
          const values = await context.data();
          context.delete();
          return values;
        },
        release: () => {
          for (const tensor of inputs) tensor.delete();
          model.delete();
        },
      }];
    },
  };
}

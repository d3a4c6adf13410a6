// TensorFlow.js on WebAssembly, heads one by one, which is faster than its batched product. Keys are
// transposed beforehand, at no cost to it.

export function tfjsPeer(tf) {
  return {
    name: 'TensorFlow.js wasm',
    prepare({ heads, length, headDim, causal }, { query, key, value }) {
      if (causal) return []; // nothing but a mask over the whole square
      const size = length * headDim;
      const matrix = (x, h) => tf.tensor2d(x.subarray(h * size, (h + 1) * size), [length, headDim]);
      const parts = Array.from({ length: heads }, (_, h) => ({
        q: matrix(query, h), v: matrix(value, h), kT: tf.tidy(() => tf.transpose(matrix(key, h))),
      }));
      return [{
        call: async () => {
          const context = new Float32Array(query.length);
          for (const [h, { q, v, kT }] of parts.entries()) {
            const result = tf.tidy(() => tf.matMul(tf.softmax(tf.mul(tf.matMul(q, kT), 1 / Math.sqrt(headDim))), v));
            context.set(await result.data(), h * size);
            result.dispose();
          }
          return context;
        },
        release: () => parts.forEach(({ q, v, kT }) => tf.dispose([q, v, kT])),
      }];
    },
  };
}

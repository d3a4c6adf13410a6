// ruvector-attention-wasm takes one query and an array of arrays a call.

export function ruvectorPeer(ruvector) {
  return {
    name: 'ruvector',
    prepare({ heads, length, headDim, causal }, { query, key, value }) {
      if (causal || heads * length ** 2 > 2 ** 20) return []; // a call copies all keys, for every query
      const row = (x, h, i) => x.subarray((h * length + i) * headDim, (h * length + i + 1) * headDim);
      const rows = (x, h) => Array.from({ length }, (_, i) => row(x, h, i));
      return [{
        call: () => {
          const context = new Float32Array(query.length);
          for (let h = 0; h < heads; h++) {
            const keys = rows(key, h), values = rows(value, h);
            for (let i = 0; i < length; i++) context.set(ruvector.scaled_dot_attention(row(query, h, i), keys, values), (h * length + i) * headDim);
          }
          return context;
        },
      }];
    },
  };
}

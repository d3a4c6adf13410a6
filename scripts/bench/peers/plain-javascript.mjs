// Attention in plain JavaScript: what a reader would write first.

export const plainJavaScript = {
  name: 'plain JavaScript',
  prepare({ heads, length, headDim, causal }, { query, key, value }) {
    if (heads * length ** 2 > 2 ** 22) return []; // seconds, and nothing learnt
    const call = () => {
      const context = new Float32Array(query.length);
      const weights = new Float64Array(length);
      for (let h = 0; h < heads; h++) {
        for (let i = 0; i < length; i++) {
          const visible = causal ? i + 1 : length;
          let maximum = -Infinity, sum = 0;
          for (let j = 0; j < visible; j++) {
            let dot = 0;
            for (let t = 0; t < headDim; t++) dot += query[(h * length + i) * headDim + t] * key[(h * length + j) * headDim + t];
            weights[j] = dot / Math.sqrt(headDim);
            maximum = Math.max(maximum, weights[j]);
          }
          for (let j = 0; j < visible; j++) sum += weights[j] = Math.exp(weights[j] - maximum);
          for (let j = 0; j < visible; j++) {
            for (let t = 0; t < headDim; t++) context[(h * length + i) * headDim + t] += (weights[j] / sum) * value[(h * length + j) * headDim + t];
          }
        }
      }
      return context;
    };
    return [{ call }];
  },
};

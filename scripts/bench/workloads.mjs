// What the benchmarks compute: heads x length x head_dim, full and causal.
export const workloads = [
  { heads: 1, length: 16, headDim: 64 },
  { heads: 1, length: 128, headDim: 64 },
  { heads: 1, length: 256, headDim: 64 },
  { heads: 8, length: 512, headDim: 64 },
  { heads: 8, length: 1024, headDim: 64 },
  { heads: 8, length: 1024, headDim: 64, causal: true },
  { heads: 8, length: 1024, headDim: 32 },
  { heads: 8, length: 1024, headDim: 128 },
  { heads: 8, length: 2048, headDim: 64 },
  { heads: 8, length: 2048, headDim: 64, causal: true },
  { heads: 1, length: 8192, headDim: 64 },
];

export const nameOf = ({ heads, length, headDim, causal }) => `${heads}x${length}x${headDim}${causal ? ' causal' : ''}`;

/** Causal attention is counted as half. */
export const operationsOf = ({ heads, length, headDim, causal }) => 4 * heads * length ** 2 * headDim * (causal ? 0.5 : 1);

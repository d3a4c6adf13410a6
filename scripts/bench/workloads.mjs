// What the benchmarks compute: heads x length x head_dim, full and causal.
const full = [
  [1, 16, 64], [1, 128, 64], [1, 256, 64], [8, 512, 64], [8, 1024, 64], [8, 2048, 64], [1, 8192, 64], [1, 16384, 64],
  [8, 1024, 32], [8, 1024, 80], [8, 1024, 96], [8, 1024, 128],
].map(([heads, length, headDim]) => ({ heads, length, headDim, causal: false }));
const causal = [[8, 1024, 64], [8, 2048, 64], [1, 16384, 64]].map(([heads, length, headDim]) => ({ heads, length, headDim, causal: true }));

export const workloads = [...full, ...causal];

export const nameOf = ({ heads, length, headDim, causal }) => `${heads}x${length}x${headDim}${causal ? ' causal' : ''}`;

/** Causal attention is counted as half. */
export const operationsOf = ({ heads, length, headDim, causal }) => 4 * heads * length ** 2 * headDim * (causal ? 0.5 : 1);

// Softmax attention weights in float64, independent of the page: for comparing what it shows.

export interface OracleInputs {
  /** [heads, length, headDim] */
  readonly query: Float32Array;
  readonly key: Float32Array;
  readonly length: number;
  readonly headDim: number;
}

export interface OracleOptions {
  readonly scale?: number;
  readonly causal?: boolean;
  readonly hidden?: readonly number[];
  readonly softCap?: number;
  readonly window?: readonly [left: number, right: number];
}

/** Weights of one query over all keys (Vaswani et al. 2017, eq. 1). */
export function attentionRow({ query, key, length, headDim }: OracleInputs, head: number, row: number, options: OracleOptions = {}): Float64Array {
  const { scale = 1 / Math.sqrt(headDim), causal = false, hidden = [], softCap = 0, window } = options;
  const at = (position: number) => (head * length + position) * headDim;
  const logits = Float64Array.from({ length }, (_, column) => {
    const distance = column - row;
    const seen = !(causal && column > row) && !hidden.includes(column) && !(window !== undefined && (distance < -window[0] || distance > window[1]));
    if (!seen) return Number.NEGATIVE_INFINITY;
    let dot = 0;
    for (let t = 0; t < headDim; t++) dot += query[at(row) + t]! * key[at(column) + t]!;
    return softCap > 0 ? softCap * Math.tanh((dot * scale) / softCap) : dot * scale;
  });
  const most = logits.reduce((a, b) => Math.max(a, b));
  const powers = logits.map((logit) => Math.exp(logit - most));
  const sum = powers.reduce((a, b) => a + b);
  return powers.map((power) => power / sum);
}

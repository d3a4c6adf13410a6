// Attention in float64, plain and slow, for the tests of the TypeScript side. Knows nothing of heed.

export interface OracleProblem {
  readonly query: Float32Array;
  readonly key: Float32Array;
  readonly value: Float32Array;
  readonly heads: number;
  readonly kvHeads: number;
  readonly queryLen: number;
  readonly keyLen: number;
  readonly headDim: number;
  readonly valueDim: number;
  readonly scale?: number;
  /** Whether key j is shown to query i of head h; default: all. */
  readonly shows?: (h: number, i: number, j: number) => boolean;
  readonly softCap?: number;
  readonly bias?: (h: number, i: number, j: number) => number;
}

export interface OracleResult {
  /** [heads][queryLen][keyLen] */
  readonly weights: number[][][];
  readonly context: number[][][];
  readonly logsumexp: number[][];
}

export function oracleAttention(p: OracleProblem): OracleResult {
  const scale = p.scale ?? 1 / Math.sqrt(p.headDim);
  const weights: number[][][] = [], context: number[][][] = [], logsumexp: number[][] = [];
  for (let h = 0; h < p.heads; h++) {
    const kv = Math.floor(h / (p.heads / p.kvHeads));
    const weightRows: number[][] = [], contextRows: number[][] = [], lses: number[] = [];
    for (let i = 0; i < p.queryLen; i++) {
      const logits = Array.from({ length: p.keyLen }, (_, j) => {
        if (p.shows && !p.shows(h, i, j)) return -Infinity;
        let dot = 0;
        for (let t = 0; t < p.headDim; t++) {
          dot += p.query[(h * p.queryLen + i) * p.headDim + t]! * p.key[(kv * p.keyLen + j) * p.headDim + t]!;
        }
        dot *= scale;
        if (p.softCap) dot = p.softCap * Math.tanh(dot / p.softCap);
        return dot + (p.bias?.(h, i, j) ?? 0);
      });
      const maximum = Math.max(-Infinity, ...logits);
      const exps = logits.map((s) => (maximum === -Infinity ? 0 : Math.exp(s - maximum)));
      const sum = exps.reduce((a, b) => a + b, 0);
      const row = exps.map((e) => (sum === 0 ? 0 : e / sum));
      weightRows.push(row);
      lses.push(sum === 0 ? -Infinity : maximum + Math.log(sum));
      contextRows.push(Array.from({ length: p.valueDim }, (_, t) =>
        row.reduce((acc, w, j) => acc + w * p.value[(kv * p.keyLen + j) * p.valueDim + t]!, 0)));
    }
    weights.push(weightRows);
    context.push(contextRows);
    logsumexp.push(lses);
  }
  return { weights, context, logsumexp };
}

/** Seeded uniform numbers in (-1, 1): a linear congruential generator, good enough for test data. */
export function uniformData(size: number, seed: number): Float32Array<ArrayBuffer> {
  let state = (seed * 2654435761 + 12345) >>> 0;
  return Float32Array.from({ length: size }, () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return state / 2 ** 31 - 1;
  });
}

export function largestDifference(actual: ArrayLike<number>, expected: readonly number[]): number {
  let worst = 0;
  for (let i = 0; i < expected.length; i++) {
    const difference = actual[i] === expected[i] ? 0 : Math.abs(actual[i]! - expected[i]!);
    worst = Math.max(worst, Number.isNaN(difference) ? Infinity : difference);
  }
  return worst;
}

/** Queries and keys around `clusters` shared centres, so that a query's mass lies on the keys of its own. */
export function clusteredInputs(length: number, dim: number, clusters: number) {
  const centres = uniformData(clusters * dim, 11);
  const member = uniformData(length, 12).map((u) => Math.floor(((u + 1) / 2) * clusters) % clusters);
  const around = (seed: number) => uniformData(length * dim, seed).map((u, n) => 4 * centres[member[Math.floor(n / dim)]! * dim + (n % dim)]! + 0.5 * u);
  return { query: around(13), key: around(14), value: uniformData(length * dim, 15), shape: { queryLen: length, headDim: dim } };
}

// The arguments and results of heed's facade: types only. The mathematics and the rules are those
// of cpp/include/heed; sizes are counts of elements, all tensors are row-major float32.

/** Sizes of one problem. Defaults: batch 1, heads 1, kvHeads = heads, keyLen = queryLen, valueDim = headDim. */
export interface AttentionShape {
  readonly batch?: number;
  readonly heads?: number;
  /** Key/value heads; heads must be a multiple of it (multi-query and grouped-query attention). */
  readonly kvHeads?: number;
  readonly queryLen: number;
  readonly keyLen?: number;
  readonly headDim: number;
  readonly valueDim?: number;
}

/** Query [batch, heads, queryLen, headDim], key [batch, kvHeads, keyLen, headDim], value [batch, kvHeads, keyLen, valueDim]; every number finite. */
export interface AttentionInputs {
  readonly query: Float32Array;
  readonly key: Float32Array;
  readonly value: Float32Array;
  readonly shape: AttentionShape;
}

/** A tensor that repeats along the axes where its size is 1: [batch or 1, heads or 1, queryLen or 1, keyLen]. */
export interface Broadcast<T> {
  readonly data: T;
  readonly shape: readonly [batch: number, heads: number, queryLen: number, keyLen: number];
}

/** Which keys a query sees and how dot products become logits; see cpp/include/heed/attention.hpp. */
export interface AttentionOptions {
  /** Default 1 / sqrt(headDim). */
  readonly scale?: number;
  /** Query i sees key j only if j <= i + causalOffset. */
  readonly causal?: boolean;
  /** Default keyLen - queryLen: the last query is aligned with the last key. */
  readonly causalOffset?: number;
  readonly windowLeft?: number;
  readonly windowRight?: number;
  /** > 0: logits become softCap * tanh(logit / softCap). */
  readonly softCap?: number;
  /** A query sees its own position only if it sees no other. */
  readonly excludeSelf?: boolean;
  /** [batch, keyLen]; 0 hides the key. */
  readonly keyMask?: Uint8Array;
  /** 0 hides key j from query i. */
  readonly mask?: Broadcast<Uint8Array>;
  /** Added to the logits; finite or -Infinity. */
  readonly bias?: Broadcast<Float32Array>;
}

/** The random rotation of a hash: dense Gaussian, or signs and Walsh-Hadamard transforms. */
export type Rotation = 'gaussian' | 'hadamard';

/** How hashing chooses candidates (Kitaev et al. 2020); see cpp/include/heed/lsh_attention.hpp. */
export interface LshOptions {
  /** Default 4. */
  readonly rounds?: number;
  /** Even. Default: so that a bucket holds half a chunk on average. */
  readonly buckets?: number;
  /** Vectors a chunk. Default 2 * length / buckets. */
  readonly chunk?: number;
  /** 0 <= seed < 2^64; numbers must be safe integers. Default 0. */
  readonly seed?: number | bigint;
  /** The random rotation of a hash: dense Gaussian (default), or signs and Walsh-Hadamard transforms, which cost a fraction of it on long sequences. */
  readonly rotation?: Rotation;
  /** Keys are the queries divided by their norms; `key` is ignored. */
  readonly sharedQueryKey?: boolean;
  /** Candidates are the keys of the query's own bucket, so that causality is exact. */
  readonly trueBuckets?: boolean;
}

/** One round of hashing. */
export interface HashOptions {
  readonly buckets: number;
  readonly seed?: number | bigint;
  readonly round?: number;
  readonly rotation?: Rotation;
}

/** context [batch, heads, queryLen, valueDim]; logsumexp [batch, heads, queryLen], natural, -Infinity for a query that sees no key. */
export interface AttentionResult {
  readonly context: Float32Array<ArrayBuffer>;
  readonly logsumexp: Float32Array<ArrayBuffer>;
}

/** Parameters in use, with defaults filled in. */
export interface LshParameters {
  readonly rounds: number;
  readonly buckets: number;
  readonly chunk: number;
}

/** Query-key pairs over all heads; masks count as savings for both. */
export interface LshCost {
  readonly candidatePairs: number;
  readonly exactPairs: number;
}

/** How good an LSH approximation is; see LshQuality in cpp/include/heed/lsh_attention.hpp. */
export interface LshQuality {
  readonly queries: number;
  readonly sampled: boolean;
  readonly capturedMass: number;
  readonly capturedMassMin: number;
  readonly capturedMassStderr: number;
  readonly relativeError: number;
  readonly relativeErrorStderr: number;
  readonly errorBound: number;
  readonly kl: number;
  readonly argmaxMargin: number;
}

/** The outcome of LSH attention, with the parameters in use and what they cost. */
export interface LshResult extends AttentionResult {
  readonly parameters: LshParameters;
  readonly cost: LshCost;
}

/** A rectangle of one head's weight matrix, reduced to cells of rowsPerCell x columnsPerCell. Ranges are half-open. */
export interface TileRequest {
  readonly batch?: number;
  readonly head: number;
  readonly rows: readonly [begin: number, end: number];
  readonly columns: readonly [begin: number, end: number];
  readonly rowsPerCell?: number;
  readonly columnsPerCell?: number;
}

/** Cells row by row: peak is the entry of largest magnitude in the cell, mean the mean of its entries. */
export interface Tile {
  readonly cellRows: number;
  readonly cellColumns: number;
  readonly peak: Float32Array<ArrayBuffer>;
  readonly mean: Float32Array<ArrayBuffer>;
}

/** Exact attention or its LSH approximation. */
export type Mechanism = 'exact' | 'lsh';

/** What a tile or row shows: exact weights, LSH weights, or LSH minus exact. */
export type WeightKind = Mechanism | 'difference';

/** Keys a query attends to under LSH, ascending, and the first round that found each. */
export interface Candidates {
  readonly keys: Uint32Array<ArrayBuffer>;
  readonly rounds: Uint32Array<ArrayBuffer>;
}

/** One round of one head: bucket of each vector (`buckets` for hidden keys) and positions in sorted order. */
export interface LshStructure {
  readonly queryBuckets: Uint32Array<ArrayBuffer>;
  readonly keyBuckets: Uint32Array<ArrayBuffer>;
  readonly queryOrder: Uint32Array<ArrayBuffer>;
  readonly keyOrder: Uint32Array<ArrayBuffer>;
  /** Queries and keys a chunk: chunk c of the sorted keys belongs to chunk c of the sorted queries. */
  readonly queryChunk: number;
  readonly keyChunk: number;
}

/** One query's attention to one key under one mechanism. */
export interface CellShare {
  /** Of the query, natural logarithm. */
  readonly logsumexp: number;
  /** exp(logit - logsumexp); 0 when the mechanism does not see the key. */
  readonly weight: number;
  /** 1 + number of keys with a larger weight. */
  readonly rank: number;
  /** weight * v_j, [valueDim]. */
  readonly contribution: Float32Array<ArrayBuffer>;
  /** The query's whole context, [valueDim]. */
  readonly context: Float32Array<ArrayBuffer>;
}

/** From the dot product to the share of the context; see cpp/include/heed/cell.hpp. */
export interface CellArithmetic {
  /** q_t * k_t, [headDim]; k is normalised under sharedQueryKey. */
  readonly products: Float32Array<ArrayBuffer>;
  readonly dot: number;
  readonly scaled: number;
  /** After the soft cap. */
  readonly capped: number;
  /** After the bias; -Infinity when hidden. */
  readonly logit: number;
  readonly hiddenBy: 'nothing' | 'keyMask' | 'mask' | 'bias' | 'causal' | 'window' | 'self';
  readonly exact: CellShare;
  /** candidate: the pair met in some round, the first of which is round, or -1. */
  readonly lsh: CellShare & { readonly candidate: boolean; readonly round: number };
}

/** Weights are row-major [outFeatures, inFeatures] as in PyTorch's nn.Linear. */
export interface Linear {
  readonly weight: Float32Array;
  readonly bias?: Float32Array;
}

/** Sizes of multi-head attention. */
export interface MultiHeadShape {
  readonly batch?: number;
  readonly queryLen: number;
  readonly keyLen?: number;
  readonly modelDim: number;
  readonly memoryDim?: number;
  readonly heads: number;
  readonly kvHeads?: number;
  readonly headDim: number;
  readonly valueDim?: number;
  readonly outputDim?: number;
}

/** querySource [batch, queryLen, modelDim]; memory [batch, keyLen, memoryDim], default querySource. */
export interface MultiHeadInputs {
  readonly querySource: Float32Array;
  readonly memory?: Float32Array;
  readonly shape: MultiHeadShape;
  readonly weights: { readonly query: Linear; readonly key: Linear; readonly value: Linear; readonly output: Linear };
}

/** output [batch, queryLen, outputDim]; context [batch, heads, queryLen, valueDim] before W_O; logsumexp [batch, heads, queryLen]. */
export interface MultiHeadResult extends AttentionResult {
  readonly output: Float32Array<ArrayBuffer>;
}

/** Sizes of a key/value cache. Defaults: batch 1, kvHeads 1, valueDim = headDim. `capacity` is room made at once; more is made when needed. */
export interface CacheShape {
  readonly batch?: number;
  readonly kvHeads?: number;
  readonly headDim: number;
  readonly valueDim?: number;
  readonly capacity?: number;
}

/** query [batch, heads, queryLen, headDim]; heads is a multiple of the cache's kvHeads and by default equal, queryLen is 1 by default. */
export interface CacheQuery {
  readonly query: Float32Array;
  readonly heads?: number;
  readonly queryLen?: number;
}

/** Where the WebAssembly binary comes from. Default: the file beside the module, relaxed SIMD where the engine has it. A binary given here is heed.wasm; with simd "relaxed", heed-relaxed.wasm; with laboratory, heed-lab.wasm or heed-lab-relaxed.wasm. */
export interface InitOptions {
  readonly wasmUrl?: string | URL;
  readonly wasmBinary?: ArrayBuffer | Uint8Array;
  readonly module?: WebAssembly.Module;
  readonly simd?: 'auto' | 'simd128' | 'relaxed';
  /** Starts the larger module that autoTune() and principalComponents() need: heed-lab.wasm. Default false. */
  readonly laboratory?: boolean;
}

// The arguments and results of what needs the laboratory's module (init with laboratory: true): types only.
// The mathematics and the rules are those of cpp/include/heed.

import type { AttentionShape, LshOptions } from './types.ts';

/** Named structures of generated queries and keys; see cpp/include/heed/generators.hpp for each formula. */
export type Structure = 'clustered' | 'low-rank' | 'gaussian' | 'power-law' | 'needle';

/** What generate() makes: query, key and value of a named structure from a seed. */
export interface GenerateOptions {
  readonly structure: Structure;
  readonly shape: AttentionShape;
  readonly seed?: number | bigint;
}

/** Directions of greatest variance of rows x [rows, dim], strongest first. */
export interface PrincipalComponents {
  /** [dim] */
  readonly mean: Float32Array<ArrayBuffer>;
  /** [components, dim], orthonormal rows. */
  readonly components: Float32Array<ArrayBuffer>;
  /** [components]; shares of the total variance. */
  readonly explained: Float32Array<ArrayBuffer>;
}

/** What one round of hashing did with a query and a key. */
export interface PairRound {
  readonly met: boolean;
  readonly queryBucket: number;
  readonly keyBucket: number;
  /** Gap between the best and the second value of each hash: how near the vector was to another bucket. */
  readonly queryMargin: number;
  readonly keyMargin: number;
  /** Places in the sorted order, and the chunks they are in. */
  readonly queryRank: number;
  readonly keyRank: number;
  readonly queryChunk: number;
  readonly keyChunk: number;
  /** Why they did not meet: other buckets (far apart), or a chunk boundary between neighbouring places. */
  readonly reason: 'met' | 'hidden' | 'buckets' | 'boundary';
}

/** Sampled quality of LSH attention: for every sampled query its own figures, and the figures over all of them. */
export interface LshReport {
  /** Sampled queries, per head, ascending: [sample] each. */
  readonly queries: Uint32Array<ArrayBuffer>;
  readonly capturedMassOfQuery: Float32Array<ArrayBuffer>;
  readonly relativeErrorOfQuery: Float32Array<ArrayBuffer>;
  readonly errorBoundOfQuery: Float32Array<ArrayBuffer>;
  readonly capturedMass: number;
  /** 95 % confidence interval of the mean. */
  readonly capturedMassInterval: readonly [low: number, high: number];
  readonly relativeError: number;
  readonly errorBound: number;
  readonly kl: number;
  readonly topKRecall: number;
  readonly operatorNormError: number;
  readonly argmaxMargin: number;
  readonly sampled: boolean;
}

/** What autoTune() looks for. One of the three. */
export type TuneTarget =
  | { readonly capturedMass: number }
  | { readonly relativeError: number }
  /** At most this share of exact attention's multiply-adds. */
  | { readonly budget: number };

export interface TuneOptions {
  readonly target: TuneTarget;
  /** Queries measured a head. Default 128. */
  readonly sample?: number;
  readonly seed?: number | bigint;
}

/** One setting that was tried. */
export interface TunePoint {
  readonly lsh: Required<Pick<LshOptions, 'rounds' | 'buckets' | 'chunk'>> & LshOptions;
  /** Multiply-adds as a share of exact attention's. */
  readonly cost: number;
  readonly capturedMass: number;
  readonly capturedMassInterval: readonly [low: number, high: number];
  readonly relativeError: number;
  readonly meetsTarget: boolean;
}

/** What autoTune() found. */
export interface TuneResult {
  readonly points: readonly TunePoint[];
  /** Indices of points that no other beats in both cost and captured mass, cheapest first. */
  readonly front: readonly number[];
  /** Index of the cheapest point that meets the target and costs less than exact attention; null: exact is the better choice. */
  readonly recommended: number | null;
  readonly verdict: 'lsh' | 'exact';
}


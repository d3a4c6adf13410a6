// The arguments and results of what needs the laboratory's module (init with laboratory: true): types only.
// The mathematics and the rules are those of cpp/include/heed.

import type { LshOptions, LshParameters, LshQuality } from './types.ts';

/** Directions of greatest variance of rows x [rows, dim], strongest first. */
export interface PrincipalComponents {
  /** [dim] */
  readonly mean: Float32Array<ArrayBuffer>;
  /** [components, dim], orthonormal rows. */
  readonly components: Float32Array<ArrayBuffer>;
  /** [components]; shares of the total variance. */
  readonly explained: Float32Array<ArrayBuffer>;
}

/** What autoTune() looks for. Exactly one of the three. */
export type TuneTarget =
  /** At least this mean captured mass, above 0, up to 1. */
  | { readonly capturedMass: number }
  /** At most this relative error of the output. */
  | { readonly relativeError: number }
  /** The greatest captured mass for at most this share of exact attention's multiply-adds. */
  | { readonly budget: number };

/** What autoTune() looks for, what it leaves as it is, and how much it measures. */
export interface TuneOptions {
  /** Default { capturedMass: 0.95 }. */
  readonly target?: TuneTarget;
  /** What is not searched. Default: seed 0, Gaussian rotation, chunk mode. */
  readonly lsh?: Pick<LshOptions, 'seed' | 'rotation' | 'sharedQueryKey' | 'trueBuckets'>;
  /** Queries measured a head, drawn without replacement; 0: all. Default 128. */
  readonly sample?: number;
  /** Of the sample, 0 <= seed < 2^64. Default 0. */
  readonly seed?: number | bigint;
}

/** One setting that was tried. */
export interface TunePoint extends LshParameters {
  /** Multiply-adds of hashing and attending over those of exact attention. */
  readonly cost: number;
  /** Over the sampled queries of all heads. */
  readonly quality: LshQuality;
  /** A captured mass or error meets its target only with the far end of its 95 % confidence interval. */
  readonly meetsTarget: boolean;
}

/** What autoTune() found; see LshTuner in cpp/include/heed/lsh_tuner.hpp. */
export interface TuneResult {
  /** "exact": no setting meets the target below exact attention's cost, so exact attention is the better choice. "none": nothing keeps to the budget. */
  readonly verdict: 'lsh' | 'exact' | 'none';
  /** The cheapest setting that meets the target, for a budget the one of greatest captured mass: ready for lshAttention(). Only with verdict "lsh". */
  readonly recommended: LshOptions | undefined;
  /** Every setting that was tried. */
  readonly points: readonly TunePoint[];
  /** Indices of the points that no other beats in both cost and captured mass, cheapest first. */
  readonly front: readonly number[];
}

// A problem and what is computed with it, as plain data: what the page and the elements share.

import type { AttentionInputs, LshCost, LshParameters, LshQuality, Rotation } from '../core/types.ts';

/** What attention is computed with; null lets the core choose. */
export interface Settings {
  readonly causal: boolean;
  readonly scale: number | null;
  readonly windowLeft: number | null;
  readonly windowRight: number | null;
  /** 0: off. */
  readonly softCap: number;
  /** Positions of keys that no query sees, ascending. */
  readonly hidden: readonly number[];
  readonly rounds: number;
  readonly buckets: number | null;
  readonly chunk: number | null;
  readonly seed: number;
  readonly rotation: Rotation;
  readonly shared: boolean;
  readonly trueBuckets: boolean;
}

export const defaultSettings: Settings = {
  causal: false, scale: null, windowLeft: null, windowRight: null, softCap: 0, hidden: [],
  rounds: 4, buckets: null, chunk: null, seed: 0, rotation: 'gaussian', shared: false, trueBuckets: false,
};

/** Loaded data: what attention runs over. */
export interface Problem {
  readonly id: number;
  readonly title: string;
  readonly description: string;
  readonly inputs: AttentionInputs;
  readonly shape: { readonly batch: number; readonly heads: number; readonly kvHeads: number; readonly queryLen: number; readonly keyLen: number; readonly headDim: number; readonly valueDim: number };
  readonly queryTokens: readonly string[];
  readonly keyTokens: readonly string[];
}

/** reason: why it cannot be read. */
export interface TensorEntry { readonly name: string; readonly dtype: string; readonly shape: readonly number[]; readonly reason?: string }

/** One finished computation. */
export interface Results {
  readonly problem: Problem;
  readonly settings: Settings;
  readonly parameters: LshParameters;
  readonly cost: LshCost;
  readonly quality: LshQuality;
  /** Kernel times. */
  readonly exactMs: number;
  readonly lshMs: number;
  /** Change exactly when the weights do. */
  readonly exactVersion: string;
  readonly lshVersion: string;
}

/** What belongs to the head in view. */
export interface HeadResults {
  readonly head: number;
  readonly batch: number;
  readonly lshVersion: string;
  /** Entries of largest magnitude in the whole map. */
  readonly largest: { readonly weight: number; readonly difference: number };
}

export type Progress = { readonly step: 'loading' | 'exact' | 'lsh' | 'measuring'; readonly fraction: number };

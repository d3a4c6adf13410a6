// Settings of the page as arguments of the core. Values are passed on as they are: the core says
// what is wrong with them; only positions are checked here, because a mask has no names for them.

import { HeedError } from '../core/errors.ts';
import type { AttentionOptions, LshOptions } from '../core/types.ts';
import type { Problem, Settings } from './problem.ts';

type Shape = Problem['shape'];

function keyMask(hidden: readonly number[], { batch, keyLen }: Shape): Uint8Array {
  const mask = new Uint8Array(batch * keyLen).fill(1);
  for (const position of hidden) {
    if (position >= keyLen) {
      throw new HeedError({ code: 'invalid-value', field: 'hidden', received: String(position), expected: `positions below ${keyLen}` });
    }
    for (let b = 0; b < batch; b++) mask[b * keyLen + position] = 0;
  }
  return mask;
}

export function attentionOptions(settings: Settings, shape: Shape): AttentionOptions {
  return {
    causal: settings.causal,
    softCap: settings.softCap,
    ...(settings.scale !== null && { scale: settings.scale }),
    ...(settings.windowLeft !== null && { windowLeft: settings.windowLeft }),
    ...(settings.windowRight !== null && { windowRight: settings.windowRight }),
    ...(settings.hidden.length > 0 && { keyMask: keyMask(settings.hidden, shape) }),
  };
}

export function lshOptions(settings: Settings): LshOptions {
  return {
    rounds: settings.rounds,
    seed: settings.seed,
    rotation: settings.rotation,
    sharedQueryKey: settings.shared,
    trueBuckets: settings.trueBuckets,
    ...(settings.buckets !== null && { buckets: settings.buckets }),
    ...(settings.chunk !== null && { chunk: settings.chunk }),
  };
}

/** Changes exactly when exact attention has to be computed again. */
export function exactKey(problem: Problem, settings: Settings): string {
  const { causal, scale, windowLeft, windowRight, softCap, hidden, shared } = settings;
  return JSON.stringify([problem.id, causal, scale, windowLeft, windowRight, softCap, hidden, shared]);
}

export function lshKey(problem: Problem, settings: Settings): string {
  return JSON.stringify([problem.id, settings]);
}

/** From here on measuring every query would take many seconds. */
const manyPairs = 4.5e8;
const sampledQueries = 512;

/** Queries a head that quality is measured on; 0: all. */
export function qualitySample({ batch, heads, queryLen, keyLen }: Shape): number {
  return batch * heads * queryLen * keyLen > manyPairs ? Math.min(sampledQueries, queryLen) : 0;
}

/** Whether a map is too large to be looked at whole at the start. */
export function isVast({ queryLen, keyLen }: Shape): boolean {
  return queryLen * keyLen > manyPairs;
}

/** Queries that the colour scale of a vast map is taken from. */
export const scaleRows = 32;

/** What is shown first of a vast map: its corner. */
export const vastCorner = 2048;

export function defaultScale({ headDim }: Shape): number {
  return 1 / Math.sqrt(headDim);
}

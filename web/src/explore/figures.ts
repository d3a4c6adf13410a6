// The figures of a computation: how much LSH attention kept, what it cost, how long both took.

import { formatCount, formatMilliseconds, formatNumber, formatShare } from '../model/format.ts';
import type { Results } from './problem.ts';

export interface Figure {
  readonly id: string;
  readonly label: string;
  readonly value: string;
  readonly note: string;
  /** The value as a share of the most it can be, and its proven bound. */
  readonly bar?: { readonly value: number; readonly most: number; readonly bound?: number };
}

export function figuresOf({ quality, cost, parameters, exactMs, lshMs }: Results): readonly Figure[] {
  const share = cost.exactPairs === 0 ? 0 : cost.candidatePairs / cost.exactPairs;
  const slowest = Math.max(exactMs, lshMs);
  const spread = quality.sampled ? `± ${formatShare(quality.capturedMassStderr)} (standard error)` : 'over all queries and heads';
  return [
    { id: 'mass', label: 'Captured mass', value: formatShare(quality.capturedMass), note: `least ${formatShare(quality.capturedMassMin)}; ${spread}`, bar: { value: quality.capturedMass, most: 1 } },
    { id: 'error', label: 'Relative error', value: formatShare(quality.relativeError), note: `proven to be at most ${formatShare(quality.errorBound)}`, bar: { value: quality.relativeError, most: 1, bound: quality.errorBound } },
    { id: 'kl', label: 'KL divergence', value: `${formatNumber(quality.kl)} nats`, note: 'of LSH from exact, mean over queries' },
    { id: 'pairs', label: 'Pairs computed', value: formatShare(share), note: `${formatCount(cost.candidatePairs)} of ${formatCount(cost.exactPairs)}`, bar: { value: share, most: 1 } },
    { id: 'exact-time', label: 'Exact took', value: formatMilliseconds(exactMs), note: 'in the kernels', bar: { value: exactMs, most: slowest } },
    {
      id: 'lsh-time', label: 'LSH took', value: formatMilliseconds(lshMs),
      note: `${exactMs > 0 && lshMs > 0 ? `${formatNumber(Number((exactMs / lshMs).toPrecision(2)))} × the speed of exact; ` : ''}${parameters.rounds} ${parameters.rounds === 1 ? 'round' : 'rounds'}, ${parameters.buckets} buckets, chunks of ${parameters.chunk}`,
      bar: { value: lshMs, most: slowest },
    },
  ];
}

export const pendingFigures: readonly Figure[] = [
  ['mass', 'Captured mass'], ['error', 'Relative error'], ['kl', 'KL divergence'], ['pairs', 'Pairs computed'], ['exact-time', 'Exact took'], ['lsh-time', 'LSH took'],
].map(([id, label]) => ({ id: id!, label: label!, value: '…', note: '\u00a0' }));

// Colour scales of the three maps: one for both attentions, a symmetric one for their difference.

import type { ColorScale, Transform } from '../model/color-scale.ts';
import type { HeadResults } from './problem.ts';

/** Logarithmic colours begin at a tenth of what uniform attention gives, but span two to four decades. */
function logLow(most: number, keyLen: number): number {
  return Math.max(most / 1e4, Math.min(most / 1e2, 0.1 / keyLen));
}

/** A map whose differences are all smaller than this share of the largest weight shows rounding, not hashing: it stays pale. */
const leastDifference = 1e-3;

export interface Scales { readonly weight: ColorScale; readonly difference: ColorScale }

/** An all-zero map still needs a domain of some width. */
const orOne = (value: number) => (value > 0 ? value : 1);

export function scalesOf({ largest }: HeadResults, keyLen: number, transform: Transform): Scales {
  const most = orOne(largest.weight);
  const difference = Math.max(largest.difference, most * leastDifference);
  return {
    weight: { kind: 'sequential', transform, domain: [transform === 'log' ? logLow(most, keyLen) : 0, most] },
    difference: { kind: 'diverging', transform, domain: [-difference, difference] },
  };
}

/** What one cell of a picture shows, exactly. */
export function cellCaption(level: { readonly rowsPerCell: number; readonly columnsPerCell: number }, reduction: 'peak' | 'mean', kind: 'weight' | 'difference'): string {
  const { rowsPerCell, columnsPerCell } = level;
  const noun = kind === 'weight' ? 'weight' : 'difference';
  if (rowsPerCell === 1 && columnsPerCell === 1) return `Each cell: one ${noun}`;
  const statistic = reduction === 'mean' ? 'mean' : kind === 'weight' ? 'maximum' : 'largest';
  return `Each cell: ${statistic} of ${rowsPerCell} × ${columnsPerCell} ${noun}s`;
}

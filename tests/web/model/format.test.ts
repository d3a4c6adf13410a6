import { describe, expect, it } from 'vitest';
import { formatMilliseconds, formatNumber, formatShare, formatWeight } from '../../../web/src/model/format.ts';
import { cellCaption, scalesOf } from '../../../web/src/explore/scales.ts';

describe('numbers on the page', () => {
  it.each([[0, '0 %'], [1, '100 %'], [0.5, '50.0 %'], [0.99999999, '> 99.999 %'], [0.99995, '99.995 %'], [1e-9, '< 0.001 %'], [0.0005, '0.050 %'], [2.043, '204.3 %'], [Number.POSITIVE_INFINITY, '∞']])(
    'writes the share %s as %s', (value, text) => expect(formatShare(value)).toBe(text));

  it.each([[0, '0'], [1234.567, '1,235'], [-0.25, '−0.25'], [3e-8, '3.000e−8'], [-3e-8, '−3.000e−8'], [Number.NEGATIVE_INFINITY, '−∞']])(
    'writes the number %s as %s', (value, text) => expect(formatNumber(value)).toBe(text));

  it('writes weights with the digits of a float32', () => {
    expect(formatWeight(0)).toBe('0');
    expect(formatWeight(0.123456789)).toBe('0.1234568');
    expect(formatWeight(1.5e-7)).toBe('1.50000e−7');
  });

  it('writes times in the unit that suits', () => {
    expect([0.1234, 12.34, 1234].map(formatMilliseconds)).toEqual(['0.12 ms', '12.3 ms', '1.23 s']);
  });
});

describe('colour scales', () => {
  const head = { head: 0, batch: 0, lshVersion: '', largest: { weight: 0.5, difference: 0.2 } };

  it('share one domain between exact and LSH and are symmetric for the difference', () => {
    expect(scalesOf(head, 100, 'linear')).toEqual({
      weight: { kind: 'sequential', transform: 'linear', domain: [0, 0.5] },
      difference: { kind: 'diverging', transform: 'linear', domain: [-0.2, 0.2] },
    });
  });

  it('begin logarithmic colours below uniform attention, at two to four decades', () => {
    const low = (keyLen: number) => scalesOf(head, keyLen, 'log').weight.domain[0];
    expect(low(2)).toBe(0.5 / 1e2);
    expect(low(1000)).toBe(1e-4);
    expect(low(1_000_000)).toBe(0.5 / 1e4);
  });

  it('are of some width also when every weight is zero', () => {
    const { weight, difference } = scalesOf({ ...head, largest: { weight: 0, difference: 0 } }, 5, 'log');
    expect(weight.domain[1]).toBeGreaterThan(weight.domain[0]);
    expect(difference.domain[1]).toBeGreaterThan(0);
    expect(difference.domain[0]).toBe(-difference.domain[1]);
  });

  it('are captioned with what a cell shows', () => {
    expect(cellCaption({ rowsPerCell: 1, columnsPerCell: 1 }, 'mean', 'weight')).toBe('Each cell: one weight');
    expect(cellCaption({ rowsPerCell: 16, columnsPerCell: 16 }, 'peak', 'weight')).toBe('Each cell: maximum of 16 × 16 weights');
    expect(cellCaption({ rowsPerCell: 4, columnsPerCell: 2 }, 'peak', 'difference')).toBe('Each cell: largest of 4 × 2 differences');
    expect(cellCaption({ rowsPerCell: 4, columnsPerCell: 2 }, 'mean', 'difference')).toBe('Each cell: mean of 4 × 2 differences');
  });
});

import fc from 'fast-check';
import { expect, test } from 'vitest';
import { clampView, panView, revealCell, sameView, wholeView, zoomView } from '../../../web/src/model/view.ts';

const range = fc.tuple(fc.double({ min: -500, max: 500, noNaN: true }), fc.double({ min: 0, max: 500, noNaN: true })).map(([begin, span]) => [begin, begin + span] as const);
const view = fc.record({ rows: range, columns: range });

test('a clamped view lies within the map and shows at least four entries of an axis that has them', () => {
  fc.assert(fc.property(view, fc.integer({ min: 1, max: 300 }), fc.integer({ min: 1, max: 300 }), (wanted, rows, columns) => {
    const { rows: [top, bottom], columns: [left, right] } = clampView(wanted, rows, columns);
    expect(top).toBeGreaterThanOrEqual(0);
    expect(bottom).toBeLessThanOrEqual(rows + 1e-9);
    expect(bottom - top).toBeGreaterThanOrEqual(Math.min(4, rows) - 1e-9);
    expect(left).toBeGreaterThanOrEqual(0);
    expect(right).toBeLessThanOrEqual(columns + 1e-9);
    expect(right - left).toBeGreaterThanOrEqual(Math.min(4, columns) - 1e-9);
  }));
});

test('zooming keeps the point under the pointer where it is, and zooming back undoes it', () => {
  const before = wholeView(100, 200);
  const closer = zoomView(before, 4, { row: 25, column: 50 });
  expect((25 - closer.rows[0]) / (closer.rows[1] - closer.rows[0])).toBeCloseTo(0.25);
  expect(closer.columns[1] - closer.columns[0]).toBeCloseTo(50);
  expect(sameView(zoomView(closer, 0.25, { row: 25, column: 50 }), before)).toBe(true);
});

test('revealing a cell moves no more than needed', () => {
  const at = { rows: [10, 20], columns: [10, 20] } as const;
  expect(sameView(revealCell(at, { row: 15, column: 12 }), at)).toBe(true);
  expect(revealCell(at, { row: 22, column: 9 })).toEqual({ rows: [13, 23], columns: [9, 19] });
  expect(panView(at, 1, -2)).toEqual({ rows: [11, 21], columns: [8, 18] });
});

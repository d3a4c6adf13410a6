import fc from 'fast-check';
import { expect, test } from 'vitest';
import { entryAt, layoutOf, moveByKey, rectangleOf, touchActionFor } from '../../../web/src/marks/heat-map-layout.ts';

test('the middle of the rectangle of an entry lies on that entry', () => {
  const layout = layoutOf(400, 300);
  const start = fc.double({ min: 0, max: 90, noNaN: true });
  const span = fc.double({ min: 4, max: 200, noNaN: true });
  fc.assert(fc.property(start, start, span, span, fc.double({ min: 0.01, max: 0.99, noNaN: true }), fc.double({ min: 0.01, max: 0.99, noNaN: true }), (top, left, tall, wide, u, v) => {
    const view = { rows: [top, top + tall], columns: [left, left + wide] } as const;
    const [row, column] = [Math.floor(top + u * tall), Math.floor(left + v * wide)];
    fc.pre(row + 0.5 > top && row + 0.5 < top + tall && column + 0.5 > left && column + 0.5 < left + wide);
    const { x, y, width, height } = rectangleOf(layout, view, [row, row + 1], [column, column + 1]);
    expect(entryAt(layout, view, layout.left + x + width / 2, layout.top + y + height / 2)).toEqual({ row, column });
  }));
});

test('no entry lies under the labels or beyond the cells', () => {
  const layout = layoutOf(400, 300);
  const view = { rows: [0, 10], columns: [0, 10] } as const;
  expect(entryAt(layout, view, layout.left - 1, 100)).toBeNull();
  expect(entryAt(layout, view, 100, layout.top - 1)).toBeNull();
  expect(entryAt(layout, view, layout.left + layout.cellsWidth, 100)).toBeNull();
  expect(entryAt(layout, view, layout.left, layout.top)).toEqual({ row: 0, column: 0 });
});

test.each([
  ['the whole map', [0, 100], [0, 100], 'pan-x pan-y'],
  ['the middle of a map', [20, 60], [20, 60], 'none'],
  ['the top', [0, 40], [20, 60], 'pan-up'],
  ['the bottom', [60, 100], [20, 60], 'pan-down'],
  ['all rows of some columns', [0, 100], [20, 60], 'pan-y'],
  ['some rows of all columns', [20, 60], [0, 100], 'pan-x'],
] as const)('a finger on %s leaves the page what the map cannot use', (_what, rows, columns, action) => {
  expect(touchActionFor({ rows, columns }, 100, 100)).toBe(action);
});

test('keys move within the map, by ten with Shift, and to the ends of row and column', () => {
  const from = { row: 5, column: 3 };
  expect(moveByKey('ArrowDown', false, from, 10, 10)).toEqual({ row: 6, column: 3 });
  expect(moveByKey('ArrowRight', true, from, 10, 10)).toEqual({ row: 5, column: 9 });
  expect(moveByKey('ArrowLeft', true, from, 10, 10)).toEqual({ row: 5, column: 0 });
  expect(moveByKey('ArrowUp', false, { row: 0, column: 0 }, 10, 10)).toEqual({ row: 0, column: 0 });
  expect(moveByKey('Home', false, from, 10, 20)).toEqual({ row: 5, column: 0 });
  expect(moveByKey('End', false, from, 10, 20)).toEqual({ row: 5, column: 19 });
  expect(moveByKey('PageUp', false, from, 10, 20)).toEqual({ row: 0, column: 3 });
  expect(moveByKey('PageDown', false, from, 10, 20)).toEqual({ row: 9, column: 3 });
  expect(moveByKey('x', false, from, 10, 10)).toBeUndefined();
});

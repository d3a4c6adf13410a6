// @vitest-environment happy-dom
import { beforeEach, expect, test } from 'vitest';
import { listenToInput } from '../../../web/src/marks/heat-map-input.ts';
import { layoutOf } from '../../../web/src/marks/heat-map-layout.ts';
import { clampView, wholeView } from '../../../web/src/model/view.ts';
import type { CellIndex, View } from '../../../web/src/model/view.ts';

const [rows, columns] = [100, 200];
const layout = layoutOf(360, 360);
let surface: HTMLElement;
let view: View;
let hover: CellIndex | null;
let selected: CellIndex[];

beforeEach(() => {
  surface = document.createElement('div');
  surface.tabIndex = 0;
  // This environment has no pointers to capture.
  surface.setPointerCapture = () => undefined;
  document.body.replaceChildren(surface);
  view = wholeView(rows, columns);
  hover = null;
  selected = [];
  listenToInput({
    surface, layout: () => layout, view: () => view, size: () => ({ rows, columns }), hover: () => hover,
    setView: (wanted) => { view = clampView(wanted, rows, columns); },
    setHover: (cell) => { hover = cell; },
    select: (cell) => selected.push(cell),
  });
});

/** A pixel of the cells, as a share of their width and height. */
const at = (u: number, v: number) => ({ clientX: layout.left + u * layout.cellsWidth, clientY: layout.top + v * layout.cellsHeight });
const send = (event: Event) => !surface.dispatchEvent(event);
const pointer = (type: string, u: number, v: number, pointerId = 1) => send(new PointerEvent(type, { ...at(u, v), pointerId, bubbles: true, cancelable: true }));
// This environment's WheelEvent knows no position.
const wheel = (deltaY: number, more: MouseEventInit = {}) => send(Object.assign(new MouseEvent('wheel', { ...at(0.25, 0.5), cancelable: true, ...more }), { deltaY, deltaMode: 0 }));
const press = (key: string, more: KeyboardEventInit = {}) => send(new KeyboardEvent('keydown', { key, cancelable: true, ...more }));

test('the wheel scrolls the page past a map without focus', () => {
  expect(wheel(-200)).toBe(false);
  expect(view).toEqual(wholeView(rows, columns));
});

test('the wheel with Ctrl zooms about the entry under the pointer', () => {
  expect(wheel(-200, { ctrlKey: true })).toBe(true);
  expect(view.rows).toEqual([25, 75]);
  expect(view.columns).toEqual([25, 125]);
});

test('the wheel zooms a map with focus, and scrolls the page when there is nothing further out', () => {
  surface.focus();
  expect(wheel(200)).toBe(false);
  expect(wheel(-200)).toBe(true);
  expect(view.rows).toEqual([25, 75]);
  expect(wheel(200)).toBe(true);
  expect(view).toEqual(wholeView(rows, columns));
});

test('a drag pans a zoomed map and selects nothing', () => {
  view = { rows: [20, 60], columns: [40, 80] };
  pointer('pointerdown', 0.5, 0.5);
  pointer('pointermove', 0.25, 0.75);
  pointer('pointerup', 0.25, 0.75);
  expect(view.rows[0]).toBeCloseTo(10);
  expect(view.columns[0]).toBeCloseTo(50);
  expect(selected).toEqual([]);
});

test('a drag leaves a map that is seen whole as it is', () => {
  pointer('pointerdown', 0.5, 0.5);
  pointer('pointermove', 0.1, 0.1);
  expect(view).toEqual(wholeView(rows, columns));
});

test('a click selects the entry under it', () => {
  pointer('pointerdown', 0.501, 0.501);
  pointer('pointerup', 0.501, 0.501);
  expect(selected).toEqual([{ row: 50, column: 100 }]);
  expect(hover).toEqual({ row: 50, column: 100 });
});

test('two fingers that part zoom about their middle', () => {
  pointer('pointerdown', 0.4, 0.5, 1);
  pointer('pointerdown', 0.6, 0.5, 2);
  pointer('pointermove', 0.3, 0.5, 1);
  pointer('pointermove', 0.7, 0.5, 2);
  expect(view.columns[1] - view.columns[0]).toBeCloseTo(100);
  const middle = (view.columns[0] + view.columns[1]) / 2;
  expect(Math.abs(middle - 100)).toBeLessThan(10);
  pointer('pointerup', 0.3, 0.5, 1);
  pointer('pointerup', 0.7, 0.5, 2);
  expect(selected).toEqual([]);
});

test('the pointer names the entry it is on until it leaves', () => {
  pointer('pointermove', 0.001, 0.001);
  expect(hover).toEqual({ row: 0, column: 0 });
  send(new PointerEvent('pointerleave', { pointerId: 1 }));
  expect(hover).toBeNull();
});

test('the first arrow key shows the entry in the middle, the next ones move it', () => {
  expect(press('ArrowRight')).toBe(true);
  expect(hover).toEqual({ row: 50, column: 100 });
  press('ArrowRight');
  expect(hover).toEqual({ row: 50, column: 101 });
});

test('the view follows an entry that leaves it', () => {
  view = { rows: [0, 10], columns: [0, 10] };
  hover = { row: 9, column: 0 };
  press('ArrowDown');
  expect(hover).toEqual({ row: 10, column: 0 });
  expect(view.rows).toEqual([1, 11]);
});

test('plus and minus zoom about the entry, 0 shows all', () => {
  hover = { row: 9, column: 19 };
  press('+');
  const { rows: [top, bottom] } = view;
  expect(bottom - top).toBeCloseTo(50);
  expect((9.5 - top) / (bottom - top)).toBeCloseTo(0.095);
  press('-');
  expect(view.rows[1] - view.rows[0]).toBeCloseTo(100);
  press('+');
  press('0');
  expect(view).toEqual(wholeView(rows, columns));
});

test('Enter selects, Escape clears, and keys of the browser stay its own', () => {
  hover = { row: 1, column: 2 };
  expect(press('Enter')).toBe(true);
  expect(selected).toEqual([{ row: 1, column: 2 }]);
  expect(press('Escape')).toBe(true);
  expect(hover).toBeNull();
  expect(press('+', { ctrlKey: true })).toBe(false);
  expect(press('Tab')).toBe(false);
  expect(view).toEqual(wholeView(rows, columns));
});

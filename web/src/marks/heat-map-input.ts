// Pointer, wheel and keyboard of a heat map, as changes of its view, hover and selection.
//
// The wheel zooms only with Ctrl (as pinching a touchpad does) or while the map has the focus, so that
// it never traps a page that scrolls by. What one finger does: touchActionFor(). Two fingers zoom.
// Views jump and never glide, which also is what prefers-reduced-motion asks for.

import { panView, revealCell, sameView, wholeView, zoomView } from '../model/view.ts';
import type { CellIndex, View } from '../model/view.ts';
import { entryAt, moveByKey, pointAt } from './heat-map-layout.ts';
import type { Layout } from './heat-map-layout.ts';

export interface InputTarget {
  readonly surface: HTMLElement;
  layout(): Layout;
  view(): View;
  size(): { readonly rows: number; readonly columns: number };
  hover(): CellIndex | null;
  setView(view: View): void;
  setHover(cell: CellIndex | null): void;
  select(cell: CellIndex): void;
}

/** A press that moves less than this is a click. */
const CLICK_PIXELS = 4;

export function listenToInput(target: InputTarget): () => void {
  const { surface } = target;
  const stop = new AbortController();
  const on = <K extends keyof HTMLElementEventMap>(type: K, listener: (event: HTMLElementEventMap[K]) => void, options: AddEventListenerOptions = {}) =>
    surface.addEventListener(type, listener as EventListener, { ...options, signal: stop.signal });
  const pointers = new Map<number, { x: number; y: number }>();
  let travelled = 0;

  const pixel = (event: { clientX: number; clientY: number }) => {
    const box = surface.getBoundingClientRect();
    return { x: event.clientX - box.left, y: event.clientY - box.top };
  };
  const zoom = (factor: number, x: number, y: number) => target.setView(zoomView(target.view(), factor, pointAt(target.layout(), target.view(), x, y)));
  const isWhole = () => sameView(target.view(), wholeView(target.size().rows, target.size().columns));

  on('wheel', (event) => {
    const pinch = event.ctrlKey || event.metaKey;
    if (!pinch && surface.ownerDocument.activeElement !== surface) return;
    // There is nothing further out: the page may scroll.
    if (!pinch && event.deltaY > 0 && isWhole()) return;
    event.preventDefault();
    const { x, y } = pixel(event);
    zoom(2 ** (-event.deltaY / (event.deltaMode === 0 ? 200 : 6)), x, y);
  }, { passive: false });

  on('pointerdown', (event) => {
    pointers.set(event.pointerId, pixel(event));
    travelled = 0;
  });
  on('pointermove', (event) => {
    const now = pixel(event);
    const before = pointers.get(event.pointerId);
    if (before === undefined) {
      target.setHover(entryAt(target.layout(), target.view(), now.x, now.y));
      return;
    }
    const [moveX, moveY] = [now.x - before.x, now.y - before.y];
    travelled += Math.hypot(moveX, moveY);
    const { cellsWidth, cellsHeight } = target.layout();
    const view = target.view();
    const other = [...pointers].find(([id]) => id !== event.pointerId)?.[1];
    pointers.set(event.pointerId, now);
    if (other !== undefined) {
      const ratio = Math.hypot(now.x - other.x, now.y - other.y) / Math.max(1, Math.hypot(before.x - other.x, before.y - other.y));
      zoom(ratio, (now.x + other.x) / 2, (now.y + other.y) / 2);
    } else if (travelled > CLICK_PIXELS && !isWhole()) {
      // Only a press that has become a drag keeps the pointer, so that clicks stay clicks.
      surface.setPointerCapture(event.pointerId);
      target.setView(panView(view, (-moveY / cellsHeight) * (view.rows[1] - view.rows[0]), (-moveX / cellsWidth) * (view.columns[1] - view.columns[0])));
    }
  });
  const lift = (event: PointerEvent) => pointers.delete(event.pointerId);
  on('pointerup', (event) => {
    const { x, y } = pixel(event);
    const cell = entryAt(target.layout(), target.view(), x, y);
    if (pointers.delete(event.pointerId) && pointers.size === 0 && travelled <= CLICK_PIXELS && cell !== null) {
      target.setHover(cell);
      target.select(cell);
    }
  });
  on('pointercancel', lift);
  on('pointerleave', (event) => {
    lift(event);
    if (surface.ownerDocument.activeElement !== surface) target.setHover(null);
  });
  on('dblclick', (event) => zoom(event.shiftKey ? 0.5 : 2, pixel(event).x, pixel(event).y));

  on('keydown', (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const { rows, columns } = target.size();
    const view = target.view();
    const middle = { row: Math.floor((view.rows[0] + view.rows[1]) / 2), column: Math.floor((view.columns[0] + view.columns[1]) / 2) };
    const at = target.hover() ?? middle;
    const centre = { row: at.row + 0.5, column: at.column + 0.5 };
    const moved = moveByKey(event.key, event.shiftKey, at, rows, columns);
    if (moved !== undefined) {
      target.setHover(target.hover() === null && event.key.startsWith('Arrow') ? at : moved);
      target.setView(revealCell(view, target.hover() ?? at));
    } else if (event.key === '+' || event.key === '=') target.setView(zoomView(view, 2, centre));
    else if (event.key === '-') target.setView(zoomView(view, 0.5, centre));
    else if (event.key === '0') target.setView(wholeView(rows, columns));
    else if (event.key === 'Enter' || event.key === ' ') target.select(at);
    else if (event.key === 'Escape') target.setHover(null);
    else return;
    event.preventDefault();
  });

  return () => stop.abort();
}

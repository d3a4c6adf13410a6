// Where the parts of a heat map lie, the way between pixels and entries, and what keys and fingers do.

import type { CellIndex, View } from '../model/view.ts';

export interface Layout {
  readonly width: number;
  readonly height: number;
  /** Of the cells, within the whole. */
  readonly left: number;
  readonly top: number;
  readonly cellsWidth: number;
  readonly cellsHeight: number;
  /** Pixels a label may be long. */
  readonly labelPixels: number;
}

/** Of a tick, and of the gaps on its sides. */
const TICK_PIXELS = 9;

/** Room for labels of about 8 characters; less where the map is small. */
export function layoutOf(width: number, height: number): Layout {
  const margin = width < 260 ? 40 : 58;
  return { width, height, left: margin, top: margin, labelPixels: margin - TICK_PIXELS, cellsWidth: Math.max(1, width - margin - 2), cellsHeight: Math.max(1, height - margin - 2) };
}

/** The point of the map under a pixel, fractional. */
export function pointAt({ left, top, cellsWidth, cellsHeight }: Layout, view: View, x: number, y: number): CellIndex {
  return {
    row: view.rows[0] + ((y - top) / cellsHeight) * (view.rows[1] - view.rows[0]),
    column: view.columns[0] + ((x - left) / cellsWidth) * (view.columns[1] - view.columns[0]),
  };
}

/** The entry under a pixel, or null outside the cells. */
export function entryAt(layout: Layout, view: View, x: number, y: number): CellIndex | null {
  const { left, top, cellsWidth, cellsHeight } = layout;
  if (x < left || y < top || x >= left + cellsWidth || y >= top + cellsHeight) return null;
  const { row, column } = pointAt(layout, view, x, y);
  return { row: Math.floor(row), column: Math.floor(column) };
}

/** Pixels of a rectangle of entries, relative to the cells' corner. */
export function rectangleOf(layout: Layout, view: View, rows: readonly [number, number], columns: readonly [number, number]) {
  const x = (column: number) => ((column - view.columns[0]) / (view.columns[1] - view.columns[0])) * layout.cellsWidth;
  const y = (row: number) => ((row - view.rows[0]) / (view.rows[1] - view.rows[0])) * layout.cellsHeight;
  return { x: x(columns[0]), y: y(rows[0]), width: x(columns[1]) - x(columns[0]), height: y(rows[1]) - y(rows[0]) };
}

/** What a key does to the hovered entry; undefined when the key means nothing here. */
export function moveByKey(key: string, large: boolean, from: CellIndex, rows: number, columns: number): CellIndex | undefined {
  const by = large ? 10 : 1;
  const moved = {
    ArrowUp: { row: from.row - by, column: from.column },
    ArrowDown: { row: from.row + by, column: from.column },
    ArrowLeft: { row: from.row, column: from.column - by },
    ArrowRight: { row: from.row, column: from.column + by },
    Home: { row: from.row, column: 0 },
    End: { row: from.row, column: columns - 1 },
    PageUp: { row: 0, column: from.column },
    PageDown: { row: rows - 1, column: from.column },
  }[key];
  return moved && { row: Math.min(rows - 1, Math.max(0, moved.row)), column: Math.min(columns - 1, Math.max(0, moved.column)) };
}

/**
 * What the browser may do with one finger on the map (CSS touch-action). It scrolls the page along an
 * axis that is seen whole, and up or down where the map's own edge is reached, so that a finger never
 * gets stuck on a map that fills a phone; elsewhere the finger pans. Two fingers always zoom the map.
 */
export function touchActionFor(view: View, rows: number, columns: number): string {
  const [top, bottom] = [view.rows[0] <= 0, view.rows[1] >= rows];
  const sideways = view.columns[0] <= 0 && view.columns[1] >= columns ? ['pan-x'] : [];
  const upright = top && bottom ? ['pan-y'] : top ? ['pan-up'] : bottom ? ['pan-down'] : [];
  return [...sideways, ...upright].join(' ') || 'none';
}

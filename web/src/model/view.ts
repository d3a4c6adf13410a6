// Which part of a map is looked at, and how looking moves. No DOM.

/** Half-open ranges of rows and columns; fractional while zooming. */
export interface View {
  readonly rows: readonly [begin: number, end: number];
  readonly columns: readonly [begin: number, end: number];
}

export interface CellIndex {
  readonly row: number;
  readonly column: number;
}

/** The fewest entries an axis shows. */
const LEAST_SPAN = 4;

export function wholeView(rows: number, columns: number): View {
  return { rows: [0, rows], columns: [0, columns] };
}

function clampRange([begin, end]: readonly [number, number], size: number): readonly [number, number] {
  const span = Math.min(size, Math.max(Math.min(LEAST_SPAN, size), end - begin));
  const first = Math.min(Math.max(0, begin), size - span);
  return [first, first + span];
}

export function clampView(view: View, rows: number, columns: number): View {
  return { rows: clampRange(view.rows, rows), columns: clampRange(view.columns, columns) };
}

function zoomRange([begin, end]: readonly [number, number], factor: number, at: number): readonly [number, number] {
  return [at - (at - begin) / factor, at + (end - at) / factor];
}

/** factor > 1 looks closer; the point (row, column) stays where it is. */
export function zoomView(view: View, factor: number, at: CellIndex): View {
  return { rows: zoomRange(view.rows, factor, at.row), columns: zoomRange(view.columns, factor, at.column) };
}

export function panView(view: View, rows: number, columns: number): View {
  const shift = ([begin, end]: readonly [number, number], by: number) => [begin + by, end + by] as const;
  return { rows: shift(view.rows, rows), columns: shift(view.columns, columns) };
}

/** Moves the view as little as needed to show the cell. */
export function revealCell(view: View, { row, column }: CellIndex): View {
  const by = ([begin, end]: readonly [number, number], at: number) => (at < begin ? at - begin : at + 1 > end ? at + 1 - end : 0);
  return panView(view, by(view.rows, row), by(view.columns, column));
}

export function sameView(a: View, b: View): boolean {
  return a.rows[0] === b.rows[0] && a.rows[1] === b.rows[1] && a.columns[0] === b.columns[0] && a.columns[1] === b.columns[1];
}

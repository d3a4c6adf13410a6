// A heat map as a file: SVG with vector axes, PNG drawn from that SVG, CSV of the visible cells.

import type { Tile, TileRequest } from '../core/types.ts';
import type { ColorScale, Rgb, Theme } from '../model/color-scale.ts';
import { toCsv } from '../model/csv.ts';
import type { Reduction } from '../model/tile-pyramid.ts';
import type { View } from '../model/view.ts';
import { drawColorBar } from './color-bar.ts';
import { rectangleOf } from './heat-map-layout.ts';
import type { Layout } from './heat-map-layout.ts';
import { FONT, svgElement } from './svg.ts';

/** Half-open ranges of the entries a cell covers, and its two reductions. */
export interface ShownCell {
  readonly rows: readonly [begin: number, end: number];
  readonly columns: readonly [begin: number, end: number];
  readonly peak: number;
  readonly mean: number;
}

/** The cells of a tile that a view touches, row by row. */
export function cellsIn(tile: Tile, { rows, columns, rowsPerCell, columnsPerCell }: Pick<Required<TileRequest>, 'rows' | 'columns' | 'rowsPerCell' | 'columnsPerCell'>, view: View): ShownCell[] {
  const cells: ShownCell[] = [];
  for (let r = 0; r < tile.cellRows; r++) {
    const row = rows[0] + r * rowsPerCell;
    if (row + rowsPerCell <= view.rows[0] || row >= view.rows[1]) continue;
    for (let c = 0; c < tile.cellColumns; c++) {
      const column = columns[0] + c * columnsPerCell;
      if (column + columnsPerCell <= view.columns[0] || column >= view.columns[1]) continue;
      const at = r * tile.cellColumns + c;
      cells.push({
        rows: [row, Math.min(rows[1], row + rowsPerCell)],
        columns: [column, Math.min(columns[1], column + columnsPerCell)],
        peak: tile.peak[at]!,
        mean: tile.mean[at]!,
      });
    }
  }
  return cells;
}

export interface SvgParts {
  readonly label: string;
  readonly scale: ColorScale;
  readonly theme: Theme;
  readonly reduction: Reduction;
  readonly layout: Layout;
  readonly view: View;
  readonly level: { readonly rowsPerCell: number; readonly columnsPerCell: number };
  readonly cells: readonly ShownCell[];
  readonly color: (value: number) => Rgb;
  /** The cells as drawn. */
  readonly canvas: HTMLCanvasElement;
  readonly axes: readonly SVGGElement[];
  readonly marks: readonly SVGElement[];
  readonly ink: string;
  readonly paper: string;
}

/** Up to this many cells are vectors (150 KB); more are an image. */
const MOST_RECTANGLES = 2500;
/** Heights of the title above the map and of the colour bar below. */
const HEADER = 24;
const FOOTER = 52;

function drawnCells(document: Document, { layout, view, cells, color, canvas, reduction }: SvgParts): SVGElement {
  const { left, top, cellsWidth, cellsHeight } = layout;
  if (cells.length > MOST_RECTANGLES) {
    return svgElement(document, 'image', { x: left, y: top, width: cellsWidth, height: cellsHeight, href: canvas.toDataURL('image/png'), style: 'image-rendering:pixelated' });
  }
  // An inner svg cuts what the view cuts.
  const frame = svgElement(document, 'svg', { x: left, y: top, width: cellsWidth, height: cellsHeight, 'shape-rendering': 'crispEdges' });
  for (const cell of cells) frame.append(svgElement(document, 'rect', { ...rectangleOf(layout, view, cell.rows, cell.columns), fill: `rgb(${color(cell[reduction]).join(',')})` }));
  return frame;
}

/** The map with title, axes, the given marks and its colour bar. */
export function svgOf(document: Document, parts: SvgParts): string {
  const { label, scale, theme, reduction, layout: { width, height, left, cellsWidth }, level: { rowsPerCell, columnsPerCell }, axes, marks, ink, paper } = parts;
  const whole = svgElement(document, 'svg', { width, height: height + HEADER + FOOTER, viewBox: `0 0 ${width} ${height + HEADER + FOOTER}`, 'font-family': FONT });
  const title = svgElement(document, 'text', { x: 8, y: 17, 'font-size': 13, 'font-weight': 600, fill: ink });
  title.textContent = label;
  const body = svgElement(document, 'g', { transform: `translate(0,${HEADER})` });
  body.append(drawnCells(document, parts), ...axes.map((axis) => axis.cloneNode(true)), ...marks);
  const bar = svgElement(document, 'g', { transform: `translate(${left},${height + HEADER + 4})` });
  const covers = rowsPerCell * columnsPerCell === 1 ? '' : `, ${reduction} of ${rowsPerCell} × ${columnsPerCell} a cell`;
  drawColorBar(bar, { scale, theme, width: cellsWidth, caption: `${scale.kind === 'diverging' ? 'difference of weights' : 'weight'}${covers}` });
  whole.append(svgElement(document, 'rect', { width: '100%', height: '100%', fill: paper }), title, body, bar);
  return new XMLSerializer().serializeToString(whole);
}

/** An SVG as a PNG, at twice its size or the screen's density. */
export async function pngOf(document: Document, svg: string): Promise<Blob> {
  const image = new Image();
  image.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(svg)}`;
  await image.decode();
  const ratio = Math.max(2, devicePixelRatio);
  const canvas = document.createElement('canvas');
  canvas.width = image.naturalWidth * ratio;
  canvas.height = image.naturalHeight * ratio;
  const context = canvas.getContext('2d')!;
  context.imageSmoothingEnabled = false;
  context.scale(ratio, ratio);
  context.drawImage(image, 0, 0);
  return new Promise((resolve, reject) => canvas.toBlob((blob) => (blob ? resolve(blob) : reject(new Error('png: received no picture, expected a canvas small enough'))), 'image/png'));
}

/** One line a cell: its first query and key, how many it covers, their tokens, both reductions. */
export function csvOf(cells: readonly ShownCell[], { rowLabel, columnLabel }: { rowLabel(i: number): string; columnLabel(j: number): string }): string {
  return toCsv(['query', 'queries in cell', 'query token', 'key', 'keys in cell', 'key token', 'peak', 'mean'], cells.map(({ rows, columns, peak, mean }) =>
    [rows[0], rows[1] - rows[0], rowLabel(rows[0]), columns[0], columns[1] - columns[0], columnLabel(columns[0]), peak, mean]));
}

// A matrix of weights as a heat map: cells on a canvas, token axes and outlines in SVG, tiles fetched
// for what is seen. Knows nothing of where the tiles come from.

import type { Tile } from '../core/types.ts';
import { colorOf } from '../model/color-scale.ts';
import type { ColorScale, Theme } from '../model/color-scale.ts';
import { toCsv } from '../model/csv.ts';
import { levelFor, requestOf, TILE_CELLS, TilePyramid, tilesOf } from '../model/tile-pyramid.ts';
import type { FetchTile, Reduction, TileAddress } from '../model/tile-pyramid.ts';
import { clampView, sameView } from '../model/view.ts';
import type { CellIndex, View } from '../model/view.ts';
import { drawColorBar } from './color-bar.ts';
import { listenToInput } from './heat-map-input.ts';
import { layoutOf, rectangleOf } from './heat-map-layout.ts';
import type { Layout } from './heat-map-layout.ts';
import { drawTokenAxis, FONT, svgElement } from './svg.ts';

export interface HeatMapState {
  readonly rows: number;
  readonly columns: number;
  rowLabel(i: number): string;
  columnLabel(j: number): string;
  readonly view: View;
  readonly reduction: Reduction;
  readonly scale: ColorScale;
  readonly theme: Theme;
  readonly head: number;
  /** Changes whenever the weights do. */
  readonly version: string;
  readonly fetchTile: FetchTile;
  readonly hover: CellIndex | null;
  readonly selected: CellIndex | null;
}

export interface HeatMapEvents {
  hover: CellIndex | null;
  select: CellIndex;
  view: View;
  error: Error;
}

export interface HeatMap {
  update(state: Partial<HeatMapState>): void;
  on<K extends keyof HeatMapEvents>(type: K, listener: (event: HeatMapEvents[K]) => void): () => void;
  /** The value drawn where an entry lies: of the cell that covers it. */
  valueAt(cell: CellIndex): number | undefined;
  /** Resolves when all visible tiles are drawn. */
  settled(): Promise<void>;
  /** What a cell covers at present. */
  level(): { readonly rowsPerCell: number; readonly columnsPerCell: number };
  toPng(): Promise<Blob>;
  toSvg(): string;
  /** The visible cells. */
  toCsv(): Promise<string>;
  dispose(): void;
}

const inks: Readonly<Record<Theme, { readonly text: string; readonly paper: string; readonly hover: string; readonly selected: string }>> = {
  light: { text: '#3f444b', paper: '#fffefb', hover: '#1d2126', selected: '#b4570a' },
  dark: { text: '#c9c7c1', paper: '#1a1d21', hover: '#ffffff', selected: '#ffb454' },
};

class CanvasHeatMap implements HeatMap {
  #state: HeatMapState;
  #layout: Layout;
  readonly #host: HTMLElement;
  readonly #label: string;
  readonly #surface: HTMLElement;
  readonly #canvas: HTMLCanvasElement;
  readonly #svg: SVGSVGElement;
  readonly #parts: { readonly rows: SVGGElement; readonly columns: SVGGElement; readonly marks: SVGGElement };
  readonly #pyramid: TilePyramid;
  readonly #listeners = new Map<keyof HeatMapEvents, Set<(event: never) => void>>();
  readonly #cleanUps: (() => void)[] = [];
  /** Tiles as pictures, valid for one reduction, scale and theme. */
  #bitmaps = new WeakMap<Tile, HTMLCanvasElement>();
  #frame = 0;

  constructor(host: HTMLElement, label: string, initial: HeatMapState) {
    const document = host.ownerDocument;
    this.#host = host;
    this.#label = label;
    this.#state = { ...initial, view: clampView(initial.view, initial.rows, initial.columns) };
    this.#layout = layoutOf(host.clientWidth || 300, host.clientHeight || 300);
    this.#pyramid = new TilePyramid(() => this.#schedule(), (error) => this.#emit('error', error));
    this.#surface = document.createElement('div');
    this.#surface.tabIndex = 0;
    this.#surface.setAttribute('role', 'application');
    this.#surface.setAttribute('aria-roledescription', 'heat map');
    this.#surface.style.cssText = 'position:relative;width:100%;height:100%;cursor:crosshair';
    this.#canvas = document.createElement('canvas');
    this.#canvas.style.cssText = 'position:absolute';
    this.#svg = svgElement(document, 'svg', { 'aria-hidden': 'true' });
    this.#svg.style.cssText = 'position:absolute;inset:0;overflow:hidden';
    this.#parts = { rows: svgElement(document, 'g'), columns: svgElement(document, 'g'), marks: svgElement(document, 'g') };
    this.#svg.append(this.#parts.rows, this.#parts.columns, this.#parts.marks);
    this.#surface.append(this.#canvas, this.#svg);
    host.append(this.#surface);

    const observer = new ResizeObserver(() => {
      this.#layout = layoutOf(host.clientWidth, host.clientHeight);
      this.#schedule();
    });
    observer.observe(host);
    this.#cleanUps.push(() => observer.disconnect(), listenToInput({
      surface: this.#surface,
      layout: () => this.#layout,
      view: () => this.#state.view,
      size: () => this.#state,
      hover: () => this.#state.hover,
      setView: (view) => this.#setView(view),
      setHover: (hover) => this.#setHover(hover),
      select: (selected) => {
        this.update({ selected });
        this.#emit('select', selected);
      },
    }));
    this.#sourceChanged();
    this.#schedule();
  }

  update(change: Partial<HeatMapState>): void {
    const before = this.#state;
    const state = { ...before, ...change };
    this.#state = { ...state, view: clampView(state.view, state.rows, state.columns) };
    const { reduction, scale, theme } = this.#state;
    if (reduction !== before.reduction || theme !== before.theme || JSON.stringify(scale) !== JSON.stringify(before.scale)) this.#bitmaps = new WeakMap();
    this.#sourceChanged();
    this.#schedule();
  }

  on<K extends keyof HeatMapEvents>(type: K, listener: (event: HeatMapEvents[K]) => void): () => void {
    const listeners = this.#listeners.get(type) ?? new Set();
    this.#listeners.set(type, listeners);
    listeners.add(listener);
    return () => listeners.delete(listener);
  }

  valueAt({ row, column }: CellIndex): number | undefined {
    const level = this.#level();
    const side = TILE_CELLS * 2 ** level;
    const tile = this.#pyramid.get({ level, y: Math.floor(row / side), x: Math.floor(column / side) });
    const cell = (at: number) => Math.floor((at % side) / 2 ** level);
    return tile?.[this.#state.reduction][cell(row) * tile.cellColumns + cell(column)];
  }

  async settled(): Promise<void> {
    if (this.#frame !== 0) this.#draw();
    await this.#pyramid.settled();
    if (this.#frame !== 0) this.#draw();
  }

  level(): { rowsPerCell: number; columnsPerCell: number } {
    const entries = 2 ** this.#level();
    return { rowsPerCell: Math.min(entries, this.#state.rows), columnsPerCell: Math.min(entries, this.#state.columns) };
  }

  toSvg(): string {
    const document = this.#host.ownerDocument;
    const { theme, scale } = this.#state;
    const { width, height, left, top, cellsWidth, cellsHeight } = this.#layout;
    const [header, footer] = [24, 52];
    const whole = svgElement(document, 'svg', { xmlns: 'http://www.w3.org/2000/svg', width, height: height + header + footer, viewBox: `0 0 ${width} ${height + header + footer}`, 'font-family': FONT });
    const title = svgElement(document, 'text', { x: 8, y: 17, 'font-size': 13, 'font-weight': 600, fill: inks[theme].text });
    title.textContent = this.#label;
    const image = svgElement(document, 'image', { x: left, y: top, width: cellsWidth, height: cellsHeight, href: this.#canvas.toDataURL('image/png'), style: 'image-rendering:pixelated' });
    const body = svgElement(document, 'g', { transform: `translate(0,${header})` });
    body.append(image, ...[...this.#svg.childNodes].map((node) => node.cloneNode(true)));
    const bar = svgElement(document, 'g', { transform: `translate(${left},${height + header + 4})` });
    const { rowsPerCell, columnsPerCell } = this.level();
    const covers = rowsPerCell * columnsPerCell === 1 ? '' : `, ${this.#state.reduction} of ${rowsPerCell} × ${columnsPerCell} a cell`;
    drawColorBar(bar, { scale, theme, width: cellsWidth, caption: `${scale.kind === 'diverging' ? 'difference of weights' : 'weight'}${covers}` });
    whole.append(svgElement(document, 'rect', { width: '100%', height: '100%', fill: inks[theme].paper }), title, body, bar);
    return new XMLSerializer().serializeToString(whole);
  }

  async toPng(): Promise<Blob> {
    const document = this.#host.ownerDocument;
    const svg = this.toSvg();
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

  async toCsv(): Promise<string> {
    await this.settled();
    const { view, rows, columns, rowLabel, columnLabel } = this.#state;
    const level = this.#level(), entries = 2 ** level;
    const lines: (string | number)[][] = [];
    for (const address of tilesOf(view, level, rows, columns)) {
      const tile = this.#pyramid.get(address);
      if (tile === undefined) continue;
      const request = requestOf(address, this.#state);
      for (let r = 0; r < tile.cellRows; r++) {
        const row = request.rows[0] + r * entries;
        if (row + entries <= view.rows[0] || row >= view.rows[1]) continue;
        for (let c = 0; c < tile.cellColumns; c++) {
          const column = request.columns[0] + c * entries;
          if (column + entries <= view.columns[0] || column >= view.columns[1]) continue;
          const at = r * tile.cellColumns + c;
          lines.push([row, Math.min(entries, rows - row), rowLabel(row), column, Math.min(entries, columns - column), columnLabel(column), tile.peak[at]!, tile.mean[at]!]);
        }
      }
    }
    return toCsv(['query', 'queries in cell', 'query token', 'key', 'keys in cell', 'key token', 'peak', 'mean'], lines);
  }

  dispose(): void {
    cancelAnimationFrame(this.#frame);
    for (const cleanUp of this.#cleanUps) cleanUp();
    this.#pyramid.dispose();
    this.#surface.remove();
  }

  #emit<K extends keyof HeatMapEvents>(type: K, event: HeatMapEvents[K]): void {
    for (const listener of this.#listeners.get(type) ?? []) (listener as (event: HeatMapEvents[K]) => void)(event);
  }

  #setView(wanted: View): void {
    const view = clampView(wanted, this.#state.rows, this.#state.columns);
    if (sameView(view, this.#state.view)) return;
    this.update({ view });
    this.#emit('view', view);
  }

  #setHover(hover: CellIndex | null): void {
    const { hover: before } = this.#state;
    if (hover?.row === before?.row && hover?.column === before?.column) return;
    this.update({ hover });
    this.#emit('hover', hover);
  }

  #level(): number {
    const ratio = devicePixelRatio;
    return levelFor(this.#state.view, this.#layout.cellsWidth * ratio, this.#layout.cellsHeight * ratio);
  }

  #sourceChanged(): void {
    this.#pyramid.setSource(this.#state);
    const { rows, columns, view } = this.#state;
    this.#surface.setAttribute('aria-label', `${this.#label}: ${rows} queries by ${columns} keys. Arrow keys move, plus and minus zoom, 0 shows all, Enter explains a cell.`);
    const whole = view.rows[1] - view.rows[0] >= rows && view.columns[1] - view.columns[0] >= columns;
    this.#surface.style.touchAction = whole ? 'pan-x pan-y' : 'none';
  }

  #schedule(): void {
    if (this.#frame === 0) this.#frame = requestAnimationFrame(() => this.#draw());
  }

  #draw(): void {
    cancelAnimationFrame(this.#frame);
    this.#frame = 0;
    const { view, rows, columns, rowLabel, columnLabel, theme } = this.#state;
    const layout = this.#layout;
    const tiles = tilesOf(view, this.#level(), rows, columns);
    this.#pyramid.want(tiles);
    this.#drawCells(tiles);
    this.#svg.setAttribute('width', String(layout.width));
    this.#svg.setAttribute('height', String(layout.height));
    this.#parts.rows.setAttribute('transform', `translate(${layout.left - 2},${layout.top})`);
    this.#parts.columns.setAttribute('transform', `translate(${layout.left},${layout.top - 2})`);
    const most = layout.left < 50 ? 5 : 8;
    drawTokenAxis(this.#parts.rows, { side: 'left', range: view.rows, pixels: layout.cellsHeight, label: rowLabel, most, ink: inks[theme].text });
    drawTokenAxis(this.#parts.columns, { side: 'top', range: view.columns, pixels: layout.cellsWidth, label: columnLabel, most, ink: inks[theme].text });
    this.#drawMarks();
  }

  #drawCells(tiles: readonly TileAddress[]): void {
    const { left, top, cellsWidth, cellsHeight } = this.#layout;
    const ratio = devicePixelRatio;
    const canvas = this.#canvas;
    canvas.width = Math.round(cellsWidth * ratio);
    canvas.height = Math.round(cellsHeight * ratio);
    Object.assign(canvas.style, { left: `${left}px`, top: `${top}px`, width: `${cellsWidth}px`, height: `${cellsHeight}px` });
    const context = canvas.getContext('2d')!;
    context.imageSmoothingEnabled = false;
    context.scale(canvas.width / cellsWidth, canvas.height / cellsHeight);
    for (const address of tiles) {
      // While a tile is on its way, what a coarser one knows stands in.
      const here = this.#pyramid.get(address) !== undefined ? address : this.#pyramid.ancestor(address);
      const tile = here && this.#pyramid.get(here);
      if (here === undefined || tile === undefined) continue;
      const { rows, columns } = requestOf(here, this.#state);
      // Cells at the far edges cover fewer entries but are drawn whole; the canvas cuts them.
      const entries = 2 ** here.level;
      const { x, y, width, height } = rectangleOf(this.#layout, this.#state.view, [rows[0], rows[0] + tile.cellRows * entries], [columns[0], columns[0] + tile.cellColumns * entries]);
      context.drawImage(this.#bitmapOf(tile), x, y, width, height);
    }
  }

  #bitmapOf(tile: Tile): HTMLCanvasElement {
    const known = this.#bitmaps.get(tile);
    if (known !== undefined) return known;
    const { scale, theme, reduction } = this.#state;
    const color = colorOf(scale, theme);
    const bitmap = this.#host.ownerDocument.createElement('canvas');
    bitmap.width = tile.cellColumns;
    bitmap.height = tile.cellRows;
    const image = new ImageData(tile.cellColumns, tile.cellRows);
    tile[reduction].forEach((value, i) => image.data.set([...color(value), 255], 4 * i));
    bitmap.getContext('2d')!.putImageData(image, 0, 0);
    this.#bitmaps.set(tile, bitmap);
    return bitmap;
  }

  /** Guide lines through the hovered entry, outlines around it and the selected one. */
  #drawMarks(): void {
    const { hover, selected, view, theme } = this.#state;
    const document = this.#host.ownerDocument;
    const { left, top, cellsWidth, cellsHeight } = this.#layout;
    const inside = ({ row, column }: CellIndex) => row + 1 > view.rows[0] && row < view.rows[1] && column + 1 > view.columns[0] && column < view.columns[1];
    const marks: SVGElement[] = [];
    const outline = ({ row, column }: CellIndex, stroke: string, strokeWidth: number) => {
      const { x, y, width, height } = rectangleOf(this.#layout, view, [row, row + 1], [column, column + 1]);
      // An entry smaller than this would vanish under its outline.
      const [w, h] = [Math.max(width, 3), Math.max(height, 3)];
      return svgElement(document, 'rect', { x: left + x + (width - w) / 2, y: top + y + (height - h) / 2, width: w, height: h, fill: 'none', stroke, 'stroke-width': strokeWidth });
    };
    if (hover !== null && inside(hover)) {
      const { x, y, width, height } = rectangleOf(this.#layout, view, [hover.row, hover.row + 1], [hover.column, hover.column + 1]);
      const line = { stroke: inks[theme].hover, 'stroke-width': 1, 'stroke-opacity': 0.35 };
      marks.push(
        svgElement(document, 'line', { x1: left, x2: left + cellsWidth, y1: top + y + height / 2, y2: top + y + height / 2, ...line }),
        svgElement(document, 'line', { x1: left + x + width / 2, x2: left + x + width / 2, y1: top, y2: top + cellsHeight, ...line }),
        outline(hover, inks[theme].hover, 1.5),
      );
    }
    if (selected !== null && inside(selected)) marks.push(outline(selected, inks[theme].selected, 2));
    this.#parts.marks.replaceChildren(...marks);
  }
}

/** Draws a map into a host, which gives it its size. */
export function heatMap(host: HTMLElement, label: string, initial: HeatMapState): HeatMap {
  return new CanvasHeatMap(host, label, initial);
}

// A matrix of weights as a heat map: cells on a canvas, token axes and outlines in SVG, tiles fetched
// for what is seen. Knows nothing of where the tiles come from.

import type { Tile } from '../core/types.ts';
import { colorOf } from '../model/color-scale.ts';
import type { ColorScale, Rgb, Theme } from '../model/color-scale.ts';
import { levelsFor, placeOf, requestOf, TilePyramid, tilesOf } from '../model/tile-pyramid.ts';
import type { FetchTile, Levels, Reduction, TileAddress } from '../model/tile-pyramid.ts';
import { clampView, sameView } from '../model/view.ts';
import type { CellIndex, View } from '../model/view.ts';
import { cellsIn, csvOf, pngOf, svgOf } from './heat-map-export.ts';
import type { ShownCell } from './heat-map-export.ts';
import { listenToInput } from './heat-map-input.ts';
import { layoutOf, rectangleOf, touchActionFor } from './heat-map-layout.ts';
import type { Layout } from './heat-map-layout.ts';
import { drawTokenAxis, svgElement, TEXT_INK, textMeasure } from './svg.ts';

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
  /** A cell covers other numbers of entries than before: the view or the size of the map changed. */
  level: { readonly rowsPerCell: number; readonly columnsPerCell: number };
  error: Error;
}

export interface HeatMap {
  update(state: Partial<HeatMapState>): void;
  on<K extends keyof HeatMapEvents>(type: K, listener: (event: HeatMapEvents[K]) => void): () => void;
  /** The value drawn where an entry lies: of the cell that covers it. */
  valueAt(cell: CellIndex): number | undefined;
  /** Resolves when all visible tiles are drawn. */
  settled(): Promise<void>;
  /** What a cell covers at present, for the caption. */
  level(): { readonly rowsPerCell: number; readonly columnsPerCell: number };
  toPng(): Promise<Blob>;
  toSvg(): string;
  /** The visible cells. */
  toCsv(): Promise<string>;
  dispose(): void;
}

const inks: Readonly<Record<Theme, { readonly paper: string; readonly hover: string; readonly selected: string }>> = {
  light: { paper: '#fffefb', hover: '#1d2126', selected: '#b4570a' },
  dark: { paper: '#1a1d21', hover: '#ffffff', selected: '#ffb454' },
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
  readonly #widthOf: (text: string) => number;
  #color: (value: number) => Rgb;
  #frame = 0;
  #levelsDrawn = '';
  /** Moving over a map redraws no cells. */
  #onlyMarks = false;

  constructor(host: HTMLElement, label: string, initial: HeatMapState) {
    const document = host.ownerDocument;
    this.#host = host;
    this.#label = label;
    this.#state = { ...initial, view: clampView(initial.view, initial.rows, initial.columns) };
    this.#widthOf = textMeasure(document);
    this.#color = colorOf(initial.scale, initial.theme);
    this.#layout = layoutOf(host.clientWidth, host.clientHeight);
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
    this.#cleanUps.push(() => observer.disconnect(), this.#watchPixelRatio(), listenToInput({
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
    const recolored = theme !== before.theme || JSON.stringify(scale) !== JSON.stringify(before.scale);
    if (recolored) this.#color = colorOf(scale, theme);
    if (recolored || reduction !== before.reduction) this.#bitmaps = new WeakMap();
    const onlyMarks = Object.keys(change).every((key) => key === 'hover' || key === 'selected' || (key === 'view' && sameView(this.#state.view, before.view)));
    if (!onlyMarks) this.#sourceChanged();
    this.#schedule(onlyMarks);
  }

  on<K extends keyof HeatMapEvents>(type: K, listener: (event: HeatMapEvents[K]) => void): () => void {
    const listeners = this.#listeners.get(type) ?? new Set();
    this.#listeners.set(type, listeners);
    listeners.add(listener);
    return () => listeners.delete(listener);
  }

  valueAt(entry: CellIndex): number | undefined {
    const { address, cell } = placeOf(entry, this.#levels(), this.#state.columns);
    return this.#pyramid.get(address)?.[this.#state.reduction][cell];
  }

  async settled(): Promise<void> {
    do {
      if (this.#frame !== 0) this.#draw();
      await this.#pyramid.settled();
    } while (this.#frame !== 0);
  }

  level(): { rowsPerCell: number; columnsPerCell: number } {
    const { rowLevel, columnLevel } = this.#levels();
    return { rowsPerCell: Math.min(2 ** rowLevel, this.#state.rows), columnsPerCell: Math.min(2 ** columnLevel, this.#state.columns) };
  }

  toSvg(): string {
    const { theme, scale, selected, reduction } = this.#state;
    return svgOf(this.#host.ownerDocument, {
      label: this.#label, scale, theme, reduction, layout: this.#layout, ink: TEXT_INK[theme], paper: inks[theme].paper,
      view: this.#state.view,
      level: this.level(),
      cells: this.#cells(),
      color: this.#color,
      canvas: this.#canvas,
      axes: [this.#parts.rows, this.#parts.columns],
      // Where the pointer happens to be is not part of the picture.
      marks: this.#marks(null, selected),
    });
  }

  toPng(): Promise<Blob> {
    return pngOf(this.#host.ownerDocument, this.toSvg());
  }

  async toCsv(): Promise<string> {
    await this.settled();
    return csvOf(this.#cells(), this.#state);
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

  #levels(): Levels {
    const ratio = devicePixelRatio;
    return levelsFor(this.#state.view, this.#layout.cellsWidth * ratio, this.#layout.cellsHeight * ratio);
  }

  /** The visible cells whose tiles are here. */
  #cells(): ShownCell[] {
    const { view, rows, columns } = this.#state;
    return tilesOf(view, this.#levels(), rows, columns).flatMap((address) => {
      const tile = this.#pyramid.get(address);
      return tile === undefined ? [] : cellsIn(tile, requestOf(address, this.#state), view);
    });
  }

  /** A window that moves to a screen of another density keeps its size, but not its pixels. */
  #watchPixelRatio(): () => void {
    const stop = new AbortController();
    const watch = () => matchMedia(`(resolution: ${devicePixelRatio}dppx)`).addEventListener('change', () => {
      this.#schedule();
      watch();
    }, { once: true, signal: stop.signal });
    watch();
    return () => stop.abort();
  }

  #sourceChanged(): void {
    this.#pyramid.setSource(this.#state);
    const { rows, columns, view } = this.#state;
    this.#surface.setAttribute('aria-label', `${this.#label}: ${rows} queries by ${columns} keys. Arrow keys move, plus and minus zoom, 0 shows all, Enter explains a cell.`);
    // Browsers that know no directions keep "none".
    this.#surface.style.touchAction = 'none';
    this.#surface.style.touchAction = touchActionFor(view, rows, columns);
  }

  #schedule(onlyMarks = false): void {
    this.#onlyMarks &&= onlyMarks;
    if (this.#frame === 0) this.#frame = requestAnimationFrame(() => this.#draw());
  }

  #draw(): void {
    cancelAnimationFrame(this.#frame);
    this.#frame = 0;
    if (!this.#onlyMarks) this.#drawMap();
    this.#onlyMarks = true;
    const { hover, selected } = this.#state;
    this.#parts.marks.replaceChildren(...this.#marks(hover, selected));
  }

  #drawMap(): void {
    const { view, rows, columns, rowLabel, columnLabel, theme } = this.#state;
    const layout = this.#layout;
    const levels = this.#levels();
    // A map that is not displayed asks for nothing and tells nothing.
    const displayed = layout.width > 0 && layout.height > 0;
    const tiles = displayed ? tilesOf(view, levels, rows, columns) : [];
    this.#pyramid.want(tiles);
    const drawn = `${levels.rowLevel} ${levels.columnLevel}`;
    if (displayed && drawn !== this.#levelsDrawn) {
      this.#levelsDrawn = drawn;
      this.#emit('level', this.level());
    }
    this.#drawCells(tiles);
    this.#svg.setAttribute('width', String(layout.width));
    this.#svg.setAttribute('height', String(layout.height));
    this.#parts.rows.setAttribute('transform', `translate(${layout.left - 2},${layout.top})`);
    this.#parts.columns.setAttribute('transform', `translate(${layout.left},${layout.top - 2})`);
    const common = { most: layout.labelPixels, widthOf: this.#widthOf, ink: TEXT_INK[theme] };
    drawTokenAxis(this.#parts.rows, { side: 'left', range: view.rows, pixels: layout.cellsHeight, label: rowLabel, ...common });
    drawTokenAxis(this.#parts.columns, { side: 'top', range: view.columns, pixels: layout.cellsWidth, label: columnLabel, ...common });
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
    const here = tiles.filter((address) => this.#pyramid.get(address) !== undefined);
    // While tiles are on their way, what others know lies beneath those that are here.
    const beneath = here.length < tiles.length ? this.#pyramid.overlapping(this.#state.view) : [];
    for (const address of [...beneath, ...here]) {
      const tile = this.#pyramid.get(address);
      if (tile === undefined) continue;
      const { rows, columns, rowsPerCell, columnsPerCell } = requestOf(address, this.#state);
      // Cells at the far edges cover fewer entries but are drawn whole; the canvas cuts them.
      const { x, y, width, height } = rectangleOf(this.#layout, this.#state.view, [rows[0], rows[0] + tile.cellRows * rowsPerCell], [columns[0], columns[0] + tile.cellColumns * columnsPerCell]);
      // Edges on whole pixels, so that neighbouring tiles meet without a seam.
      const [x0, x1] = [Math.round(x * ratio), Math.round((x + width) * ratio)];
      const [y0, y1] = [Math.round(y * ratio), Math.round((y + height) * ratio)];
      context.drawImage(this.#bitmapOf(tile), x0, y0, x1 - x0, y1 - y0);
    }
  }

  #bitmapOf(tile: Tile): HTMLCanvasElement {
    const known = this.#bitmaps.get(tile);
    if (known !== undefined) return known;
    const bitmap = this.#host.ownerDocument.createElement('canvas');
    bitmap.width = tile.cellColumns;
    bitmap.height = tile.cellRows;
    const image = new ImageData(tile.cellColumns, tile.cellRows);
    const values = tile[this.#state.reduction];
    for (let i = 0; i < values.length; i++) {
      const [r, g, b] = this.#color(values[i]!);
      image.data[4 * i] = r;
      image.data[4 * i + 1] = g;
      image.data[4 * i + 2] = b;
      image.data[4 * i + 3] = 255;
    }
    bitmap.getContext('2d')!.putImageData(image, 0, 0);
    this.#bitmaps.set(tile, bitmap);
    return bitmap;
  }

  /** Guide lines through the hovered entry, outlines around it and the selected one. */
  #marks(hover: CellIndex | null, selected: CellIndex | null): SVGElement[] {
    const { view, theme } = this.#state;
    const document = this.#host.ownerDocument;
    const { left, top, cellsWidth, cellsHeight } = this.#layout;
    const inside = ({ row, column }: CellIndex) => row + 1 > view.rows[0] && row < view.rows[1] && column + 1 > view.columns[0] && column < view.columns[1];
    const marks: SVGElement[] = [];
    const outline = ({ row, column }: CellIndex, stroke: string, strokeWidth: number) => {
      const { x, y, width, height } = rectangleOf(this.#layout, view, [row, row + 1], [column, column + 1]);
      // An entry smaller than this would vanish under its outline.
      const [w, h] = [Math.max(width, 3), Math.max(height, 3)];
      const box = { x: left + x + (width - w) / 2, y: top + y + (height - h) / 2, width: w, height: h, fill: 'none' };
      // On a rim of paper, it is seen on every colour.
      return [
        svgElement(document, 'rect', { ...box, stroke: inks[theme].paper, 'stroke-width': strokeWidth + 2 }),
        svgElement(document, 'rect', { ...box, stroke, 'stroke-width': strokeWidth }),
      ];
    };
    if (hover !== null && inside(hover)) {
      const { x, y, width, height } = rectangleOf(this.#layout, view, [hover.row, hover.row + 1], [hover.column, hover.column + 1]);
      const line = { stroke: inks[theme].hover, 'stroke-width': 1, 'stroke-opacity': 0.35 };
      marks.push(
        svgElement(document, 'line', { x1: left, x2: left + cellsWidth, y1: top + y + height / 2, y2: top + y + height / 2, ...line }),
        svgElement(document, 'line', { x1: left + x + width / 2, x2: left + x + width / 2, y1: top, y2: top + cellsHeight, ...line }),
        ...outline(hover, inks[theme].hover, 1.5),
      );
    }
    if (selected !== null && inside(selected)) marks.push(...outline(selected, inks[theme].selected, 2));
    return marks;
  }
}

/** Draws a map into a host, which gives it its size. */
export function heatMap(host: HTMLElement, label: string, initial: HeatMapState): HeatMap {
  return new CanvasHeatMap(host, label, initial);
}

// Tiles of a large map: which ones a view needs at which level, fetched a few at a time, kept while
// there is room. Each axis has a level of its own, so that a map of few rows and many columns keeps
// its rows apart: a cell covers 2^level rows by 2^level columns of those levels. No DOM.

import type { Tile, TileRequest } from '../core/types.ts';
import type { CellIndex, View } from './view.ts';

export type Reduction = 'peak' | 'mean';
export type FetchTile = (request: TileRequest, signal: AbortSignal) => Promise<Tile>;

/** Cells along a tile's side: 128 x 128 cells of two reductions are 128 KB. */
export const TILE_CELLS = 128;
/** 25 MB; more only when one view needs more. */
export const MOST_KEPT = 200;
/** One that is computed and one that waits behind it. */
export const MOST_IN_FLIGHT = 2;

export interface Levels {
  readonly rowLevel: number;
  readonly columnLevel: number;
}

export interface TileAddress extends Levels {
  /** Tile row and column. */
  readonly y: number;
  readonly x: number;
}

export interface MapSource {
  readonly rows: number;
  readonly columns: number;
  readonly head: number;
  /** Changes whenever the weights do. */
  readonly version: string;
  readonly fetchTile: FetchTile;
}

const keyOf = ({ rowLevel, columnLevel, y, x }: TileAddress) => `${rowLevel}/${columnLevel}/${y}/${x}`;

/** The finest levels whose cells are not smaller than a pixel, so that nothing is computed unseen. */
export function levelsFor(view: View, widthPixels: number, heightPixels: number): Levels {
  const level = ([begin, end]: readonly [number, number], pixels: number) => Math.max(0, Math.ceil(Math.log2((end - begin) / pixels)));
  return { rowLevel: level(view.rows, heightPixels), columnLevel: level(view.columns, widthPixels) };
}

/** The tiles of given levels that a view touches. */
export function tilesOf(view: View, { rowLevel, columnLevel }: Levels, rows: number, columns: number): TileAddress[] {
  const span = ([begin, end]: readonly [number, number], level: number, size: number) => {
    const side = TILE_CELLS * 2 ** level;
    return [Math.max(0, Math.floor(begin / side)), Math.min(Math.ceil(size / side), Math.ceil(end / side))] as const;
  };
  const [y0, y1] = span(view.rows, rowLevel, rows);
  const [x0, x1] = span(view.columns, columnLevel, columns);
  const tiles: TileAddress[] = [];
  for (let y = y0; y < y1; y++) for (let x = x0; x < x1; x++) tiles.push({ rowLevel, columnLevel, y, x });
  return tiles;
}

/** The tile that covers an entry, and where in its cells the entry lies, row by row. */
export function placeOf({ row, column }: CellIndex, { rowLevel, columnLevel }: Levels, columns: number): { readonly address: TileAddress; readonly cell: number } {
  const [cellRow, cellColumn] = [Math.floor(row / 2 ** rowLevel), Math.floor(column / 2 ** columnLevel)];
  const [y, x] = [Math.floor(cellRow / TILE_CELLS), Math.floor(cellColumn / TILE_CELLS)];
  const width = Math.min(TILE_CELLS, Math.ceil(columns / 2 ** columnLevel) - x * TILE_CELLS);
  return { address: { rowLevel, columnLevel, y, x }, cell: (cellRow % TILE_CELLS) * width + (cellColumn % TILE_CELLS) };
}

/** What to ask for a tile. */
export function requestOf({ rowLevel, columnLevel, y, x }: TileAddress, source: Pick<MapSource, 'rows' | 'columns' | 'head'>): Required<Omit<TileRequest, 'batch'>> {
  const span = (at: number, level: number, size: number) => [at * TILE_CELLS * 2 ** level, Math.min(size, (at + 1) * TILE_CELLS * 2 ** level)] as const;
  return {
    head: source.head,
    rows: span(y, rowLevel, source.rows),
    columns: span(x, columnLevel, source.columns),
    rowsPerCell: 2 ** rowLevel,
    columnsPerCell: 2 ** columnLevel,
  };
}

export class TilePyramid {
  readonly #onChange: () => void;
  readonly #onError: (error: Error) => void;
  #source: MapSource | null = null;
  // In order of use, the oldest first.
  #kept = new Map<string, { readonly address: TileAddress; readonly tile: Tile }>();
  #wanted: TileAddress[] = [];
  #flights = new Map<string, AbortController>();
  #failed = new Set<string>();
  #waiting: (() => void)[] = [];

  constructor(onChange: () => void, onError: (error: Error) => void) {
    this.#onChange = onChange;
    this.#onError = onError;
  }

  /** Other weights empty the pyramid; another fetchTile for the same weights tries again what failed. */
  setSource(source: MapSource): void {
    const before = this.#source;
    this.#source = source;
    if (source.fetchTile !== before?.fetchTile) this.#failed.clear();
    if (before !== null && before.version === source.version && before.head === source.head && before.rows === source.rows && before.columns === source.columns) return;
    this.#abortAll();
    this.#kept.clear();
    this.#failed.clear();
    this.#wanted = [];
  }

  /** Asks for the tiles of a view and drops what else is under way. */
  want(tiles: readonly TileAddress[]): void {
    this.#wanted = [...tiles];
    const wanted = new Set(tiles.map(keyOf));
    for (const [key, flight] of this.#flights) if (!wanted.has(key)) flight.abort();
    this.#launch();
  }

  /** A tile that is here, or undefined. */
  get(address: TileAddress): Tile | undefined {
    const key = keyOf(address);
    const entry = this.#kept.get(key);
    if (entry === undefined) return undefined;
    this.#kept.delete(key);
    this.#kept.set(key, entry);
    return entry.tile;
  }

  /** All tiles here that show a part of the view, the coarsest first: what to draw while others are on their way. */
  overlapping({ rows, columns }: View): TileAddress[] {
    const touches = ([begin, end]: readonly [number, number], at: number, level: number) => {
      const side = TILE_CELLS * 2 ** level;
      return at * side < end && (at + 1) * side > begin;
    };
    return [...this.#kept.values()]
      .map(({ address }) => address)
      .filter(({ rowLevel, columnLevel, y, x }) => touches(rows, y, rowLevel) && touches(columns, x, columnLevel))
      .sort((a, b) => b.rowLevel + b.columnLevel - a.rowLevel - a.columnLevel);
  }

  /** Resolves when every wanted tile is here or has failed. */
  settled(): Promise<void> {
    if (this.#isSettled()) return Promise.resolve();
    return new Promise((resolve) => this.#waiting.push(resolve));
  }

  dispose(): void {
    this.#abortAll();
    this.#wanted = [];
    this.#settle();
  }

  #isSettled(): boolean {
    return this.#wanted.every((tile) => this.#kept.has(keyOf(tile)) || this.#failed.has(keyOf(tile)));
  }

  #settle(): void {
    if (!this.#isSettled()) return;
    for (const resolve of this.#waiting.splice(0)) resolve();
  }

  #abortAll(): void {
    for (const flight of this.#flights.values()) flight.abort();
    this.#flights.clear();
  }

  #launch(): void {
    const source = this.#source;
    if (source === null) return;
    for (const address of this.#wanted) {
      if (this.#flights.size >= MOST_IN_FLIGHT) return;
      const key = keyOf(address);
      if (!this.#kept.has(key) && !this.#flights.has(key) && !this.#failed.has(key)) void this.#fetch(source, address, key);
    }
    this.#settle();
  }

  async #fetch(source: MapSource, address: TileAddress, key: string): Promise<void> {
    const controller = new AbortController();
    this.#flights.set(key, controller);
    try {
      const tile = await source.fetchTile(requestOf(address, source), controller.signal);
      if (controller.signal.aborted) return;
      this.#keep(key, address, tile);
      this.#onChange();
    } catch (error) {
      if (controller.signal.aborted) return;
      this.#failed.add(key);
      this.#onError(error as Error);
    } finally {
      if (this.#flights.get(key) === controller) this.#flights.delete(key);
      this.#launch();
    }
  }

  /** Makes room by what was not used for longest; what the view needs stays. */
  #keep(key: string, address: TileAddress, tile: Tile): void {
    this.#kept.set(key, { address, tile });
    const wanted = new Set(this.#wanted.map(keyOf));
    for (const oldest of this.#kept.keys()) {
      if (this.#kept.size <= MOST_KEPT) return;
      if (!wanted.has(oldest)) this.#kept.delete(oldest);
    }
  }
}

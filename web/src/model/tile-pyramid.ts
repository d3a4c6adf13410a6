// Tiles of a large map: which ones a view needs at which level, fetched a few at a time, kept while
// there is room. A tile of level L has cells of 2^L x 2^L entries. No DOM.

import type { Tile, TileRequest } from '../core/types.ts';
import type { View } from './view.ts';

export type Reduction = 'peak' | 'mean';
export type FetchTile = (request: TileRequest, signal: AbortSignal) => Promise<Tile>;

/** Cells along a tile's side: 128 x 128 cells of two reductions are 128 KB. */
export const TILE_CELLS = 128;
const MOST_KEPT = 200;
const MOST_IN_FLIGHT = 2;

export interface TileAddress {
  readonly level: number;
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

const keyOf = ({ level, y, x }: TileAddress) => `${level}/${y}/${x}`;

/** The finest level whose cells are not smaller than a pixel, so that nothing is computed unseen. */
export function levelFor(view: View, widthPixels: number, heightPixels: number): number {
  const entriesPerPixel = Math.max((view.rows[1] - view.rows[0]) / heightPixels, (view.columns[1] - view.columns[0]) / widthPixels);
  return Math.max(0, Math.ceil(Math.log2(entriesPerPixel)));
}

/** The tiles of a level that a view touches. */
export function tilesOf(view: View, level: number, rows: number, columns: number): TileAddress[] {
  const side = TILE_CELLS * 2 ** level;
  const span = ([begin, end]: readonly [number, number], size: number) =>
    [Math.max(0, Math.floor(begin / side)), Math.min(Math.ceil(size / side), Math.ceil(end / side))] as const;
  const [y0, y1] = span(view.rows, rows);
  const [x0, x1] = span(view.columns, columns);
  const tiles: TileAddress[] = [];
  for (let y = y0; y < y1; y++) for (let x = x0; x < x1; x++) tiles.push({ level, y, x });
  return tiles;
}

/** What to ask for a tile. */
export function requestOf({ level, y, x }: TileAddress, source: Pick<MapSource, 'rows' | 'columns' | 'head'>): TileRequest {
  const entries = 2 ** level, side = TILE_CELLS * entries;
  return {
    head: source.head,
    rows: [y * side, Math.min(source.rows, (y + 1) * side)],
    columns: [x * side, Math.min(source.columns, (x + 1) * side)],
    rowsPerCell: entries,
    columnsPerCell: entries,
  };
}

export class TilePyramid {
  readonly #onChange: () => void;
  readonly #onError: (error: Error) => void;
  #source: MapSource | null = null;
  // In order of use, the oldest first.
  #kept = new Map<string, Tile>();
  #wanted: TileAddress[] = [];
  #flights = new Map<string, AbortController>();
  #failed = new Set<string>();
  #waiting: (() => void)[] = [];

  constructor(onChange: () => void, onError: (error: Error) => void) {
    this.#onChange = onChange;
    this.#onError = onError;
  }

  setSource(source: MapSource): void {
    const same = this.#source !== null && this.#source.version === source.version && this.#source.head === source.head
      && this.#source.rows === source.rows && this.#source.columns === source.columns;
    this.#source = source;
    if (same) return;
    this.#abortAll();
    this.#kept.clear();
    this.#failed.clear();
    this.#wanted = [];
  }

  /** Asks for the tiles of a view, drops what else is under way, and returns them for drawing. */
  want(tiles: readonly TileAddress[]): void {
    this.#wanted = [...tiles];
    const wanted = new Set(tiles.map(keyOf));
    for (const [key, flight] of this.#flights) if (!wanted.has(key)) flight.abort();
    this.#launch();
  }

  /** A tile that is here, or undefined. */
  get(address: TileAddress): Tile | undefined {
    const key = keyOf(address);
    const tile = this.#kept.get(key);
    if (tile !== undefined) {
      this.#kept.delete(key);
      this.#kept.set(key, tile);
    }
    return tile;
  }

  /** The nearest coarser tile that covers this one and is here. */
  ancestor({ level, y, x }: TileAddress): TileAddress | undefined {
    for (let up = 1; up <= 32; up++) {
      const address = { level: level + up, y: Math.floor(y / 2 ** up), x: Math.floor(x / 2 ** up) };
      if (this.#kept.has(keyOf(address))) return address;
    }
    return undefined;
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
      this.#kept.set(key, tile);
      for (const oldest of this.#kept.keys()) {
        if (this.#kept.size <= MOST_KEPT) break;
        this.#kept.delete(oldest);
      }
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
}

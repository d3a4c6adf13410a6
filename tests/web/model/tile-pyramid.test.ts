import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { Tile, TileRequest } from '../../../web/src/core/types.ts';
import { levelsFor, MOST_IN_FLIGHT, MOST_KEPT, placeOf, requestOf, TILE_CELLS, TilePyramid, tilesOf } from '../../../web/src/model/tile-pyramid.ts';
import type { TileAddress } from '../../../web/src/model/tile-pyramid.ts';
import { wholeView } from '../../../web/src/model/view.ts';

const tileOf = (value: number): Tile => ({ cellRows: 1, cellColumns: 1, peak: Float32Array.of(value), mean: Float32Array.of(value) });

/** A source whose answers are given by hand. */
function source(version = 'a', rows = 1000, columns = 1000) {
  const asked: { request: TileRequest; signal: AbortSignal; answer: (tile: Tile) => void; fail: (error: Error) => void }[] = [];
  const fetchTile = (request: TileRequest, signal: AbortSignal) => new Promise<Tile>((answer, fail) => {
    asked.push({ request, signal, answer, fail });
    signal.addEventListener('abort', () => fail(new Error('aborted')));
  });
  return { asked, map: { rows, columns, head: 0, version, fetchTile } };
}

const square = (level: number, y: number, x: number): TileAddress => ({ rowLevel: level, columnLevel: level, y, x });

const turn = () => new Promise((resolve) => setTimeout(resolve));

test('cells are never smaller than a pixel and never larger than two when zoomed out', () => {
  for (const rows of [10, 300, 301, 5000, 10_000, 1_000_000]) {
    const cell = 2 ** levelsFor(wholeView(rows, rows), 300, 300).rowLevel;
    expect(rows / cell).toBeLessThanOrEqual(300);
    if (cell > 1) expect(rows / cell).toBeGreaterThan(150);
  }
});

test('each axis has its own level, so that few queries stay apart beside many keys', () => {
  expect(levelsFor({ rows: [0, 16], columns: [0, 10_000] }, 300, 300)).toEqual({ rowLevel: 0, columnLevel: 6 });
  const [tile] = tilesOf(wholeView(16, 10_000), { rowLevel: 0, columnLevel: 6 }, 16, 10_000);
  expect(requestOf(tile!, { rows: 16, columns: 10_000, head: 3 })).toEqual({ head: 3, rows: [0, 16], columns: [0, 8192], rowsPerCell: 1, columnsPerCell: 64 });
});

test('the place of an entry is the one its tile was asked to hold it at, at every edge', () => {
  const level = fc.integer({ min: 0, max: 4 });
  const size = fc.integer({ min: 1, max: 3000 });
  fc.assert(fc.property(level, level, size, size, fc.double({ min: 0, max: 0.999999, noNaN: true }), fc.double({ min: 0, max: 0.999999, noNaN: true }), (rowLevel, columnLevel, rows, columns, u, v) => {
    const [row, column] = [Math.floor(u * rows), Math.floor(v * columns)];
    const { address, cell } = placeOf({ row, column }, { rowLevel, columnLevel }, columns);
    const request = requestOf(address, { rows, columns, head: 0 });
    expect(row >= request.rows[0] && row < request.rows[1] && column >= request.columns[0] && column < request.columns[1]).toBe(true);
    const cellColumns = Math.ceil((request.columns[1] - request.columns[0]) / request.columnsPerCell);
    const [cellRow, cellColumn] = [Math.floor(cell / cellColumns), cell % cellColumns];
    expect(cellRow).toBe(Math.floor((row - request.rows[0]) / request.rowsPerCell));
    expect(cellColumn).toBe(Math.floor((column - request.columns[0]) / request.columnsPerCell));
  }));
});

test('the tiles of a view cover it without gaps or overlaps, whatever the edges', () => {
  const tiles = tilesOf({ rows: [100, 700.5], columns: [0, 1000] }, { rowLevel: 1, columnLevel: 1 }, 700, 1000).map((tile) => requestOf(tile, { rows: 700, columns: 1000, head: 0 }));
  expect([...new Set(tiles.map(({ rows }) => rows.join('-')))]).toEqual(['0-256', '256-512', '512-700']);
  expect([...new Set(tiles.map(({ columns }) => columns.join('-')))]).toEqual(['0-256', '256-512', '512-768', '768-1000']);
  expect(tiles).toHaveLength(12);
});

test('few tiles are fetched at a time, and those out of sight are aborted', async () => {
  const { asked, map } = source();
  const pyramid = new TilePyramid(() => undefined, () => undefined);
  pyramid.setSource(map);
  pyramid.want(tilesOf(wholeView(1000, 1000), { rowLevel: 0, columnLevel: 0 }, 1000, 1000));
  expect(asked).toHaveLength(MOST_IN_FLIGHT);
  pyramid.want([square(0, 7, 7)]);
  expect(asked.map(({ signal }) => signal.aborted)).toEqual([true, true]);
  await turn();
  expect(asked).toHaveLength(3);
  expect(asked[2]!.request.rows).toEqual([896, 1000]);
});

test('a tile is kept and given to the drawing, and asked for once', async () => {
  const { asked, map } = source();
  let changes = 0;
  const pyramid = new TilePyramid(() => changes++, () => undefined);
  pyramid.setSource(map);
  pyramid.want([square(1, 0, 1)]);
  asked[0]!.answer(tileOf(7));
  await pyramid.settled();
  expect(changes).toBe(1);
  expect(pyramid.get(square(1, 0, 1))?.peak[0]).toBe(7);
  pyramid.want([square(1, 0, 1)]);
  expect(asked).toHaveLength(1);
});

test('other weights make all tiles old, the same weights keep them', async () => {
  const { asked, map } = source();
  const pyramid = new TilePyramid(() => undefined, () => undefined);
  pyramid.setSource(map);
  pyramid.want([square(0, 0, 0)]);
  asked[0]!.answer(tileOf(1));
  await pyramid.settled();
  pyramid.setSource({ ...map });
  expect(pyramid.get(square(0, 0, 0))).toBeDefined();
  pyramid.setSource({ ...map, version: 'b' });
  expect(pyramid.get(square(0, 0, 0))).toBeUndefined();
});

test('a failure is reported once, settles, and is not retried by looking again', async () => {
  const { asked, map } = source();
  const errors: string[] = [];
  const pyramid = new TilePyramid(() => undefined, ({ message }) => errors.push(message));
  pyramid.setSource(map);
  pyramid.want([square(0, 0, 0)]);
  asked[0]!.fail(new Error('no memory'));
  await pyramid.settled();
  pyramid.want([square(0, 0, 0)]);
  await turn();
  expect(errors).toEqual(['no memory']);
  expect(asked).toHaveLength(1);
});

test('old tiles make room for new ones', async () => {
  const { map } = source('a', 1e6, 1e6);
  const pyramid = new TilePyramid(() => undefined, () => undefined);
  pyramid.setSource({ ...map, fetchTile: () => Promise.resolve(tileOf(1)) });
  for (let x = 0; x < 300; x++) {
    pyramid.want([square(0, 0, x)]);
    await pyramid.settled();
  }
  expect(pyramid.get(square(0, 0, 0))).toBeUndefined();
  expect(pyramid.get(square(0, 0, 299))).toBeDefined();
});

test('a view of more tiles than are kept otherwise still settles, each tile fetched once', async () => {
  const side = 20, entries = side * TILE_CELLS;
  expect(side * side).toBeGreaterThan(MOST_KEPT);
  let asked = 0;
  const pyramid = new TilePyramid(() => undefined, () => undefined);
  pyramid.setSource({ rows: entries, columns: entries, head: 0, version: 'a', fetchTile: () => Promise.resolve(tileOf(asked++)) });
  const tiles = tilesOf(wholeView(entries, entries), { rowLevel: 0, columnLevel: 0 }, entries, entries);
  pyramid.want(tiles);
  await pyramid.settled();
  expect(asked).toBe(side * side);
  expect(tiles.every((tile) => pyramid.get(tile) !== undefined)).toBe(true);
});

test('while a tile is on its way, every tile here that shows a part of the view is offered, the coarsest first', async () => {
  const { map } = source();
  const pyramid = new TilePyramid(() => undefined, () => undefined);
  pyramid.setSource({ ...map, fetchTile: () => Promise.resolve(tileOf(1)) });
  for (const tile of [square(0, 0, 1), square(3, 0, 0), square(1, 0, 0), square(0, 6, 6)]) {
    pyramid.want([tile]);
    await pyramid.settled();
  }
  expect(pyramid.overlapping({ rows: [0, 100], columns: [100, 200] })).toEqual([square(3, 0, 0), square(1, 0, 0), square(0, 0, 1)]);
});

test('a new fetchTile for the same weights tries again what another part of the page interrupted', async () => {
  const { asked, map } = source();
  const pyramid = new TilePyramid(() => undefined, () => undefined);
  pyramid.setSource(map);
  pyramid.want([square(0, 0, 0)]);
  asked[0]!.fail(new Error('superseded'));
  await pyramid.settled();
  pyramid.setSource({ ...map, fetchTile: () => Promise.resolve(tileOf(5)) });
  pyramid.want([square(0, 0, 0)]);
  await pyramid.settled();
  expect(pyramid.get(square(0, 0, 0))?.peak[0]).toBe(5);
});

test('answers of former weights that arrive late are not kept', async () => {
  const { asked, map } = source();
  const pyramid = new TilePyramid(() => undefined, () => undefined);
  const late = { ...map, fetchTile: (request: TileRequest) => new Promise<Tile>((answer, fail) => asked.push({ request, signal: new AbortController().signal, answer, fail })) };
  pyramid.setSource(late);
  pyramid.want([square(0, 0, 0)]);
  pyramid.setSource({ ...late, version: 'b' });
  asked[0]!.answer(tileOf(1));
  await turn();
  expect(pyramid.get(square(0, 0, 0))).toBeUndefined();
});

test('disposing aborts what is under way and keeps nobody waiting', async () => {
  const { asked, map } = source();
  const pyramid = new TilePyramid(() => undefined, () => undefined);
  pyramid.setSource(map);
  pyramid.want([square(0, 0, 0)]);
  const settled = pyramid.settled();
  pyramid.dispose();
  await settled;
  expect(asked[0]!.signal.aborted).toBe(true);
});

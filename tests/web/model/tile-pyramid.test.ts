import { expect, test } from 'vitest';
import type { Tile, TileRequest } from '../../../web/src/core/types.ts';
import { levelFor, requestOf, TilePyramid, tilesOf } from '../../../web/src/model/tile-pyramid.ts';
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

const turn = () => new Promise((resolve) => setTimeout(resolve));

test('cells are never smaller than a pixel and never larger than two when zoomed out', () => {
  for (const rows of [10, 300, 301, 5000, 10_000, 1_000_000]) {
    const cell = 2 ** levelFor(wholeView(rows, rows), 300, 300);
    expect(rows / cell).toBeLessThanOrEqual(300);
    if (cell > 1) expect(rows / cell).toBeGreaterThan(150);
  }
});

test('the tiles of a view cover it without gaps or overlaps, whatever the edges', () => {
  const tiles = tilesOf({ rows: [100, 700.5], columns: [0, 1000] }, 1, 700, 1000).map((tile) => requestOf(tile, { rows: 700, columns: 1000, head: 0 }));
  expect([...new Set(tiles.map(({ rows }) => rows.join('-')))]).toEqual(['0-256', '256-512', '512-700']);
  expect([...new Set(tiles.map(({ columns }) => columns.join('-')))]).toEqual(['0-256', '256-512', '512-768', '768-1000']);
  expect(tiles).toHaveLength(12);
});

test('few tiles are fetched at a time, and those out of sight are aborted', async () => {
  const { asked, map } = source();
  const pyramid = new TilePyramid(() => undefined, () => undefined);
  pyramid.setSource(map);
  pyramid.want(tilesOf(wholeView(1000, 1000), 0, 1000, 1000));
  expect(asked).toHaveLength(2);
  pyramid.want([{ level: 0, y: 7, x: 7 }]);
  expect(asked.map(({ signal }) => signal.aborted)).toEqual([true, true]);
  await turn();
  expect(asked).toHaveLength(3);
  expect(asked[2]!.request.rows).toEqual([896, 1000]);
});

test('a tile is kept and given to the drawing, and a coarser one stands in until then', async () => {
  const { asked, map } = source();
  let changes = 0;
  const pyramid = new TilePyramid(() => changes++, () => undefined);
  pyramid.setSource(map);
  pyramid.want([{ level: 1, y: 0, x: 1 }]);
  asked[0]!.answer(tileOf(7));
  await pyramid.settled();
  expect(changes).toBe(1);
  expect(pyramid.get({ level: 1, y: 0, x: 1 })?.peak[0]).toBe(7);
  expect(pyramid.ancestor({ level: 0, y: 1, x: 3 })).toEqual({ level: 1, y: 0, x: 1 });
  expect(pyramid.ancestor({ level: 0, y: 1, x: 0 })).toBeUndefined();
  pyramid.want([{ level: 1, y: 0, x: 1 }]);
  expect(asked).toHaveLength(1);
});

test('other weights make all tiles old, the same weights keep them', async () => {
  const { asked, map } = source();
  const pyramid = new TilePyramid(() => undefined, () => undefined);
  pyramid.setSource(map);
  pyramid.want([{ level: 0, y: 0, x: 0 }]);
  asked[0]!.answer(tileOf(1));
  await pyramid.settled();
  pyramid.setSource({ ...map });
  expect(pyramid.get({ level: 0, y: 0, x: 0 })).toBeDefined();
  pyramid.setSource({ ...map, version: 'b' });
  expect(pyramid.get({ level: 0, y: 0, x: 0 })).toBeUndefined();
});

test('a failure is reported once, settles, and is not retried until the weights change', async () => {
  const { asked, map } = source();
  const errors: string[] = [];
  const pyramid = new TilePyramid(() => undefined, ({ message }) => errors.push(message));
  pyramid.setSource(map);
  pyramid.want([{ level: 0, y: 0, x: 0 }]);
  asked[0]!.fail(new Error('no memory'));
  await pyramid.settled();
  pyramid.want([{ level: 0, y: 0, x: 0 }]);
  await turn();
  expect(errors).toEqual(['no memory']);
  expect(asked).toHaveLength(1);
});

test('old tiles make room for new ones', async () => {
  const { map } = source('a', 1e6, 1e6);
  const pyramid = new TilePyramid(() => undefined, () => undefined);
  pyramid.setSource({ ...map, fetchTile: () => Promise.resolve(tileOf(1)) });
  for (let x = 0; x < 300; x++) {
    pyramid.want([{ level: 0, y: 0, x }]);
    await pyramid.settled();
  }
  expect(pyramid.get({ level: 0, y: 0, x: 0 })).toBeUndefined();
  expect(pyramid.get({ level: 0, y: 0, x: 299 })).toBeDefined();
});

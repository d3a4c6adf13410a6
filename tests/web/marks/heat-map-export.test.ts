// @vitest-environment happy-dom
import { expect, test } from 'vitest';
import type { Tile } from '../../../web/src/core/types.ts';
import { cellsIn, csvOf, svgOf } from '../../../web/src/marks/heat-map-export.ts';
import type { ShownCell, SvgParts } from '../../../web/src/marks/heat-map-export.ts';
import { layoutOf } from '../../../web/src/marks/heat-map-layout.ts';
import { svgElement } from '../../../web/src/marks/svg.ts';
import { colorOf } from '../../../web/src/model/color-scale.ts';
import type { ColorScale } from '../../../web/src/model/color-scale.ts';

/** 3 x 2 cells of 4 x 4 entries over rows 8..19 and columns 0..7, the last row of cells cut at 18. */
const tile: Tile = { cellRows: 3, cellColumns: 2, peak: Float32Array.of(1, 2, 3, 4, 5, 6), mean: Float32Array.of(0.5, 1, 1.5, 2, 2.5, 3) };
const request = { rows: [8, 18], columns: [0, 8], rowsPerCell: 4, columnsPerCell: 4 } as const;

test('the cells that a view touches are those exported, cut where the map ends', () => {
  const cells = cellsIn(tile, request, { rows: [11.5, 30], columns: [4, 8] });
  expect(cells).toEqual([
    { rows: [8, 12], columns: [4, 8], peak: 2, mean: 1 },
    { rows: [12, 16], columns: [4, 8], peak: 4, mean: 2 },
    { rows: [16, 18], columns: [4, 8], peak: 6, mean: 3 },
  ]);
});

test('a line of the CSV says which queries and keys a cell covers, with their tokens quoted', () => {
  const cells = cellsIn(tile, request, { rows: [16, 18], columns: [0, 4] });
  const csv = csvOf(cells, { rowLabel: (i) => `q,${i}`, columnLabel: (j) => `"k${j}"` });
  expect(csv).toBe('query,queries in cell,query token,key,keys in cell,key token,peak,mean\r\n16,2,"q,16",0,4,"""k0""",5,2.5\r\n');
});

const scale: ColorScale = { kind: 'sequential', transform: 'linear', domain: [0, 1] };

function parts(cells: readonly ShownCell[]): SvgParts {
  const canvas = document.createElement('canvas');
  // This environment does not draw.
  canvas.toDataURL = () => 'data:image/png;base64,cells';
  return {
    label: 'Exact & whole', scale, theme: 'light', reduction: 'peak', layout: layoutOf(300, 300),
    view: { rows: [0, 60], columns: [0, 60] }, level: { rowsPerCell: 2, columnsPerCell: 4 }, cells,
    color: colorOf(scale, 'light'), canvas, axes: [svgElement(document, 'g', { id: 'rows' })], marks: [], ink: '#000000', paper: '#ffffff',
  };
}

const cellsOf = (count: number): ShownCell[] => Array.from({ length: count }, (_, i) => ({ rows: [i % 60, (i % 60) + 1], columns: [Math.floor(i / 60), Math.floor(i / 60) + 1], peak: (i % 10) / 10, mean: 0 }));

test('few cells are rectangles of their colours, with title, axes and what a cell covers', () => {
  const svg = svgOf(document, parts(cellsOf(20)));
  const [r, g, b] = colorOf(scale, 'light')(0.9);
  expect(svg).toMatch(/^<svg[^>]*xmlns="http:\/\/www.w3.org\/2000\/svg"/);
  const [cells] = svg.split('</svg>');
  expect(cells!.split(`fill="rgb(${r},${g},${b})"`)).toHaveLength(3);
  expect(svg).toContain('Exact &amp; whole');
  expect(svg).toContain('id="rows"');
  expect(svg).toContain('weight, peak of 2 × 4 a cell');
  expect(svg).not.toContain('<image');
});

test('many cells are one image', () => {
  const svg = svgOf(document, parts(cellsOf(3000)));
  expect(svg).toContain('href="data:image/png;base64,cells"');
  expect(svg.length).toBeLessThan(50_000);
});

// @vitest-environment happy-dom
import { expect, test } from 'vitest';
import type { CellArithmetic } from '../../../web/src/core/types.ts';
import { cellArithmetic } from '../../../web/src/marks/cell-arithmetic.ts';
import type { CellArithmeticState } from '../../../web/src/marks/cell-arithmetic.ts';

const share = { logsumexp: Math.log(4), weight: 0.5, rank: 1, contribution: Float32Array.of(0.5, -1), context: Float32Array.of(1, -2) };
const met: CellArithmetic = {
  products: Float32Array.of(1, 2, -1), dot: 2, scaled: 1, capped: 1, logit: Math.log(2), hiddenBy: 'nothing',
  exact: share, lsh: { ...share, logsumexp: Math.log(2), weight: 1, candidate: true, round: 2 },
};

function show(arithmetic: CellArithmetic, more: Partial<CellArithmeticState> = {}): HTMLElement {
  const host = document.createElement('div');
  cellArithmetic(host).update({ arithmetic, query: 3, key: 7, queryLabel: 'cat', keyLabel: 'sat', scale: 0.5, softCap: 0, theme: 'light', ...more });
  return host;
}

const columnOf = (host: HTMLElement, title: string) => [...host.querySelectorAll('section')].find((section) => section.querySelector('.title')?.textContent === title)!.textContent;

test('shows the way from the products to the weight with all numbers', () => {
  const host = show(met);
  const steps = [...host.querySelectorAll('ol li')].map((step) => step.textContent);
  expect(steps[0]).toContain('q · k = sum of 3 products = 2');
  expect(steps[1]).toBe('× scale 0.5 = 1');
  expect(steps[2]).toBe('+ bias = 0.69315');
  expect(steps).toHaveLength(3);
  expect(columnOf(host, 'Exact')).toContain('weight = exp(0.69315 − 1.3863) = 0.5');
  expect(columnOf(host, 'LSH')).toContain('weight = exp(0.69315 − 0.69315) = 1');
});

test('shows the soft cap only where there is one', () => {
  const capped = { ...met, capped: 0.9, logit: 0.9 };
  expect(show(capped, { softCap: 2 }).textContent).toContain('soft cap: 2 · tanh(1 / 2) = 0.9');
  expect(show(met).textContent).not.toContain('soft cap');
});

test('counts rounds from one', () => expect(columnOf(show(met), 'LSH')).toContain('first met in round 3'));

test('says plainly that LSH dropped a pair, and what its weight would have been made of', () => {
  const text = columnOf(show({ ...met, lsh: { ...met.lsh, weight: 0, candidate: false, round: -1 } }), 'LSH');
  expect(text).toContain('met in no round: LSH dropped this pair');
  expect(text).toContain('not among them: weight 0 instead of exp(');
});

test('a query that hashing leaves without any key has no infinite weight', () => {
  const text = columnOf(show({ ...met, lsh: { ...met.lsh, logsumexp: Number.NEGATIVE_INFINITY, weight: 0, candidate: false, round: -1 } }), 'LSH');
  expect(text).toContain('sees no key at all');
  expect(text).not.toContain('Infinity');
});

test.each([['causal', 'after the query'], ['window', 'outside the window'], ['keyMask', 'position is hidden'], ['mask', 'the mask hides'], ['bias', 'minus infinity'], ['self', 'sees itself only']] as const)(
  'names %s as what hides a pair', (hiddenBy, words) => {
    const host = show({ ...met, hiddenBy, logit: Number.NEGATIVE_INFINITY });
    expect(host.textContent).toContain(words);
    expect(columnOf(host, 'LSH')).toContain('Hidden from both');
  });

test('the share of the context has the scale of the whole context', () => {
  const [contribution, context] = [...show(met).querySelectorAll('section:first-of-type svg')].map((svg) => [...svg.querySelectorAll('rect')].map((bar) => Number(bar.getAttribute('height'))));
  expect(contribution![1]! / context![1]!).toBeCloseTo(0.5);
});

test('tokens are isolated from the direction of the sentence, and white space shows', () => {
  const host = show(met, { queryLabel: 'שלום', keyLabel: ' \n' });
  expect([...host.querySelectorAll('.title bdi')].map((token) => token.textContent)).toEqual(['שלום', '␣⏎']);
});

test('null empties the host', () => {
  const host = document.createElement('div');
  const mark = cellArithmetic(host);
  mark.update({ arithmetic: met, query: 0, key: 0, queryLabel: '', keyLabel: '', scale: 1, softCap: 0, theme: 'dark' });
  mark.update(null);
  expect(host.childNodes).toHaveLength(0);
});

// @vitest-environment happy-dom
import { expect, test } from 'vitest';
import { barStrip, mostOf } from '../../../web/src/marks/bar-strip.ts';
import { drawColorBar } from '../../../web/src/marks/color-bar.ts';
import { shareBar } from '../../../web/src/marks/share-bar.ts';
import { drawTokenAxis, svgElement } from '../../../web/src/marks/svg.ts';
import type { ColorScale } from '../../../web/src/model/color-scale.ts';

const numberOf = (element: Element, name: string) => Number(element.getAttribute(name));

test('bars of a vector stand above and below the middle, as long as their numbers', () => {
  const svg = barStrip(document, { values: [2, -1, 0], most: 2, color: 'red', label: 'Products' });
  const [up, down, none] = [...svg.querySelectorAll('rect')].map((bar) => [numberOf(bar, 'y'), numberOf(bar, 'height')]);
  expect(up).toEqual([0, 18]);
  expect(down).toEqual([18, 9]);
  expect(none).toEqual([18, 0]);
  expect(svg.getAttribute('aria-label')).toBe('Products, 3 entries from −1 to 2');
  expect(mostOf([1, -3], [2])).toBe(3);
});

test('a share fills its part of the bar, and a bound is marked where it lies', () => {
  const svg = shareBar(document, { value: 0.25, most: 1, bound: 0.5, color: 'red', label: 'a quarter' });
  expect(numberOf(svg.querySelector('.share')!, 'width')).toBe(30);
  expect(numberOf(svg.querySelector('.bound')!, 'x1')).toBe(60);
  expect(svg.querySelector('.beyond')).toBeNull();
  expect(svg.getAttribute('aria-label')).toBe('a quarter');
});

test('what exceeds a bar says so, and a bound beyond it is not drawn at a wrong place', () => {
  const svg = shareBar(document, { value: 2, most: 1, bound: 3, color: 'red', label: '' });
  expect(numberOf(svg.querySelector('.share')!, 'width')).toBe(120);
  expect(svg.querySelector('.beyond')).not.toBeNull();
  expect(svg.querySelector('.bound')).toBeNull();
  expect(numberOf(shareBar(document, { value: 0, most: 0, color: 'red', label: '' }).querySelector('.share')!, 'width')).toBe(0);
});

function legend(scale: ColorScale): { texts: string[]; ticks: number[] } {
  const group = svgElement(document, 'g');
  drawColorBar(group, { scale, theme: 'light', width: 200, caption: 'weight' });
  return {
    texts: [...group.querySelectorAll('text')].map((text) => text.textContent),
    ticks: [...group.querySelectorAll('.tick')].map((tick) => Number(/translate\(([-\d.]+)/.exec(tick.getAttribute('transform')!)![1])),
  };
}

test('a logarithmic bar has its decades at equal distances, its caption, and what none looks like', () => {
  const { texts, ticks } = legend({ kind: 'sequential', transform: 'log', domain: [1e-4, 1] });
  expect(texts).toEqual(['0.0001', '0.001', '0.01', '0.1', '1', 'weight', 'none']);
  for (let i = 0; i < 5; i++) expect(ticks[i]! - ticks[0]!).toBeCloseTo(i * 50);
});

test('a bar of differences has zero in its middle and the same numbers on both sides', () => {
  for (const transform of ['linear', 'log'] as const) {
    const { texts, ticks } = legend({ kind: 'diverging', transform, domain: [-0.2, 0.2] });
    const numbers = texts.slice(0, ticks.length);
    // The axis stands on half pixels.
    expect(ticks[numbers.indexOf('0')]).toBeCloseTo(100.5);
    expect(numbers.map((text) => text.replace('−', ''))).toEqual([...numbers].reverse().map((text) => text.replace('−', '')));
    expect(texts).not.toContain('none');
  }
});

function axisTexts(range: readonly [number, number], label: (i: number) => string): string[] {
  const group = svgElement(document, 'g');
  drawTokenAxis(group, { side: 'left', range, pixels: 240, label, most: 48, widthOf: (text) => 6 * [...text.replace(/[\u2068\u2069]/g, '')].length, ink: 'black' });
  return [...group.querySelectorAll('text')].map((text) => text.textContent);
}

test('a roomy axis names each token, cut to the room', () => {
  expect(axisTexts([0, 3], (i) => ['cat', 'incomprehensible', 'שלום'][i]!)).toEqual(['cat', 'incompr…', 'שלום']);
});

test('a dense axis names positions and what fits of the token, isolated so that numbers stay first', () => {
  const texts = axisTexts([0, 10_000], (i) => (i === 0 ? 'שלום' : 'token'));
  expect(texts.length).toBeLessThanOrEqual(20);
  expect(texts[0]).toBe('0 \u2068שלום\u2069');
  expect(texts[1]).toBe('500 \u2068tok…\u2069');
});

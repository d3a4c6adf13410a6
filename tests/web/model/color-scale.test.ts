import { describe, expect, test } from 'vitest';
import { colorAt, colorOf, positionOf } from '../../../web/src/model/color-scale.ts';
import type { ColorScale, Rgb } from '../../../web/src/model/color-scale.ts';

/** Relative luminance (WCAG 2.2). */
function luminance(color: Rgb): number {
  const [r, g, b] = color.map((x) => (x / 255 <= 0.04045 ? x / 255 / 12.92 : ((x / 255 + 0.055) / 1.055) ** 2.4)) as [number, number, number];
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
}

const steps = Array.from({ length: 65 }, (_, i) => i / 64);

describe.each(['light', 'dark'] as const)('on a %s page', (theme) => {
  test('more attention is always darker, or always brighter, so that hue is not needed to read it', () => {
    const values = steps.map((t) => luminance(colorAt('sequential', theme)(t)));
    const sign = theme === 'light' ? -1 : 1;
    for (let i = 1; i < values.length; i++) expect(sign * (values[i]! - values[i - 1]!)).toBeGreaterThan(-0.004);
    expect(Math.abs(values[64]! - values[0]!)).toBeGreaterThan(0.5);
  });

  test('a difference moves away from the middle in lightness on both sides', () => {
    const color = colorAt('diverging', theme);
    const middle = luminance(color(0.5));
    const sign = theme === 'light' ? -1 : 1;
    for (const [near, far] of [[0.4, 0.1], [0.6, 0.9]] as const) {
      expect(sign * (luminance(color(near)) - middle)).toBeGreaterThan(0);
      expect(sign * (luminance(color(far)) - luminance(color(near)))).toBeGreaterThan(0);
    }
  });

  test('less is purple and more is orange, which the common colour-vision deficiencies tell apart by blue', () => {
    const [, , lessBlue] = colorAt('diverging', theme)(0.1);
    const [, , moreBlue] = colorAt('diverging', theme)(0.9);
    expect(lessBlue - moreBlue).toBeGreaterThan(80);
  });

  test('no attention has a colour of its own', () => {
    const scale: ColorScale = { kind: 'sequential', transform: 'log', domain: [1e-4, 1] };
    expect(colorOf(scale, theme)(0)).not.toEqual(colorOf(scale, theme)(1e-4));
    expect(colorOf(scale, theme)(1e-9)).toEqual(colorOf(scale, theme)(1e-4));
  });
});

test('positions are linear, logarithmic, or symmetric about zero', () => {
  const position = (kind: ColorScale['kind'], transform: ColorScale['transform'], domain: readonly [number, number], value: number) => positionOf({ kind, transform, domain })(value);
  expect(position('sequential', 'linear', [0, 0.5], 0.25)).toBeCloseTo(0.5);
  expect(position('sequential', 'log', [1e-4, 1], 1e-2)).toBeCloseTo(0.5);
  expect(position('sequential', 'linear', [0, 1], 7)).toBe(1);
  expect(position('diverging', 'linear', [-2, 2], -1)).toBeCloseTo(0.25);
  expect(position('diverging', 'log', [-1, 1], 1e-2)).toBeCloseTo(0.75);
  expect(position('diverging', 'log', [-1, 1], -1e-2)).toBeCloseTo(0.25);
  expect(position('diverging', 'log', [-1, 1], 1e-9)).toBe(0.5);
  expect(position('diverging', 'log', [-1, 1], 0)).toBe(0.5);
});

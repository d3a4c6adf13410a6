// Colours of weights and differences: colour-blind safe, monotone in lightness, for both themes.

import { rgb } from 'd3-color';
import { interpolateLab } from 'd3-interpolate';
import { interpolateMagma, interpolatePuOr, interpolateYlGnBu } from 'd3-scale-chromatic';

export type Transform = 'linear' | 'log';
export type Theme = 'light' | 'dark';

/**
 * Sequential: domain [low, high]; with log, low > 0, and values at or below 0 are "no attention".
 * Diverging: domain [-high, high]; with log, magnitudes below high / 1e4 are the middle.
 */
export interface ColorScale {
  readonly kind: 'sequential' | 'diverging';
  readonly transform: Transform;
  readonly domain: readonly [number, number];
}

export type Rgb = readonly [r: number, g: number, b: number];

/** Decades that a logarithmic diverging scale shows on each side. */
export const DIVERGING_DECADES = 4;

const NO_ATTENTION: Readonly<Record<Theme, Rgb>> = { light: [244, 243, 238], dark: [32, 35, 40] };

/** On a dark page the middle of a diverging scale is dark and its ends are bright. */
const darkNegative = interpolateLab('#202328', '#b9a7f0');
const darkPositive = interpolateLab('#202328', '#ffb35c');

const palettes: Readonly<Record<ColorScale['kind'], Readonly<Record<Theme, (t: number) => string>>>> = {
  sequential: {
    light: interpolateYlGnBu,
    dark: (t) => interpolateMagma(0.08 + 0.92 * t),
  },
  diverging: {
    // Purple for less, orange for more.
    light: interpolatePuOr,
    dark: (t) => (t < 0.5 ? darkNegative(1 - 2 * t) : darkPositive(2 * t - 1)),
  },
};

/** Where a value lies on the scale, 0 to 1. */
export function positionOf({ kind, transform, domain: [low, high] }: ColorScale): (value: number) => number {
  const clamp = (t: number) => Math.min(1, Math.max(0, t));
  if (kind === 'sequential') {
    return transform === 'linear'
      ? (value) => clamp((value - low) / (high - low))
      : (value) => clamp(Math.log(value / low) / Math.log(high / low));
  }
  if (transform === 'linear') return (value) => clamp((value / high + 1) / 2);
  return (value) => {
    const decades = Math.log10(Math.abs(value) / high) + DIVERGING_DECADES;
    return value === 0 ? 0.5 : clamp(0.5 + (Math.sign(value) * Math.max(0, decades)) / DIVERGING_DECADES / 2);
  };
}

/** The colour at a position, 0 to 1. */
export function colorAt(kind: ColorScale['kind'], theme: Theme): (t: number) => Rgb {
  const palette = palettes[kind][theme];
  return (t) => {
    const { r, g, b } = rgb(palette(t));
    return [Math.round(r), Math.round(g), Math.round(b)];
  };
}

const TABLE_STEPS = 1023;
const tables = new Map<string, readonly Rgb[]>();

/** The palette in 1024 steps; made once, since every tile of every map needs it. */
function tableOf(kind: ColorScale['kind'], theme: Theme): readonly Rgb[] {
  const key = `${kind} ${theme}`;
  const at = colorAt(kind, theme);
  const table = tables.get(key) ?? Array.from({ length: TABLE_STEPS + 1 }, (_, i) => at(i / TABLE_STEPS));
  tables.set(key, table);
  return table;
}

/** The colour of a value. */
export function colorOf(scale: ColorScale, theme: Theme): (value: number) => Rgb {
  const table = tableOf(scale.kind, theme);
  const position = positionOf(scale);
  const none = NO_ATTENTION[theme];
  return (value) => (scale.kind === 'sequential' && value <= 0 ? none : table[Math.round(position(value) * TABLE_STEPS)]!);
}

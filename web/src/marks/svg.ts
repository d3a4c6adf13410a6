// The few steps of SVG drawing that the marks share.

import { axisLeft, axisTop } from 'd3-axis';
import { scaleLinear } from 'd3-scale';
import { select } from 'd3-selection';
import type { Theme } from '../model/color-scale.ts';
import { labelledIndices, shortLabel } from '../model/labels.ts';

export const SVG_NAMESPACE = 'http://www.w3.org/2000/svg';
export const FONT = 'system-ui, "Noto Sans", "DejaVu Sans", sans-serif';
export const FONT_SIZE = 10;
/** Of text and ticks. */
export const TEXT_INK: Readonly<Record<Theme, string>> = { light: '#3f444b', dark: '#c9c7c1' };

export function svgElement<K extends keyof SVGElementTagNameMap>(document: Document, name: K, attributes: Readonly<Record<string, string | number>> = {}): SVGElementTagNameMap[K] {
  const element = document.createElementNS(SVG_NAMESPACE, name);
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, String(value));
  return element;
}

export interface TokenAxis {
  readonly side: 'left' | 'top';
  readonly range: readonly [number, number];
  readonly pixels: number;
  readonly label: (i: number) => string;
  /** Pixels a label may be long. */
  readonly most: number;
  readonly widthOf: (text: string) => number;
  readonly ink: string;
}

/** Measures text in the font of the axes. */
export function textMeasure(document: Document): (text: string) => number {
  const context = document.createElement('canvas').getContext('2d')!;
  context.font = `${FONT_SIZE}px ${FONT}`;
  return (text) => context.measureText(text).width;
}

/** A position and as much of its token as fits; isolated, so that a token written from right to left stays behind its number. */
function numberedLabel(i: number, label: string, { most, widthOf }: TokenAxis): string {
  const token = shortLabel(label, most - widthOf(`${i} `), widthOf);
  return token === '' || token === '…' ? String(i) : `${i} \u2068${token}\u2069`;
}

/** Draws an axis of tokens into a group. Roomy axes show tokens, dense ones every so many with its position. */
export function drawTokenAxis(group: SVGGElement, options: TokenAxis): void {
  const { side, range, pixels, label, most, widthOf, ink } = options;
  const { step, indices } = labelledIndices(range, pixels, FONT_SIZE + 2);
  const text = (i: number) => (step === 1 ? shortLabel(label(i), most, widthOf) : numberedLabel(i, label(i), options));
  const scale = scaleLinear(range, [0, pixels]);
  // Ticks stand at the middle of an entry.
  const axis = (side === 'left' ? axisLeft(scale) : axisTop(scale)).tickValues(indices.map((i) => i + 0.5)).tickFormat((at) => text(Math.floor(Number(at)))).tickSize(3);
  const root = select(group);
  root.call(axis).attr('font-family', FONT).attr('font-size', FONT_SIZE).attr('color', ink);
  root.select('.domain').remove();
  root.selectAll('text').attr('unicode-bidi', 'plaintext');
  if (side === 'top') root.selectAll('text').attr('transform', 'rotate(-90)').attr('text-anchor', 'start').attr('x', 6).attr('y', 0).attr('dy', '0.32em');
}

// The few steps of SVG drawing that the marks share.

import { axisLeft, axisTop } from 'd3-axis';
import { scaleLinear } from 'd3-scale';
import { select } from 'd3-selection';
import { labelledIndices, shortLabel } from '../model/labels.ts';

export const SVG_NAMESPACE = 'http://www.w3.org/2000/svg';
export const FONT = 'system-ui, "Noto Sans", "DejaVu Sans", sans-serif';
export const FONT_SIZE = 10;

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
  /** Characters a label may have. */
  readonly most: number;
  readonly ink: string;
}

/** Draws an axis of tokens into a group. Dense axes count positions, roomy ones show tokens. */
export function drawTokenAxis(group: SVGGElement, { side, range, pixels, label, most, ink }: TokenAxis): void {
  const { step, indices } = labelledIndices(range, pixels, FONT_SIZE + 2);
  // Every position labelled: the token itself. Some: where it is, and the token if there is room.
  const text = (i: number) => (step === 1 ? shortLabel(label(i), most) : `${i} ${shortLabel(label(i), Math.max(1, most - String(i).length - 1))}`.trim());
  const scale = scaleLinear(range, [0, pixels]);
  // Ticks stand at the middle of an entry.
  const axis = (side === 'left' ? axisLeft(scale) : axisTop(scale)).tickValues(indices.map((i) => i + 0.5)).tickFormat((at) => text(Math.floor(Number(at)))).tickSize(3);
  const root = select(group);
  root.call(axis).attr('font-family', FONT).attr('font-size', FONT_SIZE).attr('color', ink);
  root.select('.domain').remove();
  root.selectAll('text').attr('unicode-bidi', 'plaintext');
  if (side === 'top') root.selectAll('text').attr('transform', 'rotate(-90)').attr('text-anchor', 'start').attr('x', 6).attr('y', 0).attr('dy', '0.32em');
}

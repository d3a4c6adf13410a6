// A row of small signed bars: the entries of a vector at a glance.

import { format } from 'd3-format';
import { svgElement } from './svg.ts';

const short = format('.3~g');

export interface BarStripState {
  readonly values: ArrayLike<number>;
  /** The magnitude that fills half the height; shared by strips to be compared. */
  readonly most: number;
  readonly color: string;
  readonly label: string;
}

/** An SVG of the bars, as wide as its container. */
export function barStrip(document: Document, { values, most, color, label }: BarStripState): SVGSVGElement {
  const [width, height] = [Math.max(1, values.length), 36];
  const svg = svgElement(document, 'svg', { viewBox: `0 0 ${width} ${height}`, preserveAspectRatio: 'none', role: 'img', 'aria-label': `${label}, ${values.length} entries from ${short(Math.min(...Array.from(values)))} to ${short(Math.max(...Array.from(values)))}` });
  svg.style.cssText = `display:block;width:100%;height:${height}px`;
  svg.append(svgElement(document, 'line', { x1: 0, x2: width, y1: height / 2, y2: height / 2, stroke: color, 'stroke-opacity': 0.35, 'vector-effect': 'non-scaling-stroke' }));
  for (let i = 0; i < values.length; i++) {
    const bar = Math.min(1, Math.abs(values[i]!) / (most || 1)) * (height / 2);
    const rect = svgElement(document, 'rect', { x: i + 0.1, width: 0.8, y: values[i]! > 0 ? height / 2 - bar : height / 2, height: bar, fill: color });
    const title = svgElement(document, 'title');
    title.textContent = `${i}: ${short(values[i]!)}`;
    rect.append(title);
    svg.append(rect);
  }
  return svg;
}

/** The largest magnitude of several vectors. */
export function mostOf(...vectors: readonly ArrayLike<number>[]): number {
  return Math.max(...vectors.flatMap((vector) => Array.from(vector, Math.abs)), 0);
}

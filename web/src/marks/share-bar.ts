// A quantity as a small bar: how much of the most it can be, and a tick where a bound lies.

import { svgElement } from './svg.ts';

export interface ShareBarState {
  readonly value: number;
  /** What fills the bar; values beyond it fill it too, with an arrow at the end. */
  readonly most: number;
  /** A proven bound of the value, marked by a tick if it lies on the bar. */
  readonly bound?: number;
  readonly color: string;
  /** What a screen reader says; the numbers stand in the text beside the bar. */
  readonly label: string;
}

const WIDTH = 120;
const HEIGHT = 8;

/** An SVG of the bar, as wide as its container. */
export function shareBar(document: Document, { value, most, bound, color, label }: ShareBarState): SVGSVGElement {
  const svg = svgElement(document, 'svg', { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, preserveAspectRatio: 'none', role: 'img', 'aria-label': label });
  svg.style.cssText = `display:block;width:100%;height:${HEIGHT}px`;
  const share = most > 0 ? Math.min(1, Math.max(0, value / most)) : 0;
  svg.append(
    svgElement(document, 'rect', { x: 0, y: 2, width: WIDTH, height: 4, fill: color, 'fill-opacity': 0.18 }),
    svgElement(document, 'rect', { class: 'share', x: 0, y: 2, width: share * WIDTH, height: 4, fill: color }));
  if (value > most) svg.append(svgElement(document, 'path', { class: 'beyond', d: `M${WIDTH - 6},0L${WIDTH},${HEIGHT / 2}L${WIDTH - 6},${HEIGHT}Z`, fill: color }));
  if (bound !== undefined && bound <= most) {
    const x = (bound / most) * WIDTH;
    svg.append(svgElement(document, 'line', { class: 'bound', x1: x, x2: x, y1: 0, y2: HEIGHT, stroke: color, 'stroke-width': 1.5, 'vector-effect': 'non-scaling-stroke' }));
  }
  return svg;
}

// The legend of a colour scale: a bar of its colours, numbers below, what they measure.

import { axisBottom } from 'd3-axis';
import { format } from 'd3-format';
import { scaleLinear, scaleLog } from 'd3-scale';
import { select } from 'd3-selection';
import { colorAt, colorOf, DIVERGING_DECADES, positionOf } from '../model/color-scale.ts';
import type { ColorScale, Theme } from '../model/color-scale.ts';
import { FONT, FONT_SIZE, svgElement, TEXT_INK } from './svg.ts';

const BAR_HEIGHT = 9;
const STEPS = 96;
const short = format('.2~g');

export interface ColorBarState {
  readonly scale: ColorScale;
  readonly theme: Theme;
  readonly width: number;
  readonly caption: string;
}

/** Values worth a number on the scale. */
function tickValues({ kind, transform, domain: [low, high] }: ColorScale): number[] {
  if (transform === 'linear') return scaleLinear([low, high], [0, 1]).ticks(5);
  if (kind === 'sequential') return scaleLog([low, high], [0, 1]).ticks().filter((value) => Number.isInteger(Math.round(Math.log10(value) * 1e9) / 1e9));
  const decades = [high, high * 10 ** (-DIVERGING_DECADES / 2)];
  return [...decades.map((value) => -value), 0, ...decades.reverse()];
}

/** What a cell without any attention looks like, at the right of the caption. */
function noneKey(document: Document, scale: ColorScale, theme: Theme, width: number): SVGElement[] {
  const baseline = BAR_HEIGHT + 28;
  const word = svgElement(document, 'text', { x: width, y: baseline, 'text-anchor': 'end', 'font-family': FONT, 'font-size': FONT_SIZE + 1, fill: TEXT_INK[theme] });
  word.textContent = 'none';
  const square = svgElement(document, 'rect', { x: width - 40, y: baseline - 8.5, width: 9, height: 9, fill: `rgb(${colorOf(scale, theme)(0).join(',')})`, stroke: TEXT_INK[theme], 'stroke-opacity': 0.5, 'stroke-width': 0.75 });
  return [square, word];
}

/** Draws the bar into a group: 9 pixels of colour, an axis, and the caption, 40 pixels in all. */
export function drawColorBar(group: SVGGElement, { scale, theme, width, caption }: ColorBarState): void {
  const document = group.ownerDocument;
  const color = colorAt(scale.kind, theme);
  const steps = Array.from({ length: STEPS }, (_, i) =>
    // Half a pixel wider than a step, so that no gaps show.
    svgElement(document, 'rect', { x: (i * width) / STEPS, y: 0, width: width / STEPS + 0.5, height: BAR_HEIGHT, fill: `rgb(${color((i + 0.5) / STEPS).join(',')})` }));
  const axisGroup = svgElement(document, 'g', { transform: `translate(0,${BAR_HEIGHT})` });
  const position = positionOf(scale);
  const values = tickValues(scale);
  // An axis over positions whose ticks are named by their values: it serves every kind of scale.
  const axis = axisBottom(scaleLinear([0, 1], [0, width])).tickValues(values.map(position)).tickFormat((_, i) => short(values[i]!)).tickSize(4);
  select(axisGroup).call(axis).attr('font-family', FONT).attr('font-size', FONT_SIZE).attr('color', TEXT_INK[theme]).select('.domain').remove();
  // The outermost numbers stay inside.
  select(axisGroup).selectAll('text').attr('text-anchor', (_, i) => { const t = position(values[i]!); return t < 0.04 ? 'start' : t > 0.96 ? 'end' : 'middle'; });
  const text = svgElement(document, 'text', { x: 0, y: BAR_HEIGHT + 28, 'font-family': FONT, 'font-size': FONT_SIZE + 1, fill: TEXT_INK[theme] });
  text.textContent = caption;
  group.replaceChildren(...steps, axisGroup, text, ...(scale.kind === 'sequential' ? noneKey(document, scale, theme, width) : []));
}

/** A colour bar as wide as its host. */
export function colorBar(host: HTMLElement, scale: ColorScale, theme: Theme, caption: string): { update(scale: ColorScale, theme: Theme, caption: string): void; dispose(): void } {
  const document = host.ownerDocument;
  const svg = svgElement(document, 'svg', { role: 'img', height: BAR_HEIGHT + 32 });
  const group = svgElement(document, 'g');
  svg.append(group);
  svg.style.display = 'block';
  svg.style.width = '100%';
  host.append(svg);
  let state = { scale, theme, caption };
  const draw = () => {
    const { scale: { domain: [low, high] } } = state;
    svg.setAttribute('aria-label', `Colours of the ${state.caption}, from ${short(low)} to ${short(high)}, ${state.scale.transform}`);
    drawColorBar(group, { ...state, width: Math.max(1, host.clientWidth) });
  };
  const observer = new ResizeObserver(draw);
  observer.observe(host);
  draw();
  return {
    update(newScale, newTheme, newCaption) {
      state = { scale: newScale, theme: newTheme, caption: newCaption };
      draw();
    },
    dispose() {
      observer.disconnect();
      svg.remove();
    },
  };
}

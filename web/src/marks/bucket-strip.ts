// One round of hashing: keys in the order of the text and in the order of their buckets, cut into
// chunks, and what the hovered query may see in this round.

import { rgb } from 'd3-color';
import { interpolateViridis } from 'd3-scale-chromatic';
import type { LshStructure } from '../core/types.ts';
import type { Theme } from '../model/color-scale.ts';
import { FONT, FONT_SIZE, svgElement } from './svg.ts';

export interface BucketStripState {
  readonly structure: LshStructure;
  readonly buckets: number;
  readonly trueBuckets: boolean;
  /** The query whose candidates are marked, or null. */
  readonly query: number | null;
  readonly theme: Theme;
}

const STRIP_HEIGHT = 22;
const GAP = 44;
const inks: Readonly<Record<Theme, string>> = { light: '#1d2126', dark: '#e8e6e0' };

/** Neighbouring buckets get far colours: steps of the golden ratio through a scale of even lightness steps. */
function bucketColor(bucket: number, buckets: number): string {
  return bucket >= buckets ? '#808080' : interpolateViridis((bucket * 0.618034) % 1);
}

/** Sorted key positions [begin, end) that a query sees in the round; hidden keys come last and are never among them. */
export function windowOf({ structure: s, buckets, trueBuckets }: Pick<BucketStripState, 'structure' | 'buckets' | 'trueBuckets'>, query: number): readonly [number, number] {
  const bucketAt = (at: number) => s.keyBuckets[s.keyOrder[at]!]!;
  let visible = s.keyOrder.length;
  while (visible > 0 && bucketAt(visible - 1) === buckets) visible--;
  if (trueBuckets) {
    const bucket = s.queryBuckets[query]!;
    let begin = 0;
    while (begin < visible && bucketAt(begin) < bucket) begin++;
    let end = begin;
    while (end < visible && bucketAt(end) === bucket) end++;
    return [begin, end];
  }
  const own = Math.floor(s.queryOrder.indexOf(query) / s.queryChunk);
  return [Math.min(visible, Math.max(0, own - 1) * s.keyChunk), Math.min(visible, (own + 1) * s.keyChunk)];
}

function paint(canvas: HTMLCanvasElement, order: (position: number) => number, { structure, buckets }: BucketStripState): void {
  const length = structure.keyOrder.length;
  canvas.width = Math.max(1, length);
  canvas.height = 1;
  const image = new ImageData(Math.max(1, length), 1);
  const colors = Array.from({ length: buckets + 1 }, (_, bucket) => rgb(bucketColor(bucket, buckets)));
  for (let at = 0; at < length; at++) {
    const { r, g, b } = colors[structure.keyBuckets[order(at)]!]!;
    image.data.set([r, g, b, 255], 4 * at);
  }
  canvas.getContext('2d')!.putImageData(image, 0, 0);
}

/** Fills the host; null empties it. */
export function bucketStrip(host: HTMLElement): { update(state: BucketStripState | null): void } {
  const document = host.ownerDocument;
  const canvases = [document.createElement('canvas'), document.createElement('canvas')] as const;
  const svg = svgElement(document, 'svg', { role: 'img' });
  const height = 2 * STRIP_HEIGHT + GAP + 16;
  host.style.position = 'relative';
  host.style.minHeight = `${height}px`;
  canvases.forEach((canvas, i) => {
    canvas.style.cssText = `position:absolute;left:0;width:100%;height:${STRIP_HEIGHT}px;top:${16 + i * (STRIP_HEIGHT + GAP)}px;image-rendering:pixelated`;
  });
  svg.style.cssText = `position:absolute;inset:0;width:100%;height:${height}px;overflow:visible`;
  let state: BucketStripState | null = null;

  const draw = () => {
    if (state === null) {
      host.replaceChildren();
      return;
    }
    if (svg.parentNode !== host) host.replaceChildren(...canvases, svg);
    const { structure, trueBuckets, query, theme, buckets } = state;
    const chunk = structure.keyChunk;
    const ink = inks[theme];
    const length = structure.keyOrder.length, width = host.clientWidth;
    const x = (at: number) => (at / Math.max(1, length)) * width;
    const below = 16 + STRIP_HEIGHT + GAP;
    const text = (content: string, y: number) => {
      const label = svgElement(document, 'text', { x: 0, y, fill: ink, 'font-family': FONT, 'font-size': FONT_SIZE + 1 });
      label.textContent = content;
      return label;
    };
    const parts: SVGElement[] = [text('in the order of the text', 11), text('sorted by bucket, cut into chunks', below - 5)];
    if (!trueBuckets && length / chunk < width / 3) {
      for (let at = chunk; at < length; at += chunk) parts.push(svgElement(document, 'line', { x1: x(at), x2: x(at), y1: below, y2: below + STRIP_HEIGHT, stroke: theme === 'light' ? '#ffffff' : '#000000', 'stroke-width': 1.5 }));
    }
    let description = `${length} keys in ${buckets} buckets`;
    if (query !== null) {
      const [begin, end] = windowOf(state, query);
      parts.push(svgElement(document, 'rect', { x: x(begin), y: below - 1, width: Math.max(2, x(end) - x(begin)), height: STRIP_HEIGHT + 2, fill: 'none', stroke: ink, 'stroke-width': 2 }));
      // Few enough to be told apart: a line from each candidate to its place in the text.
      for (let at = begin; at < end; at++) {
        parts.push(svgElement(document, 'line', { x1: x(at + 0.5), y1: below - 1, x2: x(structure.keyOrder[at]! + 0.5), y2: 16 + STRIP_HEIGHT, stroke: ink, 'stroke-opacity': Math.max(0.12, Math.min(0.6, 20 / (end - begin))), 'stroke-width': 1 }));
      }
      description += `; query ${query} sees ${end - begin} of them in this round`;
    }
    svg.setAttribute('aria-label', description);
    svg.replaceChildren(...parts);
  };

  new ResizeObserver(draw).observe(host);
  return {
    update(next) {
      const repaint = next !== null && (state === null || next.structure !== state.structure || next.buckets !== state.buckets);
      state = next;
      if (repaint) {
        paint(canvases[0], (at) => at, next);
        paint(canvases[1], (at) => next.structure.keyOrder[at]!, next);
      }
      draw();
    },
  };
}

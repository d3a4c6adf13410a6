// One round of hashing: keys in the order of the text and in the order of their buckets, cut into
// chunks, and what the hovered query may see in this round.

import { rgb } from 'd3-color';
import { interpolateViridis } from 'd3-scale-chromatic';
import type { LshStructure } from '../core/types.ts';
import type { Theme } from '../model/color-scale.ts';
import { shortLabel } from '../model/labels.ts';
import { FONT, FONT_SIZE, svgElement, textMeasure } from './svg.ts';

export interface BucketStripState {
  readonly structure: LshStructure;
  readonly buckets: number;
  readonly trueBuckets: boolean;
  /** The query whose candidates are marked, or null. */
  readonly query: number | null;
  /** Written into a key's place where there is room. */
  keyLabel(key: number): string;
  readonly theme: Theme;
}

const STRIP_HEIGHT = 22;
const GAP = 36;
/** Of the line of text above and of the one below. */
const TEXT_HEIGHT = 16;
/** More lines than this are a blot. */
const MOST_LINES = 160;
/** Of a tick that marks a candidate instead of a line. */
const TICK_HEIGHT = 6;
/** Narrower places hold no label. */
const LEAST_LABELLED = 26;
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

/** From each candidate to its place in the text; when they are many, only a tick at that place. */
function candidateLines({ structure }: BucketStripState, [begin, end]: readonly [number, number], x: (at: number) => number): string {
  const [top, bottom] = [TEXT_HEIGHT + STRIP_HEIGHT, TEXT_HEIGHT + STRIP_HEIGHT + GAP - 1];
  const line = (at: number) => {
    const place = x(structure.keyOrder[at]! + 0.5);
    return end - begin > MOST_LINES ? `M${place},${top + 1}v${TICK_HEIGHT}` : `M${x(at + 0.5)},${bottom}L${place},${top}`;
  };
  return Array.from({ length: end - begin }, (_, n) => line(begin + n)).join('');
}

/** The keys' labels in their places of one strip, in the ink that the colour below lets be read. */
function placeLabels(document: Document, order: (place: number) => number, y: number, pixels: number, widthOf: (text: string) => number, { structure, buckets, keyLabel }: BucketStripState): SVGElement[] {
  const length = structure.keyOrder.length;
  const each = pixels / Math.max(1, length);
  if (each < LEAST_LABELLED) return [];
  return Array.from({ length }, (_, place) => {
    const key = order(place);
    const { r, g, b } = rgb(bucketColor(structure.keyBuckets[key]!, buckets));
    // Rec. 709 luma; half of white.
    const fill = 0.2126 * r + 0.7152 * g + 0.0722 * b > 128 ? '#000000' : '#ffffff';
    const label = svgElement(document, 'text', { x: (place + 0.5) * each, y: y + STRIP_HEIGHT / 2 + 4, fill, 'text-anchor': 'middle', 'font-family': FONT, 'font-size': FONT_SIZE + 1 });
    label.textContent = shortLabel(keyLabel(key), each - 4, widthOf);
    return label;
  });
}

/** Fills the host; null empties it. */
export function bucketStrip(host: HTMLElement): { update(state: BucketStripState | null): void; dispose(): void } {
  const document = host.ownerDocument;
  const canvases = [document.createElement('canvas'), document.createElement('canvas')] as const;
  const svg = svgElement(document, 'svg', { role: 'img' });
  const height = 2 * STRIP_HEIGHT + GAP + 2 * TEXT_HEIGHT;
  host.style.position = 'relative';
  host.style.minHeight = `${height}px`;
  canvases.forEach((canvas, i) => {
    canvas.style.cssText = `position:absolute;left:0;width:100%;height:${STRIP_HEIGHT}px;top:${TEXT_HEIGHT + i * (STRIP_HEIGHT + GAP)}px;image-rendering:pixelated`;
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
    const below = TEXT_HEIGHT + STRIP_HEIGHT + GAP;
    const text = (content: string, y: number) => {
      const label = svgElement(document, 'text', { x: 0, y, fill: ink, 'font-family': FONT, 'font-size': FONT_SIZE + 1 });
      label.textContent = content;
      return label;
    };
    const parts: SVGElement[] = [text('in the order of the text', 11), text(trueBuckets ? 'sorted by bucket' : 'sorted by bucket, cut into chunks', below + STRIP_HEIGHT + 13)];
    if (!trueBuckets && length / chunk < width / 3) {
      for (let at = chunk; at < length; at += chunk) parts.push(svgElement(document, 'line', { x1: x(at), x2: x(at), y1: below, y2: below + STRIP_HEIGHT, stroke: theme === 'light' ? '#ffffff' : '#000000', 'stroke-width': 1.5 }));
    }
    const widthOf = textMeasure(document);
    parts.push(...placeLabels(document, (place) => place, TEXT_HEIGHT, width, widthOf, state), ...placeLabels(document, (place) => structure.keyOrder[place]!, below, width, widthOf, state));
    let description = `${length} keys in ${buckets} buckets`;
    if (query !== null) {
      const [begin, end] = windowOf(state, query);
      parts.push(svgElement(document, 'rect', { x: x(begin), y: below - 1, width: Math.max(2, x(end) - x(begin)), height: STRIP_HEIGHT + 2, fill: 'none', stroke: ink, 'stroke-width': 2 }));
      parts.push(svgElement(document, 'path', { d: candidateLines(state, [begin, end], x), fill: 'none', stroke: ink, 'stroke-opacity': end - begin > MOST_LINES ? 0.6 : Math.min(0.6, 20 / (end - begin)), 'stroke-width': 1 }));
      description += `; query ${query} meets ${end - begin} of them in this round`;
    }
    svg.setAttribute('aria-label', description);
    svg.replaceChildren(...parts);
  };

  const observer = new ResizeObserver(draw);
  observer.observe(host);
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
    dispose() {
      observer.disconnect();
      host.replaceChildren();
    },
  };
}

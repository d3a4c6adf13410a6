// Labels along an axis of tokens: which ones fit, and how they are cut. No DOM.

/** Indices to label in [begin, end), at least `least` pixels apart: every one, or every 2nd, 5th, 10th ... */
export function labelledIndices([begin, end]: readonly [number, number], pixels: number, least: number): { readonly step: number; readonly indices: number[] } {
  const perEntry = pixels / Math.max(end - begin, 1e-9);
  let step = 1;
  for (let n = 0; step * perEntry < least && step < end - begin; n++) step = [2, 5, 10][n % 3]! * 10 ** Math.floor(n / 3);
  const indices: number[] = [];
  for (let i = Math.floor(begin / step) * step; i < end; i += step) indices.push(i);
  // An entry cut by an edge keeps its label while its middle is seen.
  return { step, indices: indices.filter((i) => i + 0.5 >= begin && i + 0.5 <= end) };
}

const graphemes = new Intl.Segmenter(undefined, { granularity: 'grapheme' });

/** At most `most` user-perceived characters; white space made visible. */
export function shortLabel(text: string, most: number): string {
  const visible = text.replaceAll('\n', '⏎').replaceAll('\t', '⇥').replace(/^ +| +$/g, (spaces) => '␣'.repeat(spaces.length));
  const parts = [...graphemes.segment(visible)].map(({ segment }) => segment);
  return parts.length <= most ? visible : `${parts.slice(0, most - 1).join('')}…`;
}

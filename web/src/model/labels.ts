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

const visible = new Map([[' ', '␣'], ['\n', '⏎'], ['\t', '⇥'], ['\r', '␍'], ['\u00a0', '⍽']]);

/** A label that can be seen: signs for white space and for what has no picture of its own. A piece of a character (empty text) is shown as "·". */
export function tokenLabel(text: string): string {
  if (text === '') return '·';
  const shown = text.replace(/[ \n\t\r\u00a0]/g, (space) => visible.get(space)!);
  // Format characters alone (a joiner, a direction mark) have no picture; their code point has.
  return /^[\p{Cf}\p{Cc}\p{Mn}]+$/u.test(shown)
    ? Array.from(shown, (c) => `U+${c.codePointAt(0)!.toString(16).toUpperCase().padStart(4, '0')}`).join(' ')
    : shown;
}

const graphemesOf = (text: string) => Array.from(graphemes.segment(text), ({ segment }) => segment);

/**
 * A label no wider than `most`, cut between user-perceived characters; white space made visible.
 * widthOf measures; by default it counts user-perceived characters.
 */
export function shortLabel(text: string, most: number, widthOf: (text: string) => number = (part) => graphemesOf(part).length): string {
  const shown = tokenLabel(text);
  let [whole, cut] = ['', ''];
  for (const { segment } of graphemes.segment(shown)) {
    whole += segment;
    if (widthOf(whole) > most) return `${cut}…`;
    if (widthOf(`${whole}…`) <= most) cut = whole;
  }
  return shown;
}

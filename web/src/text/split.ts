// Splits a text into tokens: by the byte pair encoding of a real tokenizer, into characters as
// readers see them (grapheme clusters, Unicode Standard Annex 29), or into words.

export type Split = 'bpe' | 'characters' | 'words';

export interface Token {
  /** The token's text; empty for a piece of a character whose last piece carries it. */
  readonly text: string;
  /** Equal for equal tokens: the number in the encoding's table, or the text itself. */
  readonly identity: number | string;
}

async function splitBpe(text: string): Promise<Token[]> {
  // The table, about 2 MB, is fetched on first use.
  const { default: encoding } = await import('./bpe.ts');
  // Text that looks like a control token is plain text here.
  const ids = encoding.encode(text, { disallowedSpecial: new Set() });
  // Decoding goes on from one call to the next, so a character split over tokens appears at its last.
  return ids.map((id) => ({ text: encoding.decode([id]), identity: id }));
}

/** UTF-16 units segmented at once: a step of an Intl.Segmenter takes time in proportion to its whole text. */
const stretch = 2048;

/** Segments at the end of a stretch that what follows may change, as in "3" + "." + "14". */
const uncertain = 4;

/**
 * Segments of a text, found stretch by stretch. A stretch is cut where a segment ends, after white
 * space if it has any (word breaks of scripts without spaces depend on their surroundings), and
 * never near its own end.
 */
function segment(text: string, granularity: 'grapheme' | 'word'): Token[] {
  const segmenter = new Intl.Segmenter('und', { granularity });
  const tokens: Token[] = [];
  let length = stretch;
  for (let begin = 0; begin < text.length;) {
    let end = Math.min(text.length, begin + length);
    if (end < text.length && text.codePointAt(end - 1)! > 0xffff) end--;
    const pieces = Array.from(segmenter.segment(text.slice(begin, end)), ({ segment: piece }) => piece);
    let kept = pieces.length;
    if (end < text.length) {
      let space = granularity === 'word' ? pieces.length - 2 : -1;
      while (space >= 0 && pieces[space]!.trim() !== '') space--;
      kept = space >= 0 ? space + 1 : Math.max(0, pieces.length - uncertain);
    }
    for (const piece of pieces.slice(0, kept)) {
      tokens.push({ text: piece, identity: piece });
      begin += piece.length;
    }
    // One segment longer than a stretch needs a longer one.
    length = kept === 0 ? 2 * length : stretch;
  }
  return tokens;
}

/** Tokens in order. Words leave white space out; the other two lose nothing. Lone surrogates become U+FFFD. */
export async function splitText(text: string, split: Split): Promise<readonly Token[]> {
  // Through UTF-8, which has no lone surrogates.
  const wellFormed = new TextDecoder('utf-8', { ignoreBOM: true }).decode(new TextEncoder().encode(text));
  if (split === 'bpe') return splitBpe(wellFormed);
  if (split === 'characters') return segment(wellFormed, 'grapheme');
  return segment(wellFormed, 'word').filter(({ text: piece }) => piece.trim() !== '');
}

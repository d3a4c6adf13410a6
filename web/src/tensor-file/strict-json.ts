// JSON with what JSON.parse lets pass refused: equal keys, deep nesting, and headers whose values
// would take many times the room of their text.

import { excerpt, TensorFileError } from './errors.ts';

/** A header's tensors take three levels; readers of the values recurse, so that the stack needs a bound. */
const DEEPEST = 16;
/** Values and brackets, some ten a tensor: a text of 100 MB could otherwise ask for gigabytes of objects. */
const MOST_PARTS = 4_000_000;

/** Index of the quote that closes the string that starts at `start`; the text's length if none does. */
function endOfString(text: string, start: number): number {
  let at = start + 1;
  while (at < text.length && text[at] !== '"') at += text[at] === '\\' ? 2 : 1;
  return Math.min(at, text.length);
}

/** Scans the text once, in linear time, without building anything but sets of keys. */
function checkStructure(text: string, field: string): void {
  // One entry a bracket that is open: the keys of an object, undefined for a list.
  const open: (Set<string> | undefined)[] = [];
  const colon = /[ \t\n\r]*:/y;
  let parts = 0;
  for (let at = 0; at < text.length; at++) {
    const character = text[at];
    if (character === '"') {
      const start = at;
      at = endOfString(text, start);
      const keys = open.at(-1);
      colon.lastIndex = at + 1;
      if (keys === undefined || !colon.test(text)) continue;
      const key = JSON.parse(text.slice(start, at + 1)) as string;
      if (keys.has(key)) throw new TensorFileError('malformed', field, `the name ${excerpt(key)} twice`, 'each name once');
      keys.add(key);
    } else if (character === '{' || character === '[') {
      open.push(character === '{' ? new Set() : undefined);
      if (open.length > DEEPEST) throw new TensorFileError('malformed', field, 'JSON that nests deeper', `at most ${DEEPEST} levels`);
      parts++;
    } else if (character === '}' || character === ']') {
      open.pop();
    } else if (character === ',') {
      parts++;
    }
    if (parts > MOST_PARTS) throw new TensorFileError('too-large', field, `more than ${MOST_PARTS} values`, 'a header of fewer tensors');
  }
}

/** The value of a JSON text. Throws TensorFileError. */
export function parseStrictJson(text: string, field: string): unknown {
  try {
    checkStructure(text, field);
    return JSON.parse(text);
  } catch (error) {
    if (error instanceof TensorFileError) throw error;
    throw new TensorFileError('malformed', field, `text that is no JSON: ${excerpt(text)}`, 'a JSON object');
  }
}

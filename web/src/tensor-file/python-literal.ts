// The part of Python's literal grammar that .npy headers use: strings, integers, True, False, None,
// tuples, lists and dicts. Nothing is evaluated.

import { excerpt, TensorFileError } from './errors.ts';

export type PythonLiteral =
  | { readonly kind: 'string'; readonly text: string }
  | { readonly kind: 'integer'; readonly value: number }
  | { readonly kind: 'constant'; readonly value: 'True' | 'False' | 'None' }
  | { readonly kind: 'tuple' | 'list'; readonly items: readonly PythonLiteral[] }
  | { readonly kind: 'dict'; readonly items: ReadonlyMap<string, PythonLiteral> };

/** Structured dtypes nest a few levels; parsing recurses, so that the stack needs a bound. */
const DEEPEST = 32;

/** Reads a whole text as one literal. Escapes in strings are left as written. Throws TensorFileError. */
export function parsePythonLiteral(text: string, field: string): PythonLiteral {
  let at = 0;

  function fail(expected: string): never {
    throw new TensorFileError('malformed', field, at < text.length ? `"${excerpt(text.slice(at))}" at character ${at}` : 'its end', expected);
  }
  /** The match of a sticky pattern here, with the white space around it skipped. */
  function take(pattern: RegExp): string | undefined {
    pattern.lastIndex = at;
    const match = pattern.exec(text);
    if (match === null) return undefined;
    at = pattern.lastIndex;
    return match[1];
  }
  function stringHere(): string | undefined {
    return take(/\s*('(?:[^'\\\n]|\\.)*'|"(?:[^"\\\n]|\\.)*")\s*/y)?.slice(1, -1);
  }
  /** Items up to the closing bracket, with an optional last comma; says whether there was a comma. */
  function items(close: RegExp, item: () => void): boolean {
    let comma = false;
    while (take(close) === undefined) {
      item();
      if (take(/(,)\s*/y) !== undefined) comma = true;
      else if (take(close) !== undefined) break;
      else fail('a comma or a closing bracket');
    }
    return comma;
  }
  function value(depth: number): PythonLiteral {
    if (depth > DEEPEST) fail(`at most ${DEEPEST} brackets within each other`);
    const string = stringHere();
    if (string !== undefined) return { kind: 'string', text: string };
    const integer = take(/\s*(-?(?:0|[1-9]\d*))L?(?!\w)\s*/y);
    if (integer !== undefined) return { kind: 'integer', value: Number(integer) };
    const constant = take(/\s*(True|False|None)(?!\w)\s*/y);
    if (constant !== undefined) return { kind: 'constant', value: constant as 'True' };
    const opening = take(/\s*([([{])\s*/y);
    if (opening === '{') {
      const dict = new Map<string, PythonLiteral>();
      items(/(\})\s*/y, () => {
        const key = stringHere() ?? fail('a key in quotes');
        if (dict.has(key)) fail(`the key ${excerpt(key)} once`);
        if (take(/(:)\s*/y) === undefined) fail('a colon');
        dict.set(key, value(depth + 1));
      });
      return { kind: 'dict', items: dict };
    }
    if (opening === undefined) fail('a string, an integer, True, False, None, a tuple, a list or a dict');
    const list: PythonLiteral[] = [];
    const comma = items(opening === '(' ? /(\))\s*/y : /(\])\s*/y, () => list.push(value(depth + 1)));
    if (opening === '[') return { kind: 'list', items: list };
    // (5) is 5; only (5,) is a tuple.
    return list.length === 1 && !comma ? list[0]! : { kind: 'tuple', items: list };
  }

  const literal = value(0);
  if (at < text.length) fail('nothing after the literal');
  return literal;
}

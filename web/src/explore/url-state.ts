// The wish as the part of an address behind "#", and back. Only what differs from the defaults is
// written; what cannot be read is reported, never guessed.

import type { CellIndex, View } from '../model/view.ts';
import { defaultSettings } from '../explore/problem.ts';
import { defaultLook, defaultText } from './wish.ts';
import type { Settings } from '../explore/problem.ts';
import type { Input, Look, TextInput, Wish } from './wish.ts';

/** Longer texts make links that mail programs and chats cut. */
export const maxTextInLink = 1500;

interface Codec<T> {
  write(value: T): string;
  /** undefined: not readable. */
  read(text: string): T | undefined;
  readonly expected: string;
}

const matching = <T>(pattern: RegExp, expected: string, write: (value: T) => string, read: (text: string) => T | undefined): Codec<T> => ({
  write, expected, read: (text) => (pattern.test(text) ? read(text) : undefined),
});

const decimal = /^-?\d+(\.\d+)?(e[+-]?\d+)?$/i;
const number = matching<number>(decimal, 'a number', String, Number);
const count = matching<number>(/^\d{1,15}$/, 'a whole number', String, Number);
const flag = matching<boolean>(/^[01]$/, '0 or 1', (value) => (value ? '1' : '0'), (text) => text === '1');

/** null is never written: it is the default. */
const optional = <T>(codec: Codec<T>): Codec<T | null> => ({
  expected: codec.expected, read: codec.read, write: (value) => (value === null ? '' : codec.write(value)),
});

const oneOf = <T extends string>(...names: readonly T[]): Codec<T> => ({
  expected: names.join(', '), write: String, read: (text) => names.find((name) => name === text),
});

/** Ascending positions, runs as "first-last". */
export const positions: Codec<readonly number[]> = {
  expected: 'positions such as 3,10-12',
  write(list) {
    const runs: [number, number][] = [];
    for (const position of list) {
      const last = runs.at(-1);
      if (last !== undefined && last[1] + 1 === position) last[1] = position;
      else runs.push([position, position]);
    }
    return runs.map(([first, last]) => (first === last ? `${first}` : `${first}-${last}`)).join(',');
  },
  read(text) {
    if (text.trim() === '') return [];
    const found = new Set<number>();
    for (const part of text.split(',')) {
      const match = /^\s*(\d{1,9})(?:\s*-\s*(\d{1,9}))?\s*$/.exec(part);
      if (match === null) return undefined;
      const first = Number(match[1]);
      const last = Number(match[2] ?? match[1]);
      // No problem here has more keys, and a run of a billion would fill the memory.
      if (last < first || last >= 1_000_000) return undefined;
      for (let position = first; position <= last; position++) found.add(position);
    }
    return [...found].sort((a, b) => a - b);
  },
};

const cell: Codec<CellIndex> = {
  expected: 'row,column',
  write: ({ row, column }) => `${row},${column}`,
  read(text) {
    const match = /^(\d{1,9}),(\d{1,9})$/.exec(text);
    return match === null ? undefined : { row: Number(match[1]), column: Number(match[2]) };
  },
};

const view: Codec<View> = {
  expected: 'row,row,column,column',
  write: ({ rows, columns }) => [...rows, ...columns].map((at) => Number(at.toFixed(2))).join(','),
  read(text) {
    const parts = text.split(',');
    if (parts.length !== 4 || !parts.every((part) => decimal.test(part))) return undefined;
    const [top, bottom, left, right] = parts.map(Number) as [number, number, number, number];
    return top >= 0 && left >= 0 && top < bottom && left < right ? { rows: [top, bottom], columns: [left, right] } : undefined;
  },
};

type Table<T> = { readonly [K in keyof T]: readonly [name: string, codec: Codec<T[K]>] };

const settingsTable: Table<Settings> = {
  causal: ['causal', flag], scale: ['scale', optional(number)],
  windowLeft: ['left', optional(count)], windowRight: ['right', optional(count)],
  softCap: ['cap', number], hidden: ['hide', positions],
  rounds: ['rounds', count], buckets: ['buckets', optional(count)], chunk: ['chunk', optional(count)],
  seed: ['seed', count], rotation: ['rotation', oneOf('gaussian', 'hadamard')], shared: ['shared', flag], trueBuckets: ['true-buckets', flag],
};

const lookTable: Table<Look> = {
  head: ['head', count], batch: ['batch', count], reduction: ['cells', oneOf('peak', 'mean')],
  transform: ['colours', oneOf('linear', 'log')], view: ['view', optional(view)], selected: ['cell', optional(cell)],
  round: ['round', count], picture: ['picture', oneOf('exact', 'difference', 'lsh')], theme: ['theme', oneOf('auto', 'light', 'dark')],
};

type TextFields = Omit<TextInput, 'kind' | 'text'>;
const textTable: Table<TextFields> = {
  split: ['split', oneOf('bpe', 'characters', 'words')], heads: ['heads', count], headDim: ['dim', count],
  seed: ['text-seed', count], positions: ['positions', flag],
};

/** Names of all fields, apart from those of samples and open files. */
export const fieldNames: readonly string[] = ['text', ...[settingsTable, lookTable, textTable].flatMap((table) => Object.values(table).map(([name]) => name))];

/** Names of the fields that are on or off. */
export const flagNames: readonly string[] = [settingsTable, lookTable, textTable]
  .flatMap((table) => Object.values(table).filter(([, codec]) => codec === flag).map(([name]) => name));

function writeTable<T extends object>(table: Table<T>, value: T, defaults: T, out: URLSearchParams): void {
  for (const field of Object.keys(table) as (keyof T)[]) {
    const [name, codec] = table[field];
    const text = codec.write(value[field]);
    if (text !== codec.write(defaults[field])) out.set(name, text);
  }
}

function readTable<T extends object>(table: Table<T>, defaults: T, from: URLSearchParams, problems: string[]): T {
  const out = { ...defaults };
  for (const field of Object.keys(table) as (keyof T)[]) {
    const [name, codec] = table[field];
    const text = from.get(name);
    if (text === null) continue;
    const value = codec.read(text);
    if (value === undefined) problems.push(`${name}: received "${text}", expected ${codec.expected}`);
    else out[field] = value;
  }
  return out;
}

function writeInput(input: Input | null, out: URLSearchParams): void {
  if (input?.kind === 'sample') out.set('sample', input.id);
  if (input?.kind === 'file') {
    out.set('file', input.name);
    out.set('q', input.query);
    out.set('k', input.key);
    out.set('v', input.value);
  }
  if (input?.kind === 'text') {
    if (fitsInLink(input)) out.set('text', input.text);
    writeTable<TextFields>(textTable, input, defaultText, out);
  }
}

function readInput(from: URLSearchParams, problems: string[]): Input | null {
  const sample = from.get('sample');
  const text = from.get('text');
  const file = from.get('file');
  if (sample !== null) return { kind: 'sample', id: sample };
  if (file !== null) return { kind: 'file', name: file, query: from.get('q') ?? '', key: from.get('k') ?? '', value: from.get('v') ?? '' };
  if (text !== null) return { kind: 'text', text, ...readTable<TextFields>(textTable, textFields(defaultText), from, problems) };
  return null;
}

function textFields({ split, heads, headDim, seed, positions: sinusoidal }: TextInput): TextFields {
  return { split, heads, headDim, seed, positions: sinusoidal };
}

/** Whether a link brings the input back without help. */
export function fitsInLink(input: Input | null): boolean {
  return input === null || input.kind === 'sample' || (input.kind === 'text' && encodeURIComponent(input.text).length <= maxTextInLink);
}

/** Without the "#". */
export function writeWish({ input, settings, look }: Wish): string {
  const out = new URLSearchParams();
  writeInput(input, out);
  writeTable(settingsTable, settings, defaultSettings, out);
  writeTable(lookTable, look, defaultLook, out);
  return out.toString();
}

/** What stands behind the "#" or in attributes; fields that cannot be read keep their default and are named in `problems`. */
export function readWish(from: URLSearchParams): { readonly wish: Wish; readonly problems: readonly string[] } {
  const problems: string[] = [];
  const wish = {
    input: readInput(from, problems),
    settings: readTable(settingsTable, defaultSettings, from, problems),
    look: readTable(lookTable, defaultLook, from, problems),
  };
  return { wish, problems };
}

// Guesses which tensors of a file are query, key and value, by their names and shapes. A guess only:
// the page shows it and the reader chooses.

import type { TensorEntry } from './problem.ts';

export interface TensorChoice { readonly query: string; readonly key: string; readonly value: string }

const roleNames = {
  query: ['query', 'queries', 'q'],
  key: ['key', 'keys', 'k'],
  value: ['value', 'values', 'v'],
} as const;
type Role = keyof typeof roleNames;

/** The name with its role taken out, so that "h.0.attn.q" and "h.0.attn.k" become equal; null when it has none. */
function stemFor(name: string, role: Role): string | null {
  for (const word of roleNames[role]) {
    // A role stands between separators or digits, as in "q", "layer0.q_proj" or "blk1/query:0".
    const match = new RegExp(`(^|[^a-z])${word}(?=$|[^a-z])`, 'i').exec(name);
    if (match !== null) return `${name.slice(0, match.index)}${match[1]}*${name.slice(match.index + match[0].length)}`;
  }
  return null;
}

/** Tensors that can be read as [N, d], [H, N, d] or [B, H, N, d]. */
export function usableTensors(tensors: readonly TensorEntry[]): readonly TensorEntry[] {
  return tensors.filter(({ shape, reason }) => reason === undefined && shape.length >= 2 && shape.length <= 4 && !shape.includes(0));
}

/** null when no tensor has a usable shape. An empty key or value means: the query's tensor. */
export function guessTensors(tensors: readonly TensorEntry[]): TensorChoice | null {
  const usable = usableTensors(tensors);
  const named = (role: Role) => usable.flatMap(({ name, shape }) => {
    const stem = stemFor(name, role);
    return stem === null ? [] : [{ name, stem, shape }];
  });
  const query = named('query')[0] ?? (usable[0] && { ...usable[0], stem: '' });
  if (query === undefined) return null;
  const partner = (role: Role, fits: (shape: readonly number[]) => boolean): string => {
    const candidates = named(role).filter(({ name, shape }) => name !== query.name && fits(shape));
    return (candidates.find(({ stem }) => stem === query.stem) ?? candidates[0])?.name ?? '';
  };
  const key = partner('key', (shape) => shape.at(-1) === query.shape.at(-1));
  const keyLength = usable.find(({ name }) => name === (key === '' ? query.name : key))!.shape.at(-2);
  return { query: query.name, key, value: partner('value', (shape) => shape.at(-2) === keyLength) };
}

// Tensors as an attention problem: shapes read as batch, heads, length and width, and what does not
// fit named with its tensor.

import { HeedError } from '../core/errors.ts';
import type { AttentionInputs } from '../core/types.ts';
import { tokenLabel } from '../model/labels.ts';
import { findNonFinite, toHeads } from '../tensor-file/shape.ts';
import type { TensorFile } from '../tensor-file/index.ts';
import type { TensorChoice } from './guess-tensors.ts';
import { formatShape } from '../model/format.ts';
import type { Problem } from './problem.ts';

export interface NamedTensor { readonly name: string; readonly shape: readonly number[]; readonly data: Float32Array<ArrayBuffer> }

function wrongShape(field: string, received: string, expected: string): HeedError {
  return new HeedError({ code: 'invalid-shape', field, received, expected });
}

/** [2, 5, 7] for the element 7 of row 5 of head 2. */
function placeOf(index: number, shape: readonly number[]): number[] {
  const place: number[] = [];
  for (const size of [...shape].reverse()) {
    place.unshift(index % size);
    index = Math.floor(index / size);
  }
  return place;
}

function checkFinite(role: string, { name, shape, data }: NamedTensor): void {
  const found = findNonFinite(data);
  if (found === undefined) return;
  const others = found.count > 1 ? ` (and ${found.count - 1} more)` : '';
  throw new HeedError({
    code: 'invalid-value', field: `${role} "${name}"`, received: `${found.value} at ${formatShape(placeOf(found.index, shape))}${others}`, expected: 'finite numbers',
  });
}

/** Inputs and shape of three tensors [N, d], [H, N, d] or [B, H, N, d]. Throws HeedError or TensorFileError. */
export function tensorInputs(query: NamedTensor, key: NamedTensor, value: NamedTensor): { readonly inputs: AttentionInputs; readonly shape: Problem['shape'] } {
  const q = toHeads(query.shape, `query "${query.name}"`);
  const k = toHeads(key.shape, `key "${key.name}"`);
  const v = toHeads(value.shape, `value "${value.name}"`);
  if (k.headDim !== q.headDim) throw wrongShape(`key "${key.name}"`, formatShape(key.shape), `a last size of ${q.headDim}, as query "${query.name}" ${formatShape(query.shape)} has`);
  if (k.batch !== q.batch) throw wrongShape(`key "${key.name}"`, `batch ${k.batch}`, `batch ${q.batch}, as query "${query.name}" has`);
  if (q.heads % k.heads !== 0) throw wrongShape(`key "${key.name}"`, `${k.heads} heads`, `a divisor of the ${q.heads} heads of query "${query.name}"`);
  if (v.batch !== k.batch || v.heads !== k.heads || v.length !== k.length) {
    throw wrongShape(`value "${value.name}"`, formatShape(value.shape), `batch ${k.batch}, heads ${k.heads} and length ${k.length}, as key "${key.name}" ${formatShape(key.shape)} has`);
  }
  checkFinite('query', query);
  checkFinite('key', key);
  checkFinite('value', value);
  const shape = { batch: q.batch, heads: q.heads, kvHeads: k.heads, queryLen: q.length, keyLen: k.length, headDim: q.headDim, valueDim: v.headDim };
  return { inputs: { query: query.data, key: key.data, value: value.data, shape }, shape };
}

/** Labels stored in a file's metadata as a JSON list; undefined when there are none of that length. */
export function metadataTokens(tokens: string | undefined, length: number): readonly string[] | undefined {
  if (tokens === undefined) return undefined;
  try {
    const list: unknown = JSON.parse(tokens);
    return Array.isArray(list) && list.length === length && list.every((label) => typeof label === 'string') ? list.map(tokenLabel) : undefined;
  } catch {
    // Someone else's metadata may call anything "tokens".
    return undefined;
  }
}

export function numbered(length: number): readonly string[] {
  return Array.from({ length }, (_, i) => String(i));
}

/** Reads the tensors of an open file by name. */
export function namedTensors(file: TensorFile): (name: string) => NamedTensor {
  return (name) => ({ name, shape: file.tensors.find((tensor) => tensor.name === name)?.shape ?? [], data: file.read(name) });
}

/** The problem of three tensors of a file; `tokens` are the labels in its metadata, as JSON. Throws HeedError or TensorFileError. */
export async function problemOfTensors(
  choice: TensorChoice, read: (name: string) => NamedTensor | Promise<NamedTensor>, tokens: string | undefined,
): Promise<Omit<Problem, 'id' | 'title'>> {
  const query = await read(choice.query);
  const key = choice.key === '' ? query : await read(choice.key);
  const value = choice.value === '' ? key : await read(choice.value);
  const { inputs, shape } = tensorInputs(query, key, value);
  return {
    description: `Query "${query.name}" ${formatShape(query.shape)}, key "${key.name}" ${formatShape(key.shape)}, value "${value.name}" ${formatShape(value.shape)}, as float32.`,
    inputs, shape,
    queryTokens: metadataTokens(tokens, shape.queryLen) ?? numbered(shape.queryLen),
    keyTokens: metadataTokens(tokens, shape.keyLen) ?? numbered(shape.keyLen),
  };
}

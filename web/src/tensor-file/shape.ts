// Shapes: their size without overflow, and their reading as batch, heads, length and head_dim.

import { excerpt, TensorFileError } from './errors.ts';

/** As many as NumPy 2 has. */
const MOST_AXES = 64;

export function formatShape(shape: readonly number[]): string {
  return excerpt(`[${shape.join(', ')}]`);
}

/** Number of elements; fails on sizes that are no counts and on products beyond 2^53. */
export function elementCount(shape: readonly number[], field: string): number {
  if (shape.length > MOST_AXES) {
    throw new TensorFileError('too-large', field, `${shape.length} axes`, `at most ${MOST_AXES}`);
  }
  let count = 1;
  for (const size of shape) {
    if (size > Number.MAX_SAFE_INTEGER) throw new TensorFileError('too-large', field, `size ${size}`, 'sizes below 2^53');
    if (!Number.isSafeInteger(size) || size < 0 || Object.is(size, -0)) {
      throw new TensorFileError('malformed', field, `size ${Object.is(size, -0) ? '-0' : size}`, 'integers of at least 0');
    }
    count *= size;
  }
  if (!Number.isSafeInteger(count)) {
    throw new TensorFileError('too-large', field, formatShape(shape), 'fewer than 2^53 elements');
  }
  return count;
}

/** Room for `count` numbers; an allocation that the engine refuses is a TensorFileError. */
export function allocate(count: number, field: string): Float32Array<ArrayBuffer> {
  try {
    return new Float32Array(count);
  } catch {
    throw new TensorFileError('too-large', field, `${count} elements`, 'a tensor that fits in memory as float32');
  }
}

/** For writers: fails unless `values` fills `shape`. */
export function checkFilled(shape: readonly number[], values: Float32Array, field: string): void {
  const count = elementCount(shape, field);
  if (count !== values.length) {
    throw new TensorFileError('wrong-shape', field, `${formatShape(shape)} for ${values.length} values`, `${count} values`);
  }
}

/** How a tensor is read as attention's query, key or value. */
export interface HeadShape {
  readonly batch: number;
  readonly heads: number;
  readonly length: number;
  readonly headDim: number;
}

/** [N, d], [H, N, d] or [B, H, N, d]; anything else is an error. */
export function toHeads(shape: readonly number[], field = 'shape'): HeadShape {
  const [headDim, length, heads = 1, batch = 1] = [...shape].reverse();
  if (headDim === undefined || length === undefined || shape.length > 4 || shape.includes(0)) {
    throw new TensorFileError('wrong-shape', field, formatShape(shape), '[N, d], [heads, N, d] or [batch, heads, N, d], none of them 0');
  }
  return { batch, heads, length, headDim };
}

/** The first NaN or infinity, and how many there are. */
export function findNonFinite(values: Float32Array): { readonly index: number; readonly value: number; readonly count: number } | undefined {
  let index = -1, count = 0;
  for (let i = 0; i < values.length; i++) {
    if (!Number.isFinite(values[i]!)) {
      if (count === 0) index = i;
      count++;
    }
  }
  return count === 0 ? undefined : { index, value: values[index]!, count };
}

/** The elements of a column-major array in row-major order. */
export function fromFortranOrder(values: Float32Array<ArrayBuffer>, shape: readonly number[], field: string): Float32Array<ArrayBuffer> {
  const out = allocate(values.length, field);
  // Strides of the source, whose first axis moves fastest.
  const strides: number[] = [];
  let stride = 1;
  for (const size of shape) {
    strides.push(stride);
    stride *= size;
  }
  const index = new Array<number>(shape.length).fill(0);
  let source = 0;
  for (let i = 0; i < out.length; i++) {
    out[i] = values[source]!;
    for (let axis = shape.length - 1; axis >= 0; axis--) {
      source += strides[axis]!;
      if (++index[axis]! < shape[axis]!) break;
      source -= strides[axis]! * shape[axis]!;
      index[axis] = 0;
    }
  }
  return out;
}

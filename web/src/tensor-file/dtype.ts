// Element types and their decoding to float32.

import { getFloat16 } from '@petamoriken/float16';
import { TensorFileError } from './errors.ts';
import { allocate } from './shape.ts';

export type TensorDtype =
  | 'float16' | 'bfloat16' | 'float32' | 'float64'
  | 'int8' | 'int16' | 'int32' | 'int64' | 'uint8' | 'uint16' | 'uint32' | 'uint64' | 'bool';

export const bytesOfDtype: Readonly<Record<TensorDtype, number>> = {
  float16: 2, bfloat16: 2, float32: 4, float64: 8,
  int8: 1, int16: 2, int32: 4, int64: 8, uint8: 1, uint16: 2, uint32: 4, uint64: 8, bool: 1,
};

type Reader = (view: DataView, offset: number, littleEndian: boolean) => number;

const bfloat16Bits = new DataView(new ArrayBuffer(4));

const readers: Readonly<Record<TensorDtype, Reader>> = {
  float16: (view, offset, little) => getFloat16(view, offset, little),
  // The upper half of a float32.
  bfloat16: (view, offset, little) => {
    bfloat16Bits.setUint32(0, view.getUint16(offset, little) * 0x10000);
    return bfloat16Bits.getFloat32(0);
  },
  float32: (view, offset, little) => view.getFloat32(offset, little),
  float64: (view, offset, little) => view.getFloat64(offset, little),
  int8: (view, offset) => view.getInt8(offset),
  int16: (view, offset, little) => view.getInt16(offset, little),
  int32: (view, offset, little) => view.getInt32(offset, little),
  int64: (view, offset, little) => Number(view.getBigInt64(offset, little)),
  uint8: (view, offset) => view.getUint8(offset),
  uint16: (view, offset, little) => view.getUint16(offset, little),
  uint32: (view, offset, little) => view.getUint32(offset, little),
  uint64: (view, offset, little) => Number(view.getBigUint64(offset, little)),
  bool: (view, offset) => Number(view.getUint8(offset) !== 0),
};

/**
 * Decodes `count` elements to the nearest float32, 64-bit integers by way of the nearest float64. NaN
 * and infinities stay; a finite number beyond the range of float32 is an error that names its place.
 */
export function decode(bytes: Uint8Array, dtype: TensorDtype, count: number, littleEndian: boolean, field: string): Float32Array<ArrayBuffer> {
  const out = allocate(count, field);
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const read = readers[dtype];
  const size = bytesOfDtype[dtype];
  const mayOverflow = dtype === 'float64';
  for (let i = 0; i < count; i++) {
    const value = read(view, i * size, littleEndian);
    out[i] = value;
    if (mayOverflow && Number.isFinite(value) && !Number.isFinite(out[i]!)) {
      throw new TensorFileError('out-of-range', `${field}[${i}]`, String(value), 'a number that float32 holds, below 3.4e38');
    }
  }
  return out;
}

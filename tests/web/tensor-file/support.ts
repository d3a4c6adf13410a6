// Tensor files made byte by byte, and what a failing call failed with.

import { expect } from 'vitest';
import { TensorFileError } from '../../../web/src/tensor-file/index.ts';

export const latin1 = (text: string) => Uint8Array.from(text, (c) => c.charCodeAt(0));
export const floats = (...values: number[]) => new Uint8Array(Float32Array.from(values).buffer);

export function npy(header: string | Uint8Array, data: Uint8Array, version = 1): Uint8Array<ArrayBuffer> {
  const text = typeof header === 'string' ? latin1(header) : header;
  const length = [text.length & 255, text.length >> 8, ...(version === 1 ? [] : [0, 0])];
  const out = new Uint8Array(8 + length.length + text.length + data.length);
  out.set([...latin1('\x93NUMPY'), version, 0, ...length]);
  out.set(text, 8 + length.length);
  out.set(data, 8 + length.length + text.length);
  return out;
}

export function npyHeader(shape: string, descr = "'<f4'", order = 'False'): string {
  return `{'descr': ${descr}, 'fortran_order': ${order}, 'shape': ${shape}, }`;
}

export function safetensors(header: unknown, data: Uint8Array = new Uint8Array()): Uint8Array<ArrayBuffer> {
  const json = header instanceof Uint8Array ? header : new TextEncoder().encode(typeof header === 'string' ? header : JSON.stringify(header));
  const out = new Uint8Array(8 + json.length + data.length);
  new DataView(out.buffer).setBigUint64(0, BigInt(json.length), true);
  out.set(json, 8);
  out.set(data, 8 + json.length);
  return out;
}

export function failureOf(call: () => unknown): TensorFileError {
  try {
    call();
  } catch (error) {
    expect(error).toBeInstanceOf(TensorFileError);
    return error as TensorFileError;
  }
  throw new Error('the call did not fail');
}

/** Places of a zip record's signature, to be tampered with. */
export function placesOf(signature: number, zip: Uint8Array): number[] {
  const view = new DataView(zip.buffer, zip.byteOffset, zip.byteLength);
  const places = [];
  for (let at = 0; at + 4 <= zip.length; at++) if (view.getUint32(at, true) === signature) places.push(at);
  return places;
}
export const LOCAL = 0x04034b50;
export const DIRECTORY = 0x02014b50;
export const END = 0x06054b50;

/** A copy of a zip archive, changed through a view by `change`. */
export function tampered(zip: Uint8Array, change: (view: DataView, directory: number[], end: number) => void): Uint8Array<ArrayBuffer> {
  const copy = zip.slice();
  change(new DataView(copy.buffer), placesOf(DIRECTORY, copy), placesOf(END, copy).at(-1)!);
  return copy;
}

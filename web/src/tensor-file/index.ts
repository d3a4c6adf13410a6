// Files of tensors: .npy, .npz and .safetensors, read without trusting them. No DOM.

import { excerpt, TensorFileError } from './errors.ts';
import { isNpy, readNpyLayout } from './npy.ts';
import type { NpyLayout } from './npy.ts';
import { isZip, openNpz } from './npz.ts';
import { isSafetensors, openSafetensors } from './safetensors.ts';

export { TensorFileError } from './errors.ts';
export type { TensorFileErrorCode } from './errors.ts';
export type { TensorDtype } from './dtype.ts';
export { writeNpy } from './npy.ts';
export { writeSafetensors } from './safetensors.ts';
export { findNonFinite, toHeads } from './shape.ts';
export type { HeadShape } from './shape.ts';

export interface TensorInfo {
  readonly name: string;
  readonly shape: readonly number[];
  /** As the file calls it, for instance "<f4" or "BF16". */
  readonly dtype: string;
  readonly readable: boolean;
  /** Why it is not readable. */
  readonly reason?: string;
}

export interface TensorFile {
  readonly format: 'npy' | 'npz' | 'safetensors';
  readonly tensors: readonly TensorInfo[];
  readonly metadata: ReadonlyMap<string, string>;
  /** One tensor as float32 in row-major order. Throws TensorFileError. */
  read(name: string): Float32Array<ArrayBuffer>;
}

interface Entry {
  readonly shape: readonly number[];
  readonly dtype: string;
  readonly reason?: string | undefined;
  read(): Float32Array<ArrayBuffer>;
}

function tensorFile(format: TensorFile['format'], entries: ReadonlyMap<string, Entry>, metadata: ReadonlyMap<string, string> = new Map()): TensorFile {
  return {
    format,
    metadata,
    tensors: [...entries].map(([name, { shape, dtype, reason }]) =>
      ({ name, shape, dtype, readable: reason === undefined, ...(reason === undefined ? {} : { reason }) })),
    read(name) {
      const entry = entries.get(name);
      if (entry === undefined) {
        throw new TensorFileError('no-such-tensor', 'name', excerpt(name), `one of ${excerpt([...entries.keys()].join(', ')) || 'none'}`);
      }
      return entry.read();
    },
  };
}

function entryOf({ shape, descr, reason, decode }: NpyLayout, content: () => Uint8Array): Entry {
  return { shape, dtype: descr, reason, read: () => decode(content) };
}

/** Opens a file by its content; names and shapes are listed, numbers are decoded by read(). Throws TensorFileError. */
export function openTensorFile(fileName: string, bytes: Uint8Array): TensorFile {
  if (isNpy(bytes)) {
    const name = fileName.replace(/\.npy$/i, '') || 'array';
    const layout = readNpyLayout(bytes, bytes.length, excerpt(name));
    return tensorFile('npy', new Map([[name, entryOf(layout, () => bytes)]]));
  }
  if (isZip(bytes)) {
    return tensorFile('npz', new Map([...openNpz(bytes)].map(([name, { layout, content }]) => [name, entryOf(layout, content)])));
  }
  if (isSafetensors(bytes) || /\.safetensors$/i.test(fileName)) {
    const { tensors, metadata } = openSafetensors(bytes);
    return tensorFile('safetensors', tensors, metadata);
  }
  throw new TensorFileError('unknown-format', 'file', `${excerpt(fileName)}, ${bytes.length} bytes`, 'the content of a .npy, .npz or .safetensors file');
}

// NumPy's .npz: a zip archive of .npy files.

import { excerpt, TensorFileError } from './errors.ts';
import { MOST_NPY_PREFIX_BYTES, readNpyLayout } from './npy.ts';
import type { NpyLayout } from './npy.ts';
import { openZip } from './zip.ts';

export { isZip } from './zip.ts';

const SUFFIX = '.npy';

export interface NpzArray {
  readonly layout: NpyLayout;
  /** The .npy file, inflated. Throws TensorFileError. */
  content(): Uint8Array;
}

/**
 * The arrays of the archive by name, without ".npy"; other files in it are ignored. Of each array no
 * more than the header is inflated. Throws TensorFileError.
 */
export function openNpz(bytes: Uint8Array): ReadonlyMap<string, NpzArray> {
  const { entries, count } = openZip(bytes, (name) => name.endsWith(SUFFIX));
  if (entries.length === 0 && count > 0) {
    throw new TensorFileError('unknown-format', 'archive', `a zip archive of ${count} other files`, '.npy files in it');
  }
  return new Map(entries.map((entry) => {
    const name = entry.name.slice(0, -SUFFIX.length);
    const layout = readNpyLayout(entry.prefix(MOST_NPY_PREFIX_BYTES), entry.size, excerpt(name));
    return [name, { layout, content: entry.content }];
  }));
}

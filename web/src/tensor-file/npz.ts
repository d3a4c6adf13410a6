// NumPy's .npz: a zip of .npy files, taken apart by fflate.

import { unzipSync } from 'fflate';
import type { UnzipFileInfo } from 'fflate';
import { excerpt, TensorFileError } from './errors.ts';
import { openNpy } from './npy.ts';
import type { NpyArray } from './npy.ts';

/** Inflated bytes a file may ask for in all: a zip bomb grows a thousandfold, tensors hardly at all. */
const MOST_BYTES = 2 ** 31;
/** Deflate cannot shrink by more than this factor (RFC 1951). */
const MOST_EXPANSION = 1032;

export function isZip(bytes: Uint8Array): boolean {
  return bytes[0] === 0x50 && bytes[1] === 0x4b && (bytes[2] === 3 || bytes[2] === 5);
}

function checkEntry(entry: UnzipFileInfo, available: number): void {
  const field = excerpt(entry.name);
  if (entry.compression !== 0 && entry.compression !== 8) {
    throw new TensorFileError('unsupported', field, `zip compression method ${entry.compression}`, 'stored or deflated entries');
  }
  if (entry.size > available || entry.originalSize > Math.max(entry.size, 1) * MOST_EXPANSION) {
    throw new TensorFileError('malformed', field, `${entry.size} bytes that claim to inflate to ${entry.originalSize}`, 'sizes the file can hold');
  }
}

/** The arrays of the archive by name, without ".npy". Throws TensorFileError. */
export function openNpz(bytes: Uint8Array): ReadonlyMap<string, NpyArray> {
  let total = 0;
  let files: Record<string, Uint8Array>;
  try {
    files = unzipSync(bytes, {
      filter(entry) {
        if (!entry.name.endsWith('.npy')) return false;
        checkEntry(entry, bytes.length);
        total += entry.originalSize;
        if (total > MOST_BYTES) {
          throw new TensorFileError('too-large', 'archive', `more than ${MOST_BYTES} bytes inflated`, 'a smaller archive, or one .npy a tensor');
        }
        return true;
      },
    });
  } catch (error) {
    if (error instanceof TensorFileError) throw error;
    throw new TensorFileError('malformed', 'archive', excerpt(error instanceof Error ? error.message : String(error)), 'a zip archive that is whole');
  }
  const arrays = new Map<string, NpyArray>();
  for (const [name, content] of Object.entries(files)) {
    const short = name.slice(0, -'.npy'.length);
    arrays.set(short, openNpy(content, excerpt(short)));
  }
  return arrays;
}

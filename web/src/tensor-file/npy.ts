// NumPy's .npy, versions 1 to 3 (NumPy enhancement proposal 1).

import { bytesOfDtype, decode } from './dtype.ts';
import type { TensorDtype } from './dtype.ts';
import { excerpt, TensorFileError } from './errors.ts';
import { elementCount, fromFortranOrder } from './shape.ts';

const MAGIC = [0x93, 0x4e, 0x55, 0x4d, 0x50, 0x59]; // \x93NUMPY
/** numpy.lib.format refuses longer headers too, since evaluating them could be unsafe. */
const LONGEST_HEADER = 10_000;

export interface NpyArray {
  readonly shape: readonly number[];
  /** As written in the file, for instance "<f4". */
  readonly descr: string;
  readonly dtype: TensorDtype | undefined;
  readonly reason?: string;
  read(): Float32Array<ArrayBuffer>;
}

export function isNpy(bytes: Uint8Array): boolean {
  return MAGIC.every((byte, i) => bytes[i] === byte);
}

const dtypes: Readonly<Record<string, TensorDtype>> = {
  f2: 'float16', f4: 'float32', f8: 'float64',
  i1: 'int8', i2: 'int16', i4: 'int32', i8: 'int64',
  u1: 'uint8', u2: 'uint16', u4: 'uint32', u8: 'uint64', b1: 'bool',
};

function malformed(field: string, received: string, expected: string): TensorFileError {
  return new TensorFileError('malformed', field, excerpt(received), expected);
}

interface Header {
  readonly descr: string;
  readonly fortranOrder: boolean;
  readonly shape: readonly number[];
}

/**
 * The header is a Python dict literal with exactly the keys descr, fortran_order and shape. Only that
 * grammar is read: strings for descr (a list, a structured dtype, is reported as such), True or
 * False, and a tuple of integers.
 */
function parseHeader(text: string, field: string): Header {
  const dict = /^\s*\{(.*)\}\s*$/s.exec(text)?.[1];
  if (dict === undefined) throw malformed(`${field}.header`, text, 'a Python dict {...}');
  const value = (key: string, pattern: string): string | undefined =>
    new RegExp(`(?:^|,)\\s*(['"])${key}\\1\\s*:\\s*(${pattern})\\s*(?=,|$)`, 's').exec(dict)?.[2];
  if (value('descr', String.raw`\[.*\]`) !== undefined) {
    throw new TensorFileError('unsupported', `${field}.descr`, 'a structured dtype', 'a plain number type such as <f4');
  }
  const descr = value('descr', String.raw`'[^']*'|"[^"]*"`);
  const order = value('fortran_order', 'True|False');
  const tuple = value('shape', String.raw`\([\d\s,L]*\)`);
  if (descr === undefined) throw malformed(`${field}.descr`, text, "a string such as '<f4'");
  if (order === undefined) throw malformed(`${field}.fortran_order`, text, 'True or False');
  if (tuple === undefined) throw malformed(`${field}.shape`, text, 'a tuple of integers of at least 0');
  const sizes = tuple.slice(1, -1).split(',').map((size) => size.trim());
  if (sizes.at(-1) === '') sizes.pop();
  if (sizes.some((size) => !/^\d+L?$/.test(size)) || sizes.length > 32) {
    throw malformed(`${field}.shape`, tuple, 'a tuple of at most 32 integers');
  }
  return { descr: descr.slice(1, -1), fortranOrder: order === 'True', shape: sizes.map((size) => Number.parseInt(size, 10)) };
}

/** Reads the header; elements are decoded by read(). Throws TensorFileError. */
export function openNpy(bytes: Uint8Array, field: string): NpyArray {
  if (!isNpy(bytes)) throw malformed(field, `a file that starts with ${excerpt(String(bytes.slice(0, 6)))}`, 'the magic bytes of .npy');
  const version = bytes[6];
  const lengthBytes = version === 1 ? 2 : 4;
  if (version !== 1 && version !== 2 && version !== 3) {
    throw new TensorFileError('unsupported', `${field}.version`, String(version), '1, 2 or 3');
  }
  const headerStart = 8 + lengthBytes;
  const truncated = (expected: number) => new TensorFileError('truncated', field, `${bytes.length} bytes`, `at least ${expected}`);
  if (bytes.length < headerStart) throw truncated(headerStart);
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const headerLength = version === 1 ? view.getUint16(8, true) : view.getUint32(8, true);
  if (headerLength > LONGEST_HEADER) {
    throw new TensorFileError('too-large', `${field}.header`, `${headerLength} bytes`, `at most ${LONGEST_HEADER}`);
  }
  const dataStart = headerStart + headerLength;
  if (bytes.length < dataStart) throw truncated(dataStart);
  const header = parseHeader(new TextDecoder(version === 3 ? 'utf-8' : 'latin1').decode(bytes.subarray(headerStart, dataStart)), field);

  const count = elementCount(header.shape, `${field}.shape`);
  const dtype = /^[<>|=]/.test(header.descr) ? dtypes[header.descr.slice(1)] : undefined;
  if (dtype === undefined) {
    const kind = header.descr.includes('O') ? 'Python objects' : `dtype ${excerpt(header.descr)}`;
    return {
      ...header, dtype, reason: `${kind} cannot be read; save it as float32`,
      read: () => { throw new TensorFileError('unsupported', `${field}.descr`, kind, 'a float, integer or bool type'); },
    };
  }
  const size = count * bytesOfDtype[dtype];
  if (bytes.length - dataStart < size) throw truncated(dataStart + size);
  const bigEndian = header.descr.startsWith('>');
  return {
    ...header, dtype,
    read() {
      const values = decode(bytes.subarray(dataStart, dataStart + size), dtype, count, !bigEndian, field);
      return header.fortranOrder ? fromFortranOrder(values, header.shape) : values;
    },
  };
}

/** A version 1 file of float32 in row-major order. */
export function writeNpy(shape: readonly number[], values: Float32Array): Uint8Array<ArrayBuffer> {
  const tuple = `(${shape.join(', ')}${shape.length === 1 ? ',' : ''})`;
  const text = `{'descr': '<f4', 'fortran_order': False, 'shape': ${tuple}, }`;
  // Data starts at a multiple of 64, after a newline.
  const padded = `${text.padEnd(Math.ceil((10 + text.length + 1) / 64) * 64 - 11)}\n`;
  const out = new Uint8Array(10 + padded.length + values.length * 4);
  out.set([...MAGIC, 1, 0]);
  const view = new DataView(out.buffer);
  view.setUint16(8, padded.length, true);
  out.set(new TextEncoder().encode(padded), 10);
  values.forEach((value, i) => view.setFloat32(10 + padded.length + 4 * i, value, true));
  return out;
}

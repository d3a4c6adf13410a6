// NumPy's .npy, versions 1 to 3 (NumPy enhancement proposal 1).

import { bytesOfDtype, decode } from './dtype.ts';
import type { TensorDtype } from './dtype.ts';
import { excerpt, TensorFileError } from './errors.ts';
import { parsePythonLiteral } from './python-literal.ts';
import type { PythonLiteral } from './python-literal.ts';
import { checkFilled, elementCount, formatShape, fromFortranOrder } from './shape.ts';

const MAGIC = [0x93, 0x4e, 0x55, 0x4d, 0x50, 0x59]; // \x93NUMPY
/** numpy.lib.format refuses longer headers too. */
const LONGEST_HEADER = 10_000;
/** Magic, version, the longer of the two length fields, header. */
export const MOST_NPY_PREFIX_BYTES = 12 + LONGEST_HEADER;

const dtypes: Readonly<Record<string, TensorDtype>> = {
  f2: 'float16', f4: 'float32', f8: 'float64',
  i1: 'int8', i2: 'int16', i4: 'int32', i8: 'int64',
  u1: 'uint8', u2: 'uint16', u4: 'uint32', u8: 'uint64', b1: 'bool',
};

/** What the header says, checked against the size of the file. */
export interface NpyLayout {
  readonly shape: readonly number[];
  /** As written in the file, for instance "<f4"; "structured" for a dtype with fields. */
  readonly descr: string;
  /** Why the elements cannot be read. */
  readonly reason?: string;
  /** The elements of the whole file as float32 in row-major order. Throws TensorFileError, before it asks for the file if they cannot be read. */
  decode(file: () => Uint8Array): Float32Array<ArrayBuffer>;
}

export function isNpy(bytes: Uint8Array): boolean {
  return MAGIC.every((byte, i) => bytes[i] === byte);
}

function malformed(field: string, received: string, expected: string): TensorFileError {
  return new TensorFileError('malformed', field, excerpt(received), expected);
}

interface Header {
  /** A list, or a tuple, is a structured dtype. */
  readonly descr: Extract<PythonLiteral, { kind: 'string' | 'tuple' | 'list' }>;
  readonly fortranOrder: boolean;
  readonly shape: readonly number[];
}

/** A dict with exactly the keys descr, fortran_order and shape. */
function readHeader(text: string, field: string): Header {
  const literal = parsePythonLiteral(text, `${field}.header`);
  if (literal.kind !== 'dict') throw malformed(`${field}.header`, text, 'a Python dict {...}');
  const { items } = literal;
  const keys = ['descr', 'fortran_order', 'shape'];
  const stranger = [...items.keys()].find((key) => !keys.includes(key));
  if (stranger !== undefined) throw malformed(`${field}.header`, `the key ${stranger}`, keys.join(', '));
  const descr = items.get('descr');
  const order = items.get('fortran_order');
  const shape = items.get('shape');
  if (descr?.kind !== 'string' && descr?.kind !== 'list' && descr?.kind !== 'tuple') {
    throw malformed(`${field}.descr`, descr?.kind ?? 'none', "a string such as '<f4'");
  }
  if (order?.kind !== 'constant' || order.value === 'None') {
    throw malformed(`${field}.fortran_order`, order?.kind ?? 'none', 'True or False');
  }
  if (shape?.kind !== 'tuple') throw malformed(`${field}.shape`, shape?.kind ?? 'none', 'a tuple of integers of at least 0');
  return {
    descr, fortranOrder: order.value === 'True',
    shape: shape.items.map((item) => {
      if (item.kind !== 'integer') throw malformed(`${field}.shape`, item.kind, 'integers of at least 0');
      return item.value;
    }),
  };
}

/** The type of a descr such as "<f4"; single bytes have no order, "|u1", all others need one. */
function dtypeOf(descr: string): TensorDtype | undefined {
  const [, order, code] = /^([<>|])([a-z]\d)$/.exec(descr) ?? [];
  const dtype = code === undefined || !Object.hasOwn(dtypes, code) ? undefined : dtypes[code];
  return dtype !== undefined && order === '|' && bytesOfDtype[dtype] > 1 ? undefined : dtype;
}

function whyUnreadable(descr: Header['descr']): string {
  if (descr.kind !== 'string') return 'a structured dtype';
  const kind = descr.text.replace(/^[<>|=]/, '')[0];
  if (kind === 'O') return 'Python objects';
  if (kind === 'U' || kind === 'S' || kind === 'a') return `strings, dtype ${excerpt(descr.text)},`;
  return `dtype ${excerpt(descr.text)}`;
}

/**
 * Reads the header from the first bytes of a file (MOST_NPY_PREFIX_BYTES of them, or all) that has
 * `fileBytes` in all. Throws TensorFileError.
 */
export function readNpyLayout(prefix: Uint8Array, fileBytes: number, field: string): NpyLayout {
  if (!isNpy(prefix)) throw malformed(field, `a file that starts with bytes ${prefix.slice(0, 6).join(' ')}`, 'the magic bytes of .npy');
  const truncated = (expected: number) => new TensorFileError('truncated', field, `${fileBytes} bytes`, `at least ${expected}`);
  const version = prefix[6];
  if (version === undefined) throw truncated(10);
  if (version !== 1 && version !== 2 && version !== 3) {
    throw new TensorFileError('unsupported', `${field}.version`, String(version), '1, 2 or 3');
  }
  const headerStart = version === 1 ? 10 : 12;
  if (prefix.length < headerStart) throw truncated(headerStart);
  const view = new DataView(prefix.buffer, prefix.byteOffset, prefix.byteLength);
  const headerLength = version === 1 ? view.getUint16(8, true) : view.getUint32(8, true);
  if (headerLength > LONGEST_HEADER) {
    throw new TensorFileError('too-large', `${field}.header`, `${headerLength} bytes`, `at most ${LONGEST_HEADER}`);
  }
  const dataStart = headerStart + headerLength;
  if (prefix.length < dataStart) throw truncated(dataStart);
  let text: string;
  try {
    text = new TextDecoder(version === 3 ? 'utf-8' : 'latin1', { fatal: true }).decode(prefix.subarray(headerStart, dataStart));
  } catch {
    throw malformed(`${field}.header`, 'bytes that are no UTF-8', 'text in UTF-8');
  }
  const { descr, fortranOrder, shape } = readHeader(text, field);

  const count = elementCount(shape, `${field}.shape`);
  const name = descr.kind === 'string' ? descr.text : 'structured';
  const dtype = descr.kind === 'string' ? dtypeOf(descr.text) : undefined;
  if (dtype === undefined) {
    const what = whyUnreadable(descr);
    return {
      shape, descr: name, reason: `${what} cannot be read; save it as float32`,
      decode: () => { throw new TensorFileError('unsupported', `${field}.descr`, what, 'a float, integer or bool type such as <f4'); },
    };
  }
  const size = count * bytesOfDtype[dtype];
  if (fileBytes - dataStart < size) throw truncated(dataStart + size);
  if (fileBytes - dataStart > size) {
    throw malformed(field, `${fileBytes} bytes`, `${dataStart + size}, the header and one array of shape ${formatShape(shape)}`);
  }
  return {
    shape, descr: name,
    decode(file) {
      const values = decode(file().subarray(dataStart, dataStart + size), dtype, count, !name.startsWith('>'), field);
      return fortranOrder ? fromFortranOrder(values, shape, field) : values;
    },
  };
}

/** A version 1 file of float32 in row-major order. Throws TensorFileError unless the values fill the shape. */
export function writeNpy(shape: readonly number[], values: Float32Array): Uint8Array<ArrayBuffer> {
  checkFilled(shape, values, 'shape');
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

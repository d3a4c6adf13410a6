// Hugging Face's .safetensors: an 8-byte length, a JSON header, and the tensors' bytes.

import { setFloat16 } from '@petamoriken/float16';
import { bytesOfDtype, decode } from './dtype.ts';
import type { TensorDtype } from './dtype.ts';
import { excerpt, TensorFileError } from './errors.ts';
import { checkFilled, elementCount, formatShape } from './shape.ts';
import { parseStrictJson } from './strict-json.ts';

/** The limit of the reference implementation. */
const LONGEST_HEADER = 100_000_000;
/** The key that is no tensor's name. */
const METADATA = '__metadata__';

const dtypes: Readonly<Record<string, TensorDtype>> = {
  F16: 'float16', BF16: 'bfloat16', F32: 'float32', F64: 'float64',
  I8: 'int8', I16: 'int16', I32: 'int32', I64: 'int64',
  U8: 'uint8', U16: 'uint16', U32: 'uint32', U64: 'uint64', BOOL: 'bool',
};

export interface SafeTensor {
  readonly shape: readonly number[];
  readonly dtype: string;
  readonly reason?: string;
  read(): Float32Array<ArrayBuffer>;
}

export interface Safetensors {
  readonly tensors: ReadonlyMap<string, SafeTensor>;
  readonly metadata: ReadonlyMap<string, string>;
}

/** No magic number: a plausible length followed by an opening brace. */
export function isSafetensors(bytes: Uint8Array): boolean {
  if (bytes.length < 10 || bytes[8] !== 0x7b) return false;
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  return view.getBigUint64(0, true) <= BigInt(LONGEST_HEADER);
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function readMetadata(entry: unknown): ReadonlyMap<string, string> {
  if (!isRecord(entry)) throw new TensorFileError('malformed', METADATA, 'no object', 'an object of strings');
  const metadata = new Map<string, string>();
  for (const [key, value] of Object.entries(entry)) {
    if (typeof value !== 'string') throw new TensorFileError('malformed', `${METADATA}.${excerpt(key)}`, typeof value, 'a string');
    metadata.set(key, value);
  }
  return metadata;
}

function openTensor(name: string, entry: unknown, data: Uint8Array): SafeTensor & { begin: number; end: number } {
  const field = excerpt(name);
  if (!isRecord(entry)) throw new TensorFileError('malformed', field, 'no object', 'dtype, shape and data_offsets');
  const { dtype, shape, data_offsets: offsets } = entry;
  if (typeof dtype !== 'string') throw new TensorFileError('malformed', `${field}.dtype`, excerpt(String(dtype)), 'a string such as F32');
  if (!Array.isArray(shape) || !shape.every((size) => typeof size === 'number')) {
    throw new TensorFileError('malformed', `${field}.shape`, excerpt(JSON.stringify(shape) ?? 'none'), 'a list of integers');
  }
  if (!Array.isArray(offsets) || offsets.length !== 2 || !offsets.every((offset) => Number.isSafeInteger(offset))) {
    throw new TensorFileError('malformed', `${field}.data_offsets`, excerpt(JSON.stringify(offsets) ?? 'none'), 'two integers');
  }
  const [begin, end] = offsets as [number, number];
  if (begin < 0 || begin > end || end > data.length) {
    throw new TensorFileError('truncated', `${field}.data_offsets`, `[${begin}, ${end}]`, `a range within the ${data.length} bytes of data`);
  }
  const count = elementCount(shape as number[], `${field}.shape`);
  const known = Object.hasOwn(dtypes, dtype) ? dtypes[dtype] : undefined;
  const base = { shape: shape as number[], dtype, begin, end };
  if (known === undefined) {
    return {
      ...base, reason: `dtype ${excerpt(dtype)} cannot be read`,
      read: () => { throw new TensorFileError('unsupported', `${field}.dtype`, excerpt(dtype), Object.keys(dtypes).join(', ')); },
    };
  }
  if (count * bytesOfDtype[known] !== end - begin) {
    throw new TensorFileError('malformed', `${field}.shape`, `${formatShape(shape)} of ${dtype} in ${end - begin} bytes`, `${count * bytesOfDtype[known]} bytes`);
  }
  return { ...base, read: () => decode(data.subarray(begin, end), known, count, true, field) };
}

/** Reads and checks the header; elements are decoded by read(). Throws TensorFileError. */
export function openSafetensors(bytes: Uint8Array): Safetensors {
  if (bytes.length < 8) throw new TensorFileError('truncated', 'header', `${bytes.length} bytes`, 'at least 8');
  const headerLength = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength).getBigUint64(0, true);
  if (headerLength > BigInt(LONGEST_HEADER)) {
    throw new TensorFileError('too-large', 'header', `${headerLength} bytes`, `at most ${LONGEST_HEADER}, as every .safetensors file has`);
  }
  const dataStart = 8 + Number(headerLength);
  if (dataStart > bytes.length) throw new TensorFileError('truncated', 'header', `${bytes.length} bytes`, `at least ${dataStart}`);
  if (bytes[8] !== 0x7b || headerLength === 0n) throw new TensorFileError('malformed', 'header', 'a header of another kind', 'a JSON object, which starts with {');
  let json: string;
  try {
    json = new TextDecoder('utf-8', { fatal: true }).decode(bytes.subarray(8, dataStart));
  } catch {
    throw new TensorFileError('malformed', 'header', 'bytes that are no UTF-8', 'JSON in UTF-8');
  }
  const header = parseStrictJson(json, 'header') as Record<string, unknown>;

  const data = bytes.subarray(dataStart);
  let metadata: ReadonlyMap<string, string> = new Map();
  const tensors = new Map<string, ReturnType<typeof openTensor>>();
  for (const [name, entry] of Object.entries(header)) {
    if (name === METADATA) metadata = readMetadata(entry);
    else tensors.set(name, openTensor(name, entry, data));
  }
  // The bytes belong to one tensor each and to none but tensors, as the reference demands.
  let position = 0;
  for (const [name, { begin, end }] of [...tensors].sort(([, a], [, b]) => a.begin - b.begin || a.end - b.end)) {
    if (begin !== position) {
      throw new TensorFileError('malformed', `${excerpt(name)}.data_offsets`, `[${begin}, ${end}]`, `to start at ${position}, without overlap or hole`);
    }
    position = end;
  }
  if (position !== data.length) {
    throw new TensorFileError('malformed', 'data', `${data.length} bytes`, `${position}, what the tensors hold`);
  }
  return { tensors, metadata };
}

/** Half a step above the largest float16, 65504: from here on rounding gives infinity. */
const FLOAT16_OVERFLOW = 65520;

export interface TensorToWrite {
  readonly shape: readonly number[];
  readonly values: Float32Array;
  /** Default float32; float16 rounds to nearest. */
  readonly dtype?: 'float32' | 'float16';
}

/**
 * A file of tensors, in the order given, with metadata. Throws TensorFileError on values that do not
 * fill their shape or that float16 cannot hold, and on the name the format keeps for metadata.
 */
export function writeSafetensors(tensors: Readonly<Record<string, TensorToWrite>>, metadata: Readonly<Record<string, string>> = {}): Uint8Array<ArrayBuffer> {
  let offset = 0;
  // Not built by assignment, which __proto__ would escape.
  const header = Object.fromEntries([[METADATA, metadata as unknown], ...Object.entries(tensors).map(([name, { shape, values, dtype = 'float32' }]) => {
    if (name === METADATA) throw new TensorFileError('malformed', 'name', name, 'another name');
    checkFilled(shape, values, `${excerpt(name)}.shape`);
    const begin = offset;
    offset += values.length * bytesOfDtype[dtype];
    return [name, { dtype: dtype === 'float32' ? 'F32' : 'F16', shape, data_offsets: [begin, offset] }] as const;
  })]);
  const json = new TextEncoder().encode(JSON.stringify(header));
  const padded = Math.ceil(json.length / 8) * 8;
  const out = new Uint8Array(8 + padded + offset).fill(0x20, 8, 8 + padded);
  const view = new DataView(out.buffer);
  view.setBigUint64(0, BigInt(padded), true);
  out.set(json, 8);
  let at = 8 + padded;
  for (const [name, { values, dtype = 'float32' }] of Object.entries(tensors)) {
    values.forEach((value, i) => {
      if (dtype === 'float32') {
        view.setFloat32(at, value, true);
      } else {
        if (Number.isFinite(value) && Math.abs(value) >= FLOAT16_OVERFLOW) {
          throw new TensorFileError('out-of-range', `${excerpt(name)}[${i}]`, String(value), 'a number that float16 holds, at most 65504');
        }
        setFloat16(view, at, value, true);
      }
      at += bytesOfDtype[dtype];
    });
  }
  return out;
}

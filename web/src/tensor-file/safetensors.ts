// Hugging Face's .safetensors: an 8-byte length, a JSON header, and the tensors' bytes.

import { setFloat16 } from '@petamoriken/float16';
import { bytesOfDtype, decode } from './dtype.ts';
import type { TensorDtype } from './dtype.ts';
import { excerpt, TensorFileError } from './errors.ts';
import { elementCount } from './shape.ts';

/** The limit of the reference implementation. */
const LONGEST_HEADER = 100_000_000;

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

/** JSON.parse keeps the last of equal keys silently; the format forbids them. */
function checkDuplicateNames(json: string): void {
  // Only a tensor's key is followed by an object: metadata holds strings, whose quotes are escaped.
  const seen = new Set<string>();
  for (const [, key] of json.matchAll(/("(?:[^"\\]|\\.)*")\s*:\s*\{/g)) {
    if (seen.has(key!)) throw new TensorFileError('malformed', 'header', `the name ${excerpt(key!)} twice`, 'each name once');
    seen.add(key!);
  }
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
  const known = dtypes[dtype];
  const base = { shape: shape as number[], dtype, begin, end };
  if (known === undefined) {
    return {
      ...base, reason: `dtype ${excerpt(dtype)} cannot be read`,
      read: () => { throw new TensorFileError('unsupported', `${field}.dtype`, excerpt(dtype), Object.keys(dtypes).join(', ')); },
    };
  }
  if (count * bytesOfDtype[known] !== end - begin) {
    throw new TensorFileError('malformed', `${field}.shape`, `[${shape.join(', ')}] of ${dtype} in ${end - begin} bytes`, `${count * bytesOfDtype[known]} bytes`);
  }
  return { ...base, read: () => decode(data.subarray(begin, end), known, count, true, field) };
}

/** Reads and checks the header; elements are decoded by read(). Throws TensorFileError. */
export function openSafetensors(bytes: Uint8Array): Safetensors {
  if (bytes.length < 8) throw new TensorFileError('truncated', 'header', `${bytes.length} bytes`, 'at least 8');
  const headerLength = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength).getBigUint64(0, true);
  if (headerLength > BigInt(LONGEST_HEADER)) {
    throw new TensorFileError('too-large', 'header', `${headerLength} bytes`, `at most ${LONGEST_HEADER}`);
  }
  const dataStart = 8 + Number(headerLength);
  if (dataStart > bytes.length) throw new TensorFileError('truncated', 'header', `${bytes.length} bytes`, `at least ${dataStart}`);
  let json: string, header: unknown;
  try {
    json = new TextDecoder('utf-8', { fatal: true }).decode(bytes.subarray(8, dataStart));
    header = JSON.parse(json);
  } catch {
    throw new TensorFileError('malformed', 'header', 'bytes that are no JSON', 'a JSON object in UTF-8');
  }
  if (!isRecord(header)) throw new TensorFileError('malformed', 'header', 'JSON that is no object', 'a JSON object');

  const data = bytes.subarray(dataStart);
  const metadata = new Map<string, string>();
  const tensors = new Map<string, ReturnType<typeof openTensor>>();
  for (const [name, entry] of Object.entries(header)) {
    if (name !== '__metadata__') {
      tensors.set(name, openTensor(name, entry, data));
    } else if (isRecord(entry)) {
      for (const [key, value] of Object.entries(entry)) if (typeof value === 'string') metadata.set(key, value);
    }
  }
  checkDuplicateNames(json);
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

export interface TensorToWrite {
  readonly shape: readonly number[];
  readonly values: Float32Array;
  /** Default float32; float16 rounds to nearest. */
  readonly dtype?: 'float32' | 'float16';
}

/** A file of tensors, in the order given, with metadata. */
export function writeSafetensors(tensors: Readonly<Record<string, TensorToWrite>>, metadata: Readonly<Record<string, string>> = {}): Uint8Array<ArrayBuffer> {
  let offset = 0;
  const header: Record<string, unknown> = { __metadata__: metadata };
  for (const [name, { shape, values, dtype = 'float32' }] of Object.entries(tensors)) {
    const end = offset + values.length * bytesOfDtype[dtype];
    header[name] = { dtype: dtype === 'float32' ? 'F32' : 'F16', shape, data_offsets: [offset, end] };
    offset = end;
  }
  const json = new TextEncoder().encode(JSON.stringify(header));
  const padded = Math.ceil(json.length / 8) * 8;
  const out = new Uint8Array(8 + padded + offset).fill(0x20, 8, 8 + padded);
  const view = new DataView(out.buffer);
  view.setBigUint64(0, BigInt(padded), true);
  out.set(json, 8);
  let at = 8 + padded;
  for (const { values, dtype = 'float32' } of Object.values(tensors)) {
    for (const value of values) {
      if (dtype === 'float32') view.setFloat32(at, value, true);
      else setFloat16(view, at, value, true);
      at += bytesOfDtype[dtype];
    }
  }
  return out;
}

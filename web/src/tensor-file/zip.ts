// Zip archives as .npz uses them: the directory is read and checked here, fflate inflates. fflate's own
// reader of directories inflates whole entries, follows any number of entries that a file claims, and
// looks neither at encryption nor at checksums.

import { Inflate, inflateSync } from 'fflate';
import { excerpt, TensorFileError } from './errors.ts';

// PKWARE's APPNOTE 6.3.10; section numbers below are its.
const LOCAL_HEADER = 0x04034b50;
const DIRECTORY_HEADER = 0x02014b50;
const DIRECTORY_END = 0x06054b50;
const ZIP64_END = 0x06064b50;
const ZIP64_LOCATOR = 0x07064b50;
const LONGEST_COMMENT = 0xffff;
/** Encrypted, strongly encrypted, directory encrypted (4.4.4). */
const ENCRYPTION_FLAGS = 0x2041;
const UTF8_FLAG = 0x0800;
/** In a 32-bit field: the value stands in the zip64 extra field (4.5.3). */
const IN_EXTRA = 0xffffffff;

/** Inflated bytes of one entry. */
const MOST_BYTES = 2 ** 31;
/** Deflate cannot shrink by more than this factor: 258 bytes in two bits. */
const MOST_EXPANSION = 1032;
/** Compressed bytes to inflate at once when only the start is wanted. */
const CHUNK_BYTES = 1024;

export interface ZipEntry {
  readonly name: string;
  /** Bytes when inflated, as the directory claims. */
  readonly size: number;
  /** The first `length` bytes, or all if there are fewer. Throws TensorFileError. */
  prefix(length: number): Uint8Array;
  /** All bytes, of the size claimed and with the right checksum. Throws TensorFileError. */
  content(): Uint8Array;
}

interface DirectoryRecord {
  readonly field: string;
  readonly name: string;
  readonly flags: number;
  readonly method: number;
  readonly checksum: number;
  readonly compressed: number;
  readonly size: number;
  readonly localOffset: number;
}

export function isZip(bytes: Uint8Array): boolean {
  return bytes[0] === 0x50 && bytes[1] === 0x4b && ((bytes[2] === 3 && bytes[3] === 4) || (bytes[2] === 5 && bytes[3] === 6));
}

function malformed(field: string, received: string, expected: string): TensorFileError {
  return new TensorFileError('malformed', field, received, expected);
}

function viewOf(bytes: Uint8Array): DataView {
  return new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}

/** Exact up to 2^53; what lies beyond is larger than any file and refused by the checks of ranges. */
function uint64(view: DataView, at: number): number {
  return Number(view.getBigUint64(at, true));
}

/** Where the directory lies and how many entries it claims (4.3.14 to 4.3.16). */
function findDirectory(bytes: Uint8Array): { readonly begin: number; readonly end: number; readonly count: number } {
  const view = viewOf(bytes);
  let at = bytes.length - 22;
  const isEnd = () => view.getUint32(at, true) === DIRECTORY_END && at + 22 + view.getUint16(at + 20, true) === bytes.length;
  const first = Math.max(0, at - LONGEST_COMMENT);
  while (at >= first && !isEnd()) at--;
  if (at < first) throw new TensorFileError('truncated', 'archive', `${bytes.length} bytes without a directory at their end`, 'a zip archive that is whole');
  let end = at;
  let begin = view.getUint32(at + 16, true);
  let count = view.getUint16(at + 10, true);
  if (at >= 20 && view.getUint32(at - 20, true) === ZIP64_LOCATOR) {
    end = uint64(view, at - 12);
    if (end + 56 > at - 20 || view.getUint32(end, true) !== ZIP64_END) throw malformed('archive', `a zip64 directory end at ${end}`, 'one within the file');
    count = uint64(view, end + 32);
    begin = uint64(view, end + 48);
  } else if (view.getUint16(at + 4, true) !== 0 || view.getUint16(at + 8, true) !== count) {
    throw new TensorFileError('unsupported', 'archive', 'one part of several', 'an archive in one part');
  }
  return { begin, end, count };
}

/** Sizes and place of an entry whose 32-bit fields say that they stand in the extra field (4.5.3). */
function withExtra(extra: DataView, field: string, fields: readonly [size: number, compressed: number, localOffset: number]): readonly number[] {
  if (!fields.includes(IN_EXTRA)) return fields;
  for (let at = 0; at + 4 <= extra.byteLength; at += 4 + extra.getUint16(at + 2, true)) {
    if (extra.getUint16(at, true) !== 1) continue;
    let next = at + 4;
    const end = Math.min(next + extra.getUint16(at + 2, true), extra.byteLength);
    return fields.map((value) => {
      if (value !== IN_EXTRA) return value;
      if (next + 8 > end) throw malformed(field, 'a zip64 field that is too short', '8 bytes a size');
      next += 8;
      return uint64(extra, next - 8);
    });
  }
  return fields;
}

function readDirectory(bytes: Uint8Array): { readonly records: readonly DirectoryRecord[]; readonly begin: number } {
  const { begin, end, count } = findDirectory(bytes);
  const view = viewOf(bytes);
  const records: DirectoryRecord[] = [];
  const names = new Set<string>();
  let at = begin;
  for (let i = 0; i < count; i++) {
    if (at + 46 > end || view.getUint32(at, true) !== DIRECTORY_HEADER) throw malformed('archive', `${i} entries in its directory`, `${count}`);
    const nameEnd = at + 46 + view.getUint16(at + 28, true);
    const extraEnd = nameEnd + view.getUint16(at + 30, true);
    const next = extraEnd + view.getUint16(at + 32, true);
    if (next > end) throw malformed('archive', `an entry that ends at ${next}`, `the directory's end at ${end}`);
    const flags = view.getUint16(at + 8, true);
    let name: string;
    try {
      name = new TextDecoder(flags & UTF8_FLAG ? 'utf-8' : 'latin1', { fatal: true }).decode(bytes.subarray(at + 46, nameEnd));
    } catch {
      throw malformed('archive', `a name that is no UTF-8, of entry ${i}`, 'names in UTF-8');
    }
    const field = excerpt(name);
    if (names.has(name)) throw malformed('archive', `the name ${field} twice`, 'each name once');
    names.add(name);
    const [size, compressed, localOffset] = withExtra(viewOf(bytes.subarray(nameEnd, extraEnd)), field, [
      view.getUint32(at + 24, true), view.getUint32(at + 20, true), view.getUint32(at + 42, true),
    ]) as [number, number, number];
    records.push({ field, name, flags, method: view.getUint16(at + 10, true), checksum: view.getUint32(at + 16, true), compressed, size, localOffset });
    at = next;
  }
  return { records, begin };
}

const crcTable = Uint32Array.from({ length: 256 }, (_, byte) => {
  let crc = byte;
  // The reflected polynomial of IEEE 802.3 (4.4.7).
  for (let bit = 0; bit < 8; bit++) crc = crc & 1 ? (crc >>> 1) ^ 0xedb88320 : crc >>> 1;
  return crc;
});

function crc32(bytes: Uint8Array): number {
  let crc = 0xffffffff;
  for (let i = 0; i < bytes.length; i++) crc = crcTable[(crc ^ bytes[i]!) & 0xff]! ^ (crc >>> 8);
  return (crc ^ 0xffffffff) >>> 0;
}

function damaged(field: string, error: unknown): TensorFileError {
  return malformed(field, `data that cannot be inflated: ${excerpt(error instanceof Error ? error.message : String(error))}`, 'a deflated stream that is whole');
}

function inflatePrefix(data: Uint8Array, length: number, field: string): Uint8Array {
  const prefix = new Uint8Array(length);
  let filled = 0;
  const stream = new Inflate((chunk) => {
    const part = chunk.subarray(0, length - filled);
    prefix.set(part, filled);
    filled += part.length;
  });
  try {
    for (let at = 0; at < data.length && filled < length; at += CHUNK_BYTES) {
      stream.push(data.slice(at, at + CHUNK_BYTES), at + CHUNK_BYTES >= data.length);
    }
  } catch (error) {
    throw damaged(field, error);
  }
  return prefix.subarray(0, filled);
}

function inflateAll(data: Uint8Array, size: number, field: string): Uint8Array {
  let room: Uint8Array<ArrayBuffer>;
  try {
    // One byte more, since fflate drops what does not fit: a stream longer than claimed fills it.
    room = new Uint8Array(size + 1);
  } catch {
    throw new TensorFileError('too-large', field, `${size} bytes inflated`, 'an array that fits in memory');
  }
  try {
    return inflateSync(data, { out: room });
  } catch (error) {
    throw damaged(field, error);
  }
}

/**
 * Local headers and data lie one after the other, before the directory. Entries on top of each other
 * are how a small archive claims to hold a huge one.
 */
function checkPlaces(records: readonly DirectoryRecord[], directory: number): void {
  const places = [...records].sort((a, b) => a.localOffset - b.localOffset);
  places.forEach(({ field, localOffset, compressed }, i) => {
    const next = places[i + 1]?.localOffset ?? directory;
    if (localOffset + 30 + compressed > next) throw malformed(field, `${compressed} bytes from ${localOffset}`, `an end before ${next}`);
  });
}

/** Of a record whose place has been checked. */
function openEntry(bytes: Uint8Array, record: DirectoryRecord, directory: number): ZipEntry {
  const { field, name, flags, method, checksum, compressed, size, localOffset } = record;
  if (flags & ENCRYPTION_FLAGS) throw new TensorFileError('unsupported', field, 'an encrypted entry', 'an archive without a password');
  if (method !== 0 && method !== 8) {
    throw new TensorFileError('unsupported', field, `zip compression method ${method}`, 'stored or deflated entries');
  }
  const view = viewOf(bytes);
  if (view.getUint32(localOffset, true) !== LOCAL_HEADER) {
    throw malformed(field, `an entry at ${localOffset}`, 'the place of a local file header');
  }
  const begin = localOffset + 30 + view.getUint16(localOffset + 26, true) + view.getUint16(localOffset + 28, true);
  if (begin + compressed > directory || (method === 0 ? size !== compressed : size > compressed * MOST_EXPANSION)) {
    throw malformed(field, `${compressed} bytes that claim to inflate to ${size}`, 'sizes the file can hold');
  }
  if (size > MOST_BYTES) throw new TensorFileError('too-large', field, `${size} bytes inflated`, `at most ${MOST_BYTES}`);
  const data = bytes.subarray(begin, begin + compressed);
  return {
    name, size,
    prefix: (length) => method === 0 ? data.subarray(0, length) : inflatePrefix(data, Math.min(length, size), field),
    content() {
      const content = method === 0 ? data : inflateAll(data, size, field);
      if (content.length !== size) throw malformed(field, `${content.length > size ? 'more' : content.length} bytes inflated`, `${size}`);
      const actual = crc32(content);
      if (actual !== checksum) throw malformed(field, `checksum ${actual.toString(16)}`, `${checksum.toString(16)}, as in the directory`);
      return content;
    },
  };
}

/** The archive's entries that `wanted` picks by name, and the number of all. Throws TensorFileError. */
export function openZip(bytes: Uint8Array, wanted: (name: string) => boolean): { readonly entries: readonly ZipEntry[]; readonly count: number } {
  const { records, begin } = readDirectory(bytes);
  checkPlaces(records, begin);
  return { entries: records.filter(({ name }) => wanted(name)).map((record) => openEntry(bytes, record, begin)), count: records.length };
}

// Damaged files: whatever is done to a valid file gives a TensorFileError or tensors of the listed
// shapes. fast-check prints the seed and the smallest damage of a failure.

import fc from 'fast-check';
import { zipSync } from 'fflate';
import { describe, expect, test } from 'vitest';
import { openTensorFile, TensorFileError, writeNpy, writeSafetensors } from '../../../web/src/tensor-file/index.ts';
import { DIRECTORY, END, floats, latin1, LOCAL, npy, placesOf, safetensors } from './support.ts';

/** Float32 beside the file's own bytes: one byte of it may become four, and deflate grows a thousandfold. */
const MOST_GROWTH = 1032 * 4;

/** Opens and reads all; says whether that succeeded. */
function tryAll(name: string, bytes: Uint8Array): boolean {
  try {
    const file = openTensorFile(name, bytes);
    for (const { name: tensor, shape, readable, reason } of file.tensors) {
      expect(readable).toBe(reason === undefined);
      if (!readable) continue;
      const { length } = file.read(tensor);
      expect(length).toBe(shape.reduce((a, b) => a * b, 1));
      expect(length * 4).toBeLessThanOrEqual(bytes.length * MOST_GROWTH);
    }
    return true;
  } catch (error) {
    if (error instanceof TensorFileError) return false;
    throw error;
  }
}

const ramp = Float32Array.from({ length: 12 }, Math.sin);
const samples: Readonly<Record<string, Uint8Array>> = {
  npy: writeNpy([3, 4], ramp),
  'npz, deflated': zipSync({ 'q.npy': writeNpy([2, 3], new Float32Array(6)), 'k.npy': writeNpy([12], ramp) }),
  'npz, stored': zipSync({ 'q.npy': writeNpy([3, 4], ramp), 'k.npy': writeNpy([5], new Float32Array(5)) }, { level: 0 }),
  safetensors: writeSafetensors({ query: { shape: [2, 4], values: new Float32Array(8) }, key: { shape: [3], values: new Float32Array(3) } }, { title: 'x' }),
};

/** Bytes that mean something in one of the formats are likelier than others. */
const byte = fc.oneof(fc.integer({ min: 0, max: 255 }), fc.constantFrom(...latin1('{}[]()\'",:\\-0123456789.eLTFN<>|=OfFBI\xff\x00\x01\x7f\x80')));
const edit = fc.oneof(
  fc.record({ kind: fc.constant('set' as const), at: fc.nat(2000), byte }),
  fc.record({ kind: fc.constant('flip' as const), at: fc.nat(2000), byte: fc.constantFrom(1, 2, 4, 8, 16, 32, 64, 128) }),
  fc.record({ kind: fc.constant('insert' as const), at: fc.nat(2000), byte }),
  fc.record({ kind: fc.constant('remove' as const), at: fc.nat(2000), byte: fc.integer({ min: 1, max: 20 }) }),
  fc.record({ kind: fc.constant('repeat' as const), at: fc.nat(2000), byte: fc.integer({ min: 1, max: 60 }) }),
  fc.record({ kind: fc.constant('cut' as const), at: fc.nat(2000), byte: fc.constant(0) }),
);

function damaged(bytes: Uint8Array, edits: readonly { kind: 'set' | 'flip' | 'insert' | 'remove' | 'repeat' | 'cut'; at: number; byte: number }[]): Uint8Array {
  const out = [...bytes];
  for (const change of edits) {
    if (out.length === 0) break;
    const at = change.at % out.length;
    if (change.kind === 'set') out[at] = change.byte;
    else if (change.kind === 'flip') out[at]! ^= change.byte;
    else if (change.kind === 'insert') out.splice(at, 0, change.byte);
    else if (change.kind === 'remove') out.splice(at, change.byte);
    else if (change.kind === 'repeat') out.splice(at, 0, ...out.slice(at, at + change.byte));
    else out.length = at;
  }
  return Uint8Array.from(out);
}

describe.each(Object.entries(samples))('a damaged file, %s,', (_kind, bytes) => {
  test('is read whole before it is damaged', () => {
    expect(tryAll('x', bytes)).toBe(true);
  });

  test('gives tensors of the listed shapes or a TensorFileError, whatever its name', () => {
    fc.assert(fc.property(fc.constantFrom('x.npy', 'x.npz', 'x.safetensors'), fc.array(edit, { minLength: 1, maxLength: 6 }), (name, edits) => {
      tryAll(name, damaged(bytes, edits));
    }), { numRuns: 3000 });
  });

  test('does so with each of its bits flipped, and cut at each byte', () => {
    for (let at = 0; at < bytes.length; at++) {
      tryAll('x.safetensors', bytes.subarray(0, at));
      for (let bit = 0; bit < 8; bit++) {
        const copy = bytes.slice();
        copy[at]! ^= 1 << bit;
        tryAll('x.safetensors', copy);
      }
    }
  });
});

test('a header of any values gives tensors of the listed shapes or a TensorFileError', () => {
  const number = fc.oneof(fc.integer({ min: -1, max: 5 }), fc.constantFrom(4, 8, 2 ** 31, 2 ** 53, 2 ** 60, -0, 1.5, 1e308), fc.double());
  const entry = fc.record({
    dtype: fc.oneof(fc.constantFrom('F32', 'F16', 'BF16', 'F64', 'U8', 'BOOL', 'F8_E4M3'), fc.jsonValue()),
    shape: fc.oneof(fc.array(number, { maxLength: 4 }), fc.jsonValue()),
    data_offsets: fc.oneof(fc.tuple(fc.constantFrom(0, 4, 8), fc.constantFrom(0, 4, 8, 16)), fc.array(number, { maxLength: 3 }), fc.jsonValue()),
  }, { requiredKeys: [] });
  const name = fc.constantFrom('a', 'b', '__proto__', '__metadata__', 'constructor');
  const header = fc.array(fc.tuple(name, fc.oneof({ weight: 4, arbitrary: entry }, { weight: 1, arbitrary: fc.jsonValue() })), { maxLength: 3 })
    // Put together as text, so that a name may come twice.
    .map((entries) => `{${entries.map(([key, value]) => `${JSON.stringify(key)}:${JSON.stringify(value)}`).join(',')}}`);
  fc.assert(fc.property(header, fc.constantFrom(0, 4, 8, 16), (text, size) => {
    tryAll('x.safetensors', safetensors(text, new Uint8Array(size)));
  }), { numRuns: 5000 });
});

test('a .npy header of any tokens gives an array of the listed shape or a TensorFileError', () => {
  const token = fc.constantFrom('{', '}', '(', ')', '[', ']', ',', ':', ' ', '\n', "'descr'", "'fortran_order'", "'shape'", "'<f4'", "'|O'", "'>i8'", '"', "'", '\\', 'True', 'False', 'None', '0', '1', '2', '-1', '1L', '1e9', '99999999999999999999');
  const free = fc.array(token, { maxLength: 30 }).map((tokens) => tokens.join(''));
  const slots = fc.tuple(fc.array(token, { maxLength: 4 }), fc.array(token, { maxLength: 2 }), fc.array(token, { maxLength: 6 }))
    .map(([descr, order, shape]) => `{'descr': ${descr.join('') || "'<f4'"}, 'fortran_order': ${order.join('') || 'True'}, 'shape': (${shape.join('')}), }`);
  fc.assert(fc.property(fc.oneof(free, slots), fc.integer({ min: 0, max: 4 }), (text, version) => {
    tryAll('x.npy', npy(text, floats(1, 2), version));
  }), { numRuns: 5000 });
});

test('zip records of any numbers give arrays of the listed shapes or a TensorFileError', () => {
  const extreme = fc.oneof(fc.constantFrom(0, 1, 0x7fff, 0xffff, 0x7fffffff, 0xffffffff), fc.nat(1000));
  const field = fc.record({ sample: fc.constantFrom('npz, deflated', 'npz, stored'), record: fc.constantFrom(LOCAL, DIRECTORY, END), which: fc.nat(3), at: fc.integer({ min: 4, max: 42 }), value: extreme, wide: fc.boolean() });
  fc.assert(fc.property(fc.array(field, { minLength: 1, maxLength: 3 }), (fields) => {
    const copy = samples[fields[0]!.sample]!.slice();
    const view = new DataView(copy.buffer);
    for (const { record, which, at, value, wide } of fields) {
      const places = placesOf(record, copy);
      const place = places[which % places.length]! + at;
      if (place + 4 > copy.length) continue;
      if (wide) view.setUint32(place, value, true);
      else view.setUint16(place, value & 0xffff, true);
    }
    tryAll('x.npz', copy);
  }), { numRuns: 5000 });
});

test('any bytes behind a format\'s magic number give tensors or a TensorFileError', () => {
  const magic = fc.constantFrom('', '\x93NUMPY\x01\x00', '\x93NUMPY\x03\x00', 'PK\x03\x04', 'PK\x05\x06', '\x10\x00\x00\x00\x00\x00\x00\x00{');
  fc.assert(fc.property(magic, fc.uint8Array({ maxLength: 200 }), (start, rest) => {
    tryAll('x', Uint8Array.of(...latin1(start), ...rest));
  }), { numRuns: 5000 });
});

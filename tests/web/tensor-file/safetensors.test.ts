import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { openTensorFile, writeSafetensors } from '../../../web/src/tensor-file/index.ts';
import { failureOf, floats, safetensors } from './support.ts';

const open = (header: unknown, data?: Uint8Array) => openTensorFile('x.safetensors', safetensors(header, data));
const one = { dtype: 'F32', shape: [1], data_offsets: [0, 4] };
const oneText = JSON.stringify(one);

test('what writeSafetensors writes is read back, whatever the names', () => {
  const tensor = fc.tuple(fc.integer({ min: 0, max: 4 }), fc.integer({ min: 0, max: 4 })).chain(([rows, columns]) =>
    fc.array(fc.float(), { minLength: rows * columns, maxLength: rows * columns })
      .map((values) => ({ shape: [rows, columns], values: Float32Array.from(values) })));
  const name = fc.oneof(fc.string({ unit: 'grapheme' }), fc.constantFrom('__proto__', 'constructor', '1', '')).filter((text) => text !== '__metadata__');
  const entries = fc.uniqueArray(fc.tuple(name, tensor), { selector: ([key]) => key, maxLength: 5 });
  fc.assert(fc.property(entries, fc.dictionary(fc.string({ unit: 'grapheme' }), fc.string({ unit: 'grapheme' })), (list, metadata) => {
    const file = openTensorFile('x', writeSafetensors(Object.fromEntries(list), metadata));
    expect(new Map(file.tensors.map(({ name: key, shape }) => [key, shape]))).toEqual(new Map(list.map(([key, { shape }]) => [key, shape])));
    for (const [key, { values }] of list) expect(file.read(key)).toEqual(values);
    expect(new Map(file.metadata)).toEqual(new Map(Object.entries(metadata)));
  }), { examples: [[[['__proto__', { shape: [1, 1], values: Float32Array.of(5) }]], { ':{': '{":{' }]] });
});

test('float16 is written rounded to nearest, and refused beyond its range', () => {
  const write = (...values: number[]) => writeSafetensors({ a: { shape: [values.length], values: Float32Array.from(values), dtype: 'float16' } });
  const file = openTensorFile('x', write(1, 1 + 2 ** -11, 1 + 3 * 2 ** -11, 65519, -Infinity, NaN));
  expect(file.tensors[0]?.dtype).toBe('F16');
  expect([...file.read('a')]).toEqual([1, 1, 1 + 2 ** -9, 65504, -Infinity, NaN]);
  expect(failureOf(() => write(0, -65520))).toMatchObject({ code: 'out-of-range', field: 'a[1]' });
});

test('writeSafetensors refuses values that do not fill the shape and the name of the metadata', () => {
  expect(failureOf(() => writeSafetensors({ a: { shape: [3], values: new Float32Array(2) } }))).toMatchObject({ code: 'wrong-shape', field: 'a.shape' });
  expect(failureOf(() => writeSafetensors({ __metadata__: { shape: [1], values: new Float32Array(1) } })).code).toBe('malformed');
});

test('every bfloat16 is the upper half of a float32', () => {
  const bits = Uint16Array.from({ length: 0x10000 }, (_, i) => i);
  const expected = new Float32Array(Uint32Array.from(bits, (half) => half * 0x10000).buffer);
  expect(open({ a: { dtype: 'BF16', shape: [256, 256], data_offsets: [0, 0x20000] } }, new Uint8Array(bits.buffer)).read('a')).toEqual(expected);
});

test('a name like __proto__ is a name like any other', () => {
  const file = open(`{"__proto__":${oneText}}`, floats(5));
  expect([...file.read('__proto__')]).toEqual([5]);
  expect(({} as Record<string, unknown>)['dtype']).toBeUndefined();
  for (const name of ['constructor', 'toString']) expect(failureOf(() => file.read(name)).code).toBe('no-such-tensor');
});

test('an unknown dtype is listed, and does not hide the others', () => {
  for (const dtype of ['F8_E4M3', 'constructor']) {
    const file = open({ a: one, b: { dtype, shape: [4], data_offsets: [4, 8] } }, new Uint8Array(8));
    expect(file.tensors.map(({ readable }) => readable)).toEqual([true, false]);
    expect(failureOf(() => file.read('b'))).toMatchObject({ code: 'unsupported', field: 'b.dtype', received: dtype });
  }
});

test('metadata with brackets, quotes and equal texts is no tensor', () => {
  const file = open({ __metadata__: { k: ':{', j: ':{', q: '"a":{"a":{' }, a: one }, floats(1));
  expect([...file.metadata]).toEqual([['k', ':{'], ['j', ':{'], ['q', '"a":{"a":{']]);
});

describe('a header is refused with', () => {
  test.each([
    ['offsets past the end', { a: { ...one, data_offsets: [0, 400] } }, 4, 'truncated'],
    ['negative offsets', { a: { ...one, data_offsets: [-4, 0] } }, 4, 'truncated'],
    ['offsets the wrong way round', { a: { ...one, data_offsets: [4, 0] } }, 4, 'truncated'],
    ['fractional offsets', { a: { ...one, data_offsets: [0, 3.5] } }, 4, 'malformed'],
    ['one offset', { a: { ...one, data_offsets: [0] } }, 4, 'malformed'],
    ['offsets beyond 2^53', { a: { ...one, data_offsets: [0, 2 ** 60] } }, 4, 'malformed'],
    ['overlapping tensors', { a: one, b: one }, 4, 'malformed'],
    ['a hole', { a: one, b: { ...one, data_offsets: [8, 12] } }, 12, 'malformed'],
    ['bytes that belong to nobody', { a: one }, 8, 'malformed'],
    ['a shape that does not fill its bytes', { a: { ...one, shape: [2] } }, 4, 'malformed'],
    ['a fractional size', { a: { ...one, shape: [1.5] } }, 4, 'malformed'],
    ['a negative size', { a: { ...one, shape: [-1] } }, 4, 'malformed'],
    ['a size of minus zero', '{"a":{"dtype":"F32","shape":[-0],"data_offsets":[0,0]}}', 0, 'malformed'],
    ['a size in quotes', { a: { ...one, shape: ['1'] } }, 4, 'malformed'],
    ['no shape', { a: { dtype: 'F32', data_offsets: [0, 4] } }, 4, 'malformed'],
    ['a number as dtype', { a: { ...one, dtype: 3 } }, 4, 'malformed'],
    ['a shape of 2^60', { a: { ...one, shape: [2 ** 60] } }, 4, 'too-large'],
    ['a product beyond 2^53', { a: { ...one, shape: [2 ** 40, 2 ** 40] } }, 4, 'too-large'],
    ['65 axes', { a: { ...one, shape: new Array(65).fill(1) } }, 4, 'too-large'],
    ['a tensor that is no object', { a: null }, 0, 'malformed'],
    ['metadata that is no object', { __metadata__: 'x' }, 0, 'malformed'],
    ['metadata that is no string', { __metadata__: { a: 1 } }, 0, 'malformed'],
    ['a list instead of an object', [], 0, 'malformed'],
    ['white space before the object', ` {"a":${oneText}}`, 4, 'malformed'],
    ['nothing', '', 8, 'malformed'],
    ['no JSON', '{"a":', 0, 'malformed'],
    ['a string without end', '{"a', 0, 'malformed'],
    ['a bad escape', '{"\\x":1}', 0, 'malformed'],
    ['bytes that are no UTF-8', Uint8Array.of(0x7b, 0x22, 0xff, 0x22, 0x3a, 0x31, 0x7d), 0, 'malformed'],
    ['the same name twice', `{"a":${oneText},"a":${oneText}}`, 4, 'malformed'],
    ['the same name twice, once escaped', `{"a":${oneText},"\\u0061":${oneText}}`, 4, 'malformed'],
    ['the same field twice', '{"a":{"dtype":"F32","dtype":"F32","shape":[1],"data_offsets":[0,4]}}', 4, 'malformed'],
    ['the same metadata twice', '{"__metadata__":{"a":"1","a":"2"}}', 0, 'malformed'],
    ['a million open brackets', `{"a":${'['.repeat(1e6)}`, 0, 'malformed'],
    ['a million brackets as dtype', `{"a":{"dtype":${'['.repeat(1e6)}${']'.repeat(1e6)}}}`, 0, 'malformed'],
    ['five million values', `{"a":[${'0,'.repeat(5e6)}0]}`, 0, 'too-large'],
  ])('%s', (_name, header, size, code) => {
    expect(failureOf(() => open(header, new Uint8Array(size))).code).toBe(code);
  });

  test('a length beyond the file, or beyond the limit', () => {
    const file = safetensors({});
    new DataView(file.buffer).setBigUint64(0, 1000n, true);
    expect(failureOf(() => openTensorFile('x.safetensors', file)).code).toBe('truncated');
    new DataView(file.buffer).setBigUint64(0, 2n ** 63n, true);
    expect(failureOf(() => openTensorFile('x.safetensors', file)).code).toBe('too-large');
  });
});

test('long texts full of quotes take linear time', () => {
  const text = '"'.repeat(1_000_000);
  const start = performance.now();
  expect(open({ __metadata__: { k: text }, a: one }, floats(1)).metadata.get('k')).toBe(text);
  // A quadratic scan takes minutes.
  expect(performance.now() - start).toBeLessThan(10_000);
});

test('a file cut at any byte is truncated', () => {
  const bytes = safetensors({ a: one }, floats(1));
  for (let length = 0; length < bytes.length; length++) {
    expect(failureOf(() => openTensorFile('x.safetensors', bytes.subarray(0, length))).code).toBe('truncated');
  }
});

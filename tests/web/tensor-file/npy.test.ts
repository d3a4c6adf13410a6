import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { findNonFinite, openTensorFile, writeNpy } from '../../../web/src/tensor-file/index.ts';
import { failureOf, floats, npy, npyHeader } from './support.ts';

const open = (header: string, data: Uint8Array, version = 1) => openTensorFile('x.npy', npy(header, data, version));

test('what writeNpy writes is read back', () => {
  fc.assert(fc.property(
    fc.array(fc.integer({ min: 0, max: 5 }), { maxLength: 4 }).chain((shape) => {
      const size = shape.reduce((a, b) => a * b, 1);
      return fc.tuple(fc.constant(shape), fc.array(fc.float(), { minLength: size, maxLength: size }));
    }),
    ([shape, values]) => {
      const bytes = writeNpy(shape, Float32Array.from(values));
      const file = openTensorFile('x.npy', bytes);
      expect(file.tensors).toEqual([{ name: 'x', shape, dtype: '<f4', readable: true }]);
      expect(file.read('x')).toEqual(Float32Array.from(values));
      expect((bytes.length - values.length * 4) % 64).toBe(0);
    }));
});

test('writeNpy refuses values that do not fill the shape', () => {
  expect(failureOf(() => writeNpy([3], new Float32Array(2))).code).toBe('wrong-shape');
  expect(failureOf(() => writeNpy([-1], new Float32Array(1))).code).toBe('malformed');
});

test('Fortran order is turned into row-major order, for any shape', () => {
  fc.assert(fc.property(fc.array(fc.integer({ min: 0, max: 4 }), { maxLength: 5 }), (shape) => {
    const size = shape.reduce((a, b) => a * b, 1);
    // Each element's value is its place in row-major order.
    const columnMajor = new Float32Array(size);
    for (let i = 0; i < size; i++) {
      let rest = i, place = 0;
      for (let axis = shape.length - 1; axis >= 0; axis--) {
        const index = rest % shape[axis]!;
        rest = Math.floor(rest / shape[axis]!);
        place += index * shape.slice(0, axis).reduce((a, b) => a * b, 1);
      }
      columnMajor[place] = i;
    }
    const tuple = `(${shape.map((n) => `${n},`).join('')})`;
    expect(open(npyHeader(tuple, "'<f4'", 'True'), new Uint8Array(columnMajor.buffer)).read('x')).toEqual(Float32Array.from({ length: size }, (_, i) => i));
  }));
});

test('every half float has its value, in both byte orders', () => {
  const bits = Uint16Array.from({ length: 0x10000 }, (_, i) => i);
  const expected = Float32Array.from(bits, (half) => {
    const sign = half & 0x8000 ? -1 : 1, exponent = (half >> 10) & 31, fraction = half & 1023;
    if (exponent === 31) return fraction === 0 ? sign * Infinity : NaN;
    return sign * (exponent === 0 ? fraction * 2 ** -24 : (1024 + fraction) * 2 ** (exponent - 25));
  });
  const little = new Uint8Array(bits.buffer);
  const big = little.map((_, i) => little[i ^ 1]!);
  expect(open(npyHeader('(65536,)', "'<f2'"), little).read('x')).toEqual(expected);
  expect(open(npyHeader('(65536,)', "'>f2'"), big).read('x')).toEqual(expected);
});

test('data at an odd place of a larger buffer is read', () => {
  const bytes = npy(npyHeader('(2,)'), floats(1.5, -2));
  const room = new Uint8Array(bytes.length + 3);
  room.set(bytes, 1);
  expect([...openTensorFile('x.npy', room.subarray(1, 1 + bytes.length)).read('x')]).toEqual([1.5, -2]);
});

test('a finite double that float32 cannot hold is named, NaN and infinity are kept', () => {
  const doubles = (...values: number[]) => open(npyHeader(`(${values.length},)`, "'<f8'"), new Uint8Array(Float64Array.from(values).buffer));
  expect(failureOf(() => doubles(1, 1e300).read('x'))).toMatchObject({ code: 'out-of-range', field: 'x[1]', received: '1e+300' });
  expect(findNonFinite(doubles(1, NaN, Infinity).read('x'))).toEqual({ index: 1, value: NaN, count: 2 });
  expect(findNonFinite(doubles(1, 3.4028234e38).read('x'))).toBeUndefined();
});

describe('the header', () => {
  test.each([
    ['versions 2 and 3, keys in another order, double quotes', '{"shape": (2,), "descr": "<f4", "fortran_order": False}', 3],
    ['no spaces and no last comma', "{'descr':'<f4','fortran_order':False,'shape':(2,)}", 1],
    ["Python 2's long integers", npyHeader('(2L,)'), 1],
    ['white space and a newline after it', `${npyHeader('(2,)')}   \n`, 2],
  ])('may have %s', (_what, header, version) => {
    expect([...open(header, floats(1, 2), version).read('x')]).toEqual([1, 2]);
  });

  test.each([
    ['code instead of a dict', '__import__("os").system("true")', 'malformed', 'x.header'],
    ['a list instead of a dict', "['<f4', False, (1,)]", 'malformed', 'x.header'],
    ['no end', "{'descr': '<f4', 'fortran_order': False, 'shape': (1,)", 'malformed', 'x.header'],
    ['something after its end', `${npyHeader('(1,)')} + 1`, 'malformed', 'x.header'],
    ['a key of its own', "{'descr': '<f4', 'fortran_order': False, 'shape': (1,), 'x': 1}", 'malformed', 'x.header'],
    ['the same key twice', "{'descr': '<f4', 'fortran_order': False, 'shape': (1,), 'shape': (1,)}", 'malformed', 'x.header'],
    ['keys only inside a string', `{'descr': "<f4', 'fortran_order': False, 'shape': (1,)"}`, 'malformed', 'x.fortran_order'],
    ['no order', "{'descr': '<f4', 'shape': (1,)}", 'malformed', 'x.fortran_order'],
    ['no shape', "{'descr': '<f4', 'fortran_order': False}", 'malformed', 'x.shape'],
    ['no descr', "{'shape': (1,), 'fortran_order': False}", 'malformed', 'x.descr'],
    ['an order that is no truth value', npyHeader('(1,)', "'<f4'", 'None'), 'malformed', 'x.fortran_order'],
    ['a number that is no tuple', npyHeader('(1)'), 'malformed', 'x.shape'],
    ['a list as shape', npyHeader('[1]'), 'malformed', 'x.shape'],
    ['a fractional size', npyHeader('(1.5,)'), 'malformed', 'x.header'],
    ['a negative size', npyHeader('(-1,)'), 'malformed', 'x.shape'],
    ['a size of minus zero', npyHeader('(-0,)'), 'malformed', 'x.shape'],
    ['a size with a leading zero', npyHeader('(01,)'), 'malformed', 'x.header'],
    ['a size of True', npyHeader('(True,)'), 'malformed', 'x.shape'],
    ['an empty place in the tuple', npyHeader('(,)'), 'malformed', 'x.header'],
    ['2^60 elements', npyHeader('(1152921504606846976,)'), 'too-large', 'x.shape'],
    ['a size of a thousand digits', npyHeader(`(${'9'.repeat(1000)},)`), 'too-large', 'x.shape'],
    ['a product beyond 2^53', npyHeader('(1000000000, 1000000000)'), 'too-large', 'x.shape'],
    ['65 axes', npyHeader(`(${'1,'.repeat(65)})`), 'too-large', 'x.shape'],
    ['a size beyond the data', npyHeader('(1000000, 1000000)'), 'truncated', 'x'],
    ['a size below the data', npyHeader('()', "'|u1'"), 'malformed', 'x'],
    ['deep brackets', '('.repeat(9000), 'malformed', 'x.header'],
    ['more than 10000 bytes', npyHeader('(1,)').padEnd(10_001), 'too-large', 'x.header'],
  ])('is refused with %s', (_what, header, code, field) => {
    expect(failureOf(() => open(header, floats(1)))).toMatchObject({ code, field });
  });

  test('is refused with another version and with bytes that are no UTF-8 in version 3', () => {
    expect(failureOf(() => open(npyHeader('(1,)'), floats(1), 4))).toMatchObject({ code: 'unsupported', field: 'x.version', received: '4' });
    const header = npyHeader('(1,)', "'<f\xff'");
    expect(failureOf(() => open(header, floats(1), 3))).toMatchObject({ code: 'malformed', field: 'x.header' });
  });

  test.each(['=f4', 'f4', '|f4', '<f16', '<x4', '<constructor', '<f'])('lists dtype %s as not readable', (descr) => {
    const file = open(npyHeader('(1,)', `'${descr}'`), floats(1));
    expect(file.tensors[0]).toMatchObject({ shape: [1], dtype: descr, readable: false, reason: `dtype ${descr} cannot be read; save it as float32` });
    expect(failureOf(() => file.read('x')).code).toBe('unsupported');
  });
});

test('a file cut at any byte is truncated, and unknown before its magic number ends', () => {
  const bytes = npy(npyHeader('(2, 2)'), floats(1, 2, 3, 4));
  for (let length = 0; length < bytes.length; length++) {
    expect(failureOf(() => openTensorFile('x.npy', bytes.subarray(0, length))).code).toBe(length < 6 ? 'unknown-format' : 'truncated');
  }
});

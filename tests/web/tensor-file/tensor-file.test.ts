import fc from 'fast-check';
import { zipSync } from 'fflate';
import { describe, expect, test } from 'vitest';
import { findNonFinite, openTensorFile, TensorFileError, toHeads, writeNpy, writeSafetensors } from '../../../web/src/tensor-file/index.ts';

const latin1 = (text: string) => Uint8Array.from(text, (c) => c.charCodeAt(0));

/** A .npy file made by hand. */
function npy(header: string, data: Uint8Array, version = 1): Uint8Array {
  const length = version === 1 ? [header.length & 255, header.length >> 8] : [header.length & 255, header.length >> 8, 0, 0];
  return Uint8Array.of(...latin1('\x93NUMPY'), version, 0, ...length, ...latin1(header), ...data);
}

/** A .safetensors file made by hand. */
function safetensors(header: unknown, data = new Uint8Array()): Uint8Array {
  const json = new TextEncoder().encode(typeof header === 'string' ? header : JSON.stringify(header));
  const out = new Uint8Array(8 + json.length + data.length);
  new DataView(out.buffer).setBigUint64(0, BigInt(json.length), true);
  out.set(json, 8);
  out.set(data, 8 + json.length);
  return out;
}

function failureOf(call: () => unknown): TensorFileError {
  try {
    call();
  } catch (error) {
    expect(error).toBeInstanceOf(TensorFileError);
    return error as TensorFileError;
  }
  throw new Error('the call did not fail');
}

const floats = (...values: number[]) => new Uint8Array(Float32Array.from(values).buffer);

describe('.npy', () => {
  test('what writeNpy writes is read back', () => {
    fc.assert(fc.property(
      fc.array(fc.integer({ min: 0, max: 5 }), { maxLength: 4 }).chain((shape) => {
        const size = shape.reduce((a, b) => a * b, 1);
        return fc.tuple(fc.constant(shape), fc.array(fc.float({ noNaN: true }), { minLength: size, maxLength: size }));
      }),
      ([shape, values]) => {
        const file = openTensorFile('x.npy', writeNpy(shape, Float32Array.from(values)));
        expect(file.tensors[0]?.shape).toEqual(shape);
        expect([...file.read('x')]).toEqual([...Float32Array.from(values)]);
      }));
  });

  test('Fortran order is turned into row-major order', () => {
    // [[1, 2, 3], [4, 5, 6]] column by column.
    const file = openTensorFile('f.npy', npy("{'descr': '<f4', 'fortran_order': True, 'shape': (2, 3), }", floats(1, 4, 2, 5, 3, 6)));
    expect([...file.read('f')]).toEqual([1, 2, 3, 4, 5, 6]);
  });

  test('big-endian doubles, half floats, integers and booleans are decoded', () => {
    const big = new Uint8Array(16);
    new DataView(big.buffer).setFloat64(0, 1.5);
    new DataView(big.buffer).setFloat64(8, -2);
    const read = (descr: string, shape: string, data: Uint8Array) =>
      [...openTensorFile('x.npy', npy(`{'descr': '${descr}', 'fortran_order': False, 'shape': ${shape}}`, data)).read('x')];
    expect(read('>f8', '(2,)', big)).toEqual([1.5, -2]);
    expect(read('<f2', '(3,)', Uint8Array.of(0x00, 0x3c, 0x00, 0xc0, 0x01, 0x00))).toEqual([1, -2, 2 ** -24]);
    expect(read('<i4', '(1,)', new Uint8Array(Int32Array.of(-7).buffer))).toEqual([-7]);
    expect(read('|b1', '(2,)', Uint8Array.of(0, 1))).toEqual([0, 1]);
    expect(read('|u1', '()', Uint8Array.of(9))).toEqual([9]);
  });

  test('objects and structured types are listed or refused with the reason', () => {
    const objects = openTensorFile('o.npy', npy("{'descr': '|O', 'fortran_order': False, 'shape': (2,)}", new Uint8Array(9)));
    expect(objects.tensors[0]).toMatchObject({ readable: false, reason: expect.stringContaining('Python objects') });
    expect(failureOf(() => objects.read('o')).code).toBe('unsupported');
    expect(failureOf(() => openTensorFile('s.npy', npy("{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (2,)}", new Uint8Array(8)))).code).toBe('unsupported');
  });

  test.each([
    ['a header that claims 2^60 elements', "{'descr': '<f4', 'fortran_order': False, 'shape': (1152921504606846976,)}", 'malformed'],
    ['a size beyond the data', "{'descr': '<f4', 'fortran_order': False, 'shape': (1000000, 1000000)}", 'truncated'],
    ['a product beyond 2^53', "{'descr': '<f4', 'fortran_order': False, 'shape': (1000000000, 1000000000)}", 'too-large'],
    ['a negative size', "{'descr': '<f4', 'fortran_order': False, 'shape': (-1,)}", 'malformed'],
    ['code instead of a dict', '__import__("os").system("true")', 'malformed'],
    ['no order', "{'descr': '<f4', 'shape': (1,)}", 'malformed'],
  ])('%s is refused', (_name, header, code) => {
    expect(failureOf(() => openTensorFile('x.npy', npy(header, floats(1)))).code).toBe(code);
  });

  test('a finite double that float32 cannot hold is named, NaN and infinity are kept', () => {
    const doubles = (...values: number[]) => npy(`{'descr': '<f8', 'fortran_order': False, 'shape': (${values.length},)}`, new Uint8Array(Float64Array.from(values).buffer));
    expect(failureOf(() => openTensorFile('x.npy', doubles(1, 1e300)).read('x')).field).toBe('x[1]');
    expect(findNonFinite(openTensorFile('x.npy', doubles(1, NaN, Infinity)).read('x'))).toMatchObject({ index: 1, count: 2 });
  });
});

describe('.npz', () => {
  test('arrays are listed and read, other files ignored', () => {
    const zip = zipSync({ 'q.npy': writeNpy([2], Float32Array.of(1, 2)), 'k.npy': [writeNpy([1], Float32Array.of(3)), { level: 0 }], 'notes.txt': latin1('hello') });
    const file = openTensorFile('x.npz', zip);
    expect(file.format).toBe('npz');
    expect(file.tensors.map(({ name }) => name).sort()).toEqual(['k', 'q']);
    expect([...file.read('q')]).toEqual([1, 2]);
    expect(failureOf(() => file.read('v')).code).toBe('no-such-tensor');
  });

  test('a zip bomb is refused before it is inflated', () => {
    const zip = zipSync({ 'q.npy': new Uint8Array(1000) });
    // The uncompressed size in the central directory becomes 2 GB.
    const view = new DataView(zip.buffer);
    for (let i = 0; i + 4 < zip.length; i++) if (view.getUint32(i, true) === 0x02014b50) view.setUint32(i + 24, 0x7fffffff, true);
    expect(failureOf(() => openTensorFile('x.npz', zip)).code).toBe('malformed');
  });
});

describe('.safetensors', () => {
  test('what writeSafetensors writes is read back, with metadata', () => {
    const file = openTensorFile('x', writeSafetensors({ q: { shape: [2, 1], values: Float32Array.of(1, 2) }, __proto__x: { shape: [], values: Float32Array.of(3) } }, { q: 'a note' }));
    expect(file.tensors.map(({ name, shape }) => [name, shape])).toEqual([['q', [2, 1]], ['__proto__x', []]]);
    expect([...file.read('q')]).toEqual([1, 2]);
    expect(file.metadata.get('q')).toBe('a note');
  });

  test('bfloat16, float16 and float64 are decoded', () => {
    const data = Uint8Array.of(0x80, 0x3f, 0x00, 0x3c, ...new Uint8Array(Float64Array.of(0.25).buffer));
    const file = openTensorFile('x.safetensors', safetensors({
      b: { dtype: 'BF16', shape: [1], data_offsets: [0, 2] }, h: { dtype: 'F16', shape: [1], data_offsets: [2, 4] }, d: { dtype: 'F64', shape: [1], data_offsets: [4, 12] },
    }, data));
    expect(['b', 'h', 'd'].map((name) => file.read(name)[0])).toEqual([1, 1, 0.25]);
  });

  test('a name like __proto__ is a name like any other', () => {
    const file = openTensorFile('x.safetensors', safetensors('{"__proto__":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}}', floats(5)));
    expect([...file.read('__proto__')]).toEqual([5]);
    expect(({} as Record<string, unknown>)['dtype']).toBeUndefined();
  });

  const one = { dtype: 'F32', shape: [1], data_offsets: [0, 4] };
  test.each([
    ['offsets past the end', { a: { ...one, data_offsets: [0, 400] } }, 4, 'truncated'],
    ['negative offsets', { a: { ...one, data_offsets: [-4, 0] } }, 4, 'truncated'],
    ['overlapping tensors', { a: one, b: one }, 4, 'malformed'],
    ['a hole', { a: one, b: { ...one, data_offsets: [8, 12] } }, 12, 'malformed'],
    ['bytes that belong to nobody', { a: one }, 8, 'malformed'],
    ['a shape that does not fill its bytes', { a: { ...one, shape: [2] } }, 4, 'malformed'],
    ['a fractional size', { a: { ...one, shape: [1.5] } }, 4, 'malformed'],
    ['a shape of 2^60', { a: { ...one, shape: [2 ** 60] } }, 4, 'malformed'],
    ['a product beyond 2^53', { a: { ...one, shape: [2 ** 40, 2 ** 40] } }, 4, 'too-large'],
    ['a list instead of an object', [], 0, 'malformed'],
    ['no JSON', '{"a":', 0, 'malformed'],
    ['the same name twice', '{"a":{"dtype":"F32","shape":[1],"data_offsets":[0,4]},"a":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}}', 4, 'malformed'],
  ])('%s is refused', (_name, header, size, code) => {
    expect(failureOf(() => openTensorFile('x.safetensors', safetensors(header, new Uint8Array(size)))).code).toBe(code);
  });

  test('a header longer than the file, and one longer than the limit, are refused', () => {
    const file = safetensors({});
    new DataView(file.buffer).setBigUint64(0, 1000n, true);
    expect(failureOf(() => openTensorFile('x.safetensors', file)).code).toBe('truncated');
    new DataView(file.buffer).setBigUint64(0, 2n ** 63n, true);
    expect(failureOf(() => openTensorFile('x.safetensors', file)).code).toBe('too-large');
  });
});

test('shapes are read as [N, d], [H, N, d] and [B, H, N, d]', () => {
  expect(toHeads([5, 4])).toEqual({ batch: 1, heads: 1, length: 5, headDim: 4 });
  expect(toHeads([3, 5, 4])).toEqual({ batch: 1, heads: 3, length: 5, headDim: 4 });
  expect(toHeads([2, 3, 5, 4])).toEqual({ batch: 2, heads: 3, length: 5, headDim: 4 });
  for (const shape of [[], [3], [1, 1, 1, 2, 2], [0, 4]]) expect(failureOf(() => toHeads(shape)).code).toBe('wrong-shape');
});

test('a file of another kind is refused by name', () => {
  expect(failureOf(() => openTensorFile('cat.png', latin1('\x89PNG....'))).code).toBe('unknown-format');
  expect(failureOf(() => openTensorFile('empty.npy', new Uint8Array())).code).toBe('unknown-format');
});

/** Valid files of each kind, to be damaged. */
const samples = [
  writeNpy([3, 4], Float32Array.from({ length: 12 }, Math.sin)),
  zipSync({ 'q.npy': writeNpy([2, 3], new Float32Array(6)), 'k.npy': [writeNpy([5], new Float32Array(5)), { level: 0 }] }),
  writeSafetensors({ query: { shape: [2, 4], values: new Float32Array(8) }, key: { shape: [3], values: new Float32Array(3) } }, { title: 'x' }),
];

describe.each(['x.npy', 'x.safetensors'])('a damaged file called %s', (name) => {
  test('gives tensors of the listed shapes or a TensorFileError, whatever was done to it', () => {
    const damage = fc.record({
      sample: fc.integer({ min: 0, max: samples.length - 1 }),
      length: fc.option(fc.nat(1000)),
      changes: fc.array(fc.tuple(fc.nat(1000), fc.integer({ min: 0, max: 255 })), { maxLength: 6 }),
    });
    fc.assert(fc.property(damage, ({ sample, length, changes }) => {
      const bytes = samples[sample]!.slice(0, length ?? undefined);
      for (const [at, byte] of changes) if (bytes.length > 0) bytes[at % bytes.length] = byte;
      try {
        const file = openTensorFile(name, bytes);
        for (const { name: tensor, shape, readable } of file.tensors) {
          if (readable) expect(file.read(tensor).length).toBe(shape.reduce((a, b) => a * b, 1));
        }
      } catch (error) {
        if (!(error instanceof TensorFileError)) throw error;
      }
    }), { numRuns: 5000 });
  });
});

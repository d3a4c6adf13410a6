import { zipSync } from 'fflate';
import { describe, expect, test } from 'vitest';
import { openTensorFile, writeNpy } from '../../../web/src/tensor-file/index.ts';
import { failureOf, latin1, LOCAL, npy, npyHeader, placesOf, tampered } from './support.ts';

const pair = writeNpy([2], Float32Array.of(1, 2));
const zip = zipSync({ 'q.npy': pair });
const stored = zipSync({ 'q.npy': [pair, { level: 0 }] });
const open = (bytes: Uint8Array) => openTensorFile('x.npz', bytes);

test('arrays are listed and read, other files ignored', () => {
  const file = open(zipSync({ 'q.npy': pair, 'deep/k.npy': [writeNpy([1], Float32Array.of(3)), { level: 0 }], '__proto__.npy': pair, 'notes.txt': latin1('hello') }));
  expect(file.format).toBe('npz');
  expect(file.tensors.map(({ name }) => name)).toEqual(['q', 'deep/k', '__proto__']);
  expect([...file.read('q')]).toEqual([1, 2]);
  expect([...file.read('deep/k')]).toEqual([3]);
  expect([...file.read('__proto__')]).toEqual([1, 2]);
  expect(failureOf(() => file.read('v')).code).toBe('no-such-tensor');
});

test('an archive without files has no tensors, one of other files is refused', () => {
  expect(open(zipSync({})).tensors).toEqual([]);
  expect(failureOf(() => openTensorFile('model.pt', zipSync({ 'archive/data.pkl': latin1('x') })))).toMatchObject({ code: 'unknown-format', field: 'archive' });
});

test('listing inflates headers only: damage behind them shows when the array is read', () => {
  // Deflate by hand: the file in two stored blocks, then a block of the type that does not exist.
  const array = writeNpy([10_000], new Float32Array(10_000));
  const { length } = array;
  const block = (part: Uint8Array) => [0, part.length & 255, part.length >> 8, ~part.length & 255, (~part.length >> 8) & 255, ...part];
  const deflated = Uint8Array.of(...block(array.subarray(0, 20_000)), ...block(array.subarray(20_000)), 7);
  const file = open(tampered(zipSync({ 'q.npy': [deflated, { level: 0 }] }), (view, [at]) => {
    view.setUint16(at! + 10, 8, true);
    view.setUint32(at! + 24, length, true);
  }));
  expect(file.tensors[0]).toMatchObject({ name: 'q', shape: [10_000], readable: true });
  expect(failureOf(() => file.read('q'))).toMatchObject({ field: 'q.npy', received: expect.stringContaining('cannot be inflated') });
});

test('an array that cannot be read does not hide the others', () => {
  const file = open(zipSync({ 'o.npy': npy(npyHeader('(1,)', "'|O'"), new Uint8Array(9)), 'q.npy': pair }));
  expect(file.tensors.map(({ readable }) => readable)).toEqual([false, true]);
  expect([...file.read('q')]).toEqual([1, 2]);
});

test('zip64 sizes and directories are read', () => {
  // The archive's one record gets a zip64 extra field with all three numbers, and a zip64 directory end.
  const view = new DataView(stored.buffer);
  const begin = view.getUint32(stored.length - 22 + 16, true);
  const record = stored.slice(begin, stored.length - 22);
  const size = view.getUint32(begin + 24, true);
  const extra = new Uint8Array(28), end = new Uint8Array(56), locator = new Uint8Array(20), last = stored.slice(-22);
  const extraView = new DataView(extra.buffer), endView = new DataView(end.buffer), locatorView = new DataView(locator.buffer);
  extraView.setUint16(0, 1, true);
  extraView.setUint16(2, 24, true);
  [size, size, 0].forEach((value, i) => extraView.setBigUint64(4 + 8 * i, BigInt(value), true));
  const recordView = new DataView(record.buffer);
  for (const at of [20, 24, 42]) recordView.setUint32(at, 0xffffffff, true);
  recordView.setUint16(30, extra.length, true);
  endView.setUint32(0, 0x06064b50, true);
  endView.setBigUint64(32, 1n, true);
  endView.setBigUint64(48, BigInt(begin), true);
  locatorView.setUint32(0, 0x07064b50, true);
  locatorView.setBigUint64(8, BigInt(begin + record.length + extra.length), true);
  new DataView(last.buffer).setUint32(16, 0xffffffff, true);
  const bytes = Uint8Array.of(...stored.slice(0, begin), ...record, ...extra, ...end, ...locator, ...last);
  expect([...open(bytes).read('q')]).toEqual([1, 2]);

  // 2^32 - 1 entries in a file of a few hundred bytes, and places far outside it.
  const endAt = begin + record.length + extra.length;
  for (const [at, value, code] of [[endAt + 32, 0xffffffffn, 'malformed'], [endAt + 48, 2n ** 63n, 'malformed'], [endAt + 56 + 8, 2n ** 62n, 'malformed']] as const) {
    const lying = tampered(bytes, (copy) => copy.setBigUint64(at, value, true));
    expect(failureOf(() => open(lying)).code).toBe(code);
  }
});

describe('an archive is refused', () => {
  test.each([
    ['an encrypted entry', stored, 'unsupported', (view: DataView, at: number) => view.setUint16(at + 8, 1, true)],
    ['compression method 12', zip, 'unsupported', (view: DataView, at: number) => view.setUint16(at + 10, 12, true)],
    ['2 GB in some hundred bytes', zip, 'malformed', (view: DataView, at: number) => view.setUint32(at + 24, 0x7fffffff, true)],
    ['a stored entry of two sizes', stored, 'malformed', (view: DataView, at: number) => view.setUint32(at + 24, 999, true)],
    ['data past the end', zip, 'malformed', (view: DataView, at: number) => view.setUint32(at + 20, 0xfffffff0, true)],
    ['an entry at a place without one', zip, 'malformed', (view: DataView, at: number) => view.setUint32(at + 42, 1, true)],
    ['an entry past the end', zip, 'malformed', (view: DataView, at: number) => view.setUint32(at + 42, 0xfffffff0, true)],
    ['a name longer than the directory', zip, 'malformed', (view: DataView, at: number) => view.setUint16(at + 28, 0xffff, true)],
  ] as const)('when it has %s', (_what, archive, code, change) => {
    expect(failureOf(() => open(tampered(archive, (view, [at]) => change(view, at!)))).code).toBe(code);
  });

  test.each([
    ['more entries than its directory', 'malformed', (view: DataView, end: number) => { view.setUint16(end + 8, 3, true); view.setUint16(end + 10, 3, true); }],
    ['a directory behind its end', 'malformed', (view: DataView, end: number) => view.setUint32(end + 16, 0xfffffff0, true)],
    ['parts in other files', 'unsupported', (view: DataView, end: number) => view.setUint16(end + 4, 1, true)],
  ] as const)('when its end tells of %s', (_what, code, change) => {
    expect(failureOf(() => open(tampered(zip, (view, _directory, end) => change(view, end)))).code).toBe(code);
  });

  test('when a name is there twice, or is no UTF-8', () => {
    const two = zipSync({ 'a.npy': pair, 'b.npy': pair });
    expect(failureOf(() => open(tampered(two, (view, [, at]) => view.setUint8(at! + 46, 0x61)))).received).toBe('the name a.npy twice');
    expect(failureOf(() => open(tampered(two, (view, [at]) => { view.setUint16(at! + 8, 0x800, true); view.setUint8(at! + 46, 0xff); }))).code).toBe('malformed');
  });

  test('when an entry claims to inflate to more than deflate can, before anything is inflated', () => {
    // A header for a gigabyte, in an entry that claims one.
    const huge = zipSync({ 'q.npy': npy(npyHeader('(268435456,)'), new Uint8Array()) });
    const size = npy(npyHeader('(268435456,)'), new Uint8Array()).length + 2 ** 30;
    expect(failureOf(() => open(tampered(huge, (view, [at]) => view.setUint32(at! + 24, size, true)))).received).toContain('claim to inflate');
  });

  test('when a local header reaches into the directory', () => {
    expect(failureOf(() => open(tampered(zip, (view) => view.setUint16(28, 0xffff, true)))).expected).toBe('sizes the file can hold');
  });

  test('when its directory breaks off within an entry', () => {
    const named = zipSync({ 'q.npyPK\x01\x02': pair });
    expect(failureOf(() => open(tampered(named, (view, _directory, end) => view.setUint32(end + 16, end - 4, true)))).received).toBe('0 entries in its directory');
  });

  test('when entries share their bytes', () => {
    const two = zipSync({ 'a.npy': pair, 'b.npy': pair });
    expect(failureOf(() => open(tampered(two, (view, [, at]) => view.setUint32(at! + 42, 0, true)))).code).toBe('malformed');
  });

  test('when it is cut at any byte', () => {
    for (let length = 0; length < zip.length; length++) {
      expect(failureOf(() => open(zip.subarray(0, length))).code).toBe(length < 4 ? 'unknown-format' : 'truncated');
    }
  });
});

describe('an array is refused', () => {
  test('when a bit of it has changed', () => {
    const broken = stored.slice();
    const dataEnd = placesOf(LOCAL, stored)[0]! + 30 + 'q.npy'.length + pair.length;
    broken[dataEnd - 1]! ^= 1;
    const file = open(broken);
    expect(failureOf(() => file.read('q'))).toMatchObject({ code: 'malformed', field: 'q.npy', received: expect.stringContaining('checksum') });
  });

  test('when it inflates to more or to less than it claims', () => {
    const bytes = new Uint8Array(pair.length + 4);
    bytes.set(pair);
    const long = zipSync({ 'q.npy': bytes });
    const file = open(tampered(long, (view, [at]) => view.setUint32(at! + 24, pair.length, true)));
    expect(failureOf(() => file.read('q')).received).toBe('more bytes inflated');
    const short = zipSync({ 'q.npy': pair.subarray(0, pair.length - 4) });
    const shortFile = open(tampered(short, (view, [at]) => view.setUint32(at! + 24, pair.length, true)));
    expect(failureOf(() => shortFile.read('q')).received).toBe(`${pair.length - 4} bytes inflated`);
  });
});

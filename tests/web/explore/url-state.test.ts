import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { defaultLook, defaultText } from '../../../web/src/explore/wish.ts';
import { defaultSettings } from '../../../web/src/explore/problem.ts';
import type { Input, Wish } from '../../../web/src/explore/wish.ts';
import { fitsInLink, maxTextInLink, positions, readWish, writeWish } from '../../../web/src/explore/url-state.ts';

const start: Wish = { input: null, settings: defaultSettings, look: defaultLook };
const count = fc.nat({ max: 1_000_000 });
const maybe = <T>(arbitrary: fc.Arbitrary<T>) => fc.option(arbitrary, { nil: null });
const hidden = fc.uniqueArray(fc.nat({ max: 300 })).map((list) => list.sort((a, b) => a - b));
const finite = fc.double({ noNaN: true, noDefaultInfinity: true }).map((x) => (x === 0 ? 0 : x));
const span = fc.tuple(fc.nat({ max: 1000 }), fc.integer({ min: 1, max: 1000 })).map(([at, size]) => [at, at + size] as const);
const plainText = fc.string({ unit: 'grapheme', maxLength: 60 });

const wishes: fc.Arbitrary<Wish> = fc.record({
  input: maybe(fc.oneof<fc.Arbitrary<Input>[]>(
    fc.record({ kind: fc.constant('sample' as const), id: plainText }),
    fc.record({ kind: fc.constant('file' as const), name: plainText, query: plainText, key: plainText, value: plainText }),
    fc.record({ kind: fc.constant('text' as const), text: plainText, split: fc.constantFrom('bpe' as const, 'characters' as const, 'words' as const), heads: count, headDim: count, seed: count, positions: fc.boolean() }),
  )),
  settings: fc.record({
    causal: fc.boolean(), scale: maybe(finite), windowLeft: maybe(count), windowRight: maybe(count), softCap: finite, hidden,
    rounds: count, buckets: maybe(count), chunk: maybe(count), seed: count, rotation: fc.constantFrom('gaussian', 'hadamard'), shared: fc.boolean(), trueBuckets: fc.boolean(),
  }),
  look: fc.record({
    head: count, batch: count, reduction: fc.constantFrom('peak' as const, 'mean' as const), transform: fc.constantFrom('linear' as const, 'log' as const),
    view: maybe(fc.record({ rows: span, columns: span })), selected: maybe(fc.record({ row: count, column: count })), round: count,
    picture: fc.constantFrom('exact' as const, 'difference' as const, 'lsh' as const), theme: fc.constantFrom('auto' as const, 'light' as const, 'dark' as const),
  }),
});

describe('the state in the address', () => {
  it('comes back as it was written', () => {
    fc.assert(fc.property(wishes, (wish) => {
      const { wish: back, problems } = readWish(new URLSearchParams(writeWish(wish)));
      expect(problems).toEqual([]);
      expect(back).toEqual(wish);
    }));
  });

  it('is empty at the start', () => {
    expect(writeWish(start)).toBe('');
    expect(readWish(new URLSearchParams())).toEqual({ wish: start, problems: [] });
  });

  it('survives any address and reads only values of the right kind', () => {
    fc.assert(fc.property(fc.string(), (hash) => {
      const { wish } = readWish(new URLSearchParams(hash));
      expect(readWish(new URLSearchParams(writeWish(wish))).problems).toEqual([]);
    }));
  });

  it('names what it cannot read and uses the default for it', () => {
    const { wish, problems } = readWish(new URLSearchParams('rounds=many&causal=yes&head=-1&view=5,1,0,9&hide=9-3&colours=rainbow&seed=3'));
    expect(wish.settings).toEqual({ ...defaultSettings, seed: 3 });
    expect(wish.look).toEqual(defaultLook);
    expect(problems).toHaveLength(6);
    expect(problems).toContain('rounds: received "many", expected a whole number');
    expect(problems).toContain('colours: received "rainbow", expected linear, log');
  });

  it('leaves a text out that is too long for a link', () => {
    const long = { ...defaultText, text: 'x'.repeat(maxTextInLink + 1) };
    expect(fitsInLink(long)).toBe(false);
    expect(writeWish({ ...start, input: long })).not.toContain('xxx');
    expect(fitsInLink({ ...long, text: 'x'.repeat(maxTextInLink) })).toBe(true);
    expect(fitsInLink({ kind: 'file', name: 'a', query: 'q', key: '', value: '' })).toBe(false);
  });
});

describe('positions', () => {
  it('reads runs, in any order and with spaces, and writes them short', () => {
    expect(positions.read(' 10 - 12, 3 ,11')).toEqual([3, 10, 11, 12]);
    expect(positions.write([3, 10, 11, 12])).toBe('3,10-12');
    expect(positions.read('')).toEqual([]);
  });

  it.each(['a', '1,,2', '5-2', '-1', '1.5', '0-999999999'])('refuses %s', (text) => {
    expect(positions.read(text)).toBeUndefined();
  });
});

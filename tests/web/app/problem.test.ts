import { describe, expect, it } from 'vitest';
import { attentionOptions, exactKey, lshOptions, qualitySample } from '../../../web/src/explore/options.ts';
import { metadataTokens } from '../../../web/src/explore/tensor-problem.ts';
import { defaultSettings } from '../../../web/src/explore/problem.ts';
import type { Problem } from '../../../web/src/explore/problem.ts';
import { tensorInputs } from '../../../web/src/explore/tensor-problem.ts';

const tensor = (name: string, ...shape: number[]) => ({ name, shape, data: Float32Array.from({ length: shape.reduce((a, b) => a * b, 1) }, (_, i) => i) });
const shape = { batch: 2, heads: 1, kvHeads: 1, queryLen: 3, keyLen: 4, headDim: 16, valueDim: 1 };

describe('tensorInputs', () => {
  it('reads two, three and four axes, grouped heads and another value width', () => {
    expect(tensorInputs(tensor('q', 3, 8), tensor('k', 5, 8), tensor('v', 5, 2)).shape)
      .toEqual({ batch: 1, heads: 1, kvHeads: 1, queryLen: 3, keyLen: 5, headDim: 8, valueDim: 2 });
    expect(tensorInputs(tensor('q', 4, 3, 8), tensor('k', 2, 5, 8), tensor('v', 2, 5, 8)).shape).toMatchObject({ heads: 4, kvHeads: 2 });
    expect(tensorInputs(tensor('q', 2, 4, 3, 8), tensor('k', 2, 1, 5, 8), tensor('v', 2, 1, 5, 8)).shape).toMatchObject({ batch: 2, heads: 4, kvHeads: 1 });
  });

  it.each([
    ['another width', tensor('k', 3, 9), tensor('v', 3, 8), /key "k".*a last size of 8/],
    ['heads that do not divide', tensor('k', 3, 3, 8), tensor('v', 3, 3, 8), /key "k": received 3 heads, expected a divisor of the 2 heads/],
    ['another batch', tensor('k', 2, 2, 3, 8), tensor('v', 2, 2, 3, 8), /key "k": received batch 2, expected batch 1/],
    ['a value of another length', tensor('k', 2, 3, 8), tensor('v', 2, 4, 8), /value "v": received \[2, 4, 8\]/],
    ['one axis', tensor('k', 8), tensor('v', 8), /key "k"/],
  ])('refuses %s and names the tensor', (_, key, value, says) => {
    expect(() => tensorInputs(tensor('q', 2, 3, 8), key, value)).toThrow(says);
  });

  it('says where a number is not finite', () => {
    const value = tensor('v', 2, 3, 8);
    value.data[24 + 8 + 5] = Number.POSITIVE_INFINITY;
    value.data[47] = Number.NaN;
    expect(() => tensorInputs(tensor('q', 2, 3, 8), tensor('k', 2, 3, 8), value)).toThrow('value "v": received Infinity at [1, 1, 5] (and 1 more), expected finite numbers');
  });
});

describe('options of the core', () => {
  it('leave out what the core is to choose', () => {
    expect(attentionOptions(defaultSettings, shape)).toEqual({ causal: false, softCap: 0 });
    expect(lshOptions(defaultSettings)).toEqual({ rounds: 4, seed: 0, rotation: 'gaussian', sharedQueryKey: false, trueBuckets: false });
  });

  it('hide positions in every batch and refuse those that are not there', () => {
    expect(Array.from(attentionOptions({ ...defaultSettings, hidden: [1, 3] }, shape).keyMask!)).toEqual([1, 0, 1, 0, 1, 0, 1, 0]);
    expect(() => attentionOptions({ ...defaultSettings, hidden: [4] }, shape)).toThrow('hidden: received 4, expected positions below 4');
  });

  it('compute exact attention again for what it depends on, and not for hashing', () => {
    const problem = { id: 1 } as Problem;
    const key = exactKey(problem, defaultSettings);
    expect(exactKey(problem, { ...defaultSettings, rounds: 9, buckets: 8, chunk: 4, seed: 5, trueBuckets: true })).toBe(key);
    const others = [{ causal: true }, { scale: 1 }, { windowLeft: 1 }, { windowRight: 1 }, { softCap: 1 }, { hidden: [1] }, { shared: true }];
    for (const other of others) expect(exactKey(problem, { ...defaultSettings, ...other })).not.toBe(key);
    expect(exactKey({ ...problem, id: 2 }, defaultSettings)).not.toBe(key);
  });

  it('measure all queries of small problems and a sample of large ones', () => {
    expect(qualitySample(shape)).toBe(0);
    expect(qualitySample({ ...shape, queryLen: 30_000, keyLen: 30_000 })).toBe(512);
    expect(qualitySample({ ...shape, queryLen: 100, keyLen: 10_000_000 })).toBe(100);
  });
});

describe('metadataTokens', () => {
  it('takes a list of texts of the right length and nothing else', () => {
    expect(metadataTokens('["a"," b"]', 2)).toEqual(['a', '␣b']);
    for (const other of [undefined, '["a"]', '[1,2]', '{"0":"a","1":"b"}', 'a b', '"ab"']) expect(metadataTokens(other, 2)).toBeUndefined();
  });
});

import { describe, expect, test } from 'vitest';
import { init } from '../../../web/src/core/node.ts';
import { uniformData } from '../support/oracle.ts';

const heed = await init();
const [headDim, valueDim, keyLen] = [12, 8, 50];
const key = uniformData(2 * keyLen * headDim, 1);
const value = uniformData(2 * keyLen * valueDim, 2);

/** Positions [begin, end) of [2 kvHeads, keyLen, columns]. */
function positions(x: Float32Array, columns: number, begin: number, end: number): Float32Array {
  const part = new Float32Array(2 * (end - begin) * columns);
  for (const h of [0, 1]) part.set(x.subarray((h * keyLen + begin) * columns, (h * keyLen + end) * columns), h * (end - begin) * columns);
  return part;
}

describe('a key/value cache', () => {
  test('decodes step by step as causal attention does in one go', () => {
    const heads = 4;
    const query = uniformData(heads * keyLen * headDim, 3);
    const whole = heed.attention({ query, key, value, shape: { heads, kvHeads: 2, queryLen: keyLen, headDim, valueDim } }, { causal: true });
    const cache = heed.keyValueCache({ kvHeads: 2, headDim, valueDim });
    for (let i = 0; i < keyLen; i++) {
      cache.append(positions(key, headDim, i, i + 1), positions(value, valueDim, i, i + 1));
      const step = new Float32Array(heads * headDim);
      for (let h = 0; h < heads; h++) step.set(query.subarray((h * keyLen + i) * headDim, (h * keyLen + i + 1) * headDim), h * headDim);
      const { context, logsumexp } = cache.attend({ query: step, heads }, { causal: true });
      for (let h = 0; h < heads; h++) {
        expect(Math.abs(logsumexp[h]! - whole.logsumexp[h * keyLen + i]!)).toBeLessThan(1e-5);
        for (let t = 0; t < valueDim; t++) {
          expect(Math.abs(context[h * valueDim + t]! - whole.context[(h * keyLen + i) * valueDim + t]!)).toBeLessThan(1e-5);
        }
      }
    }
    expect(cache.length).toBe(keyLen);
    expect(cache.bytes()).toBeGreaterThanOrEqual(4 * 2 * keyLen * (headDim + valueDim));
    cache.dispose();
  });

  test('takes many positions at once, forgets them, and goes on after an error', () => {
    const cache = heed.keyValueCache({ kvHeads: 2, headDim, valueDim, capacity: 64 });
    cache.append(key, value);
    const query = uniformData(2 * headDim, 4);
    const before = cache.attend({ query });
    expect(() => cache.append(key, value.subarray(1))).toThrow(expect.objectContaining({ code: 'invalid-shape', field: 'value' }));
    expect(() => cache.append(key.subarray(1), value)).toThrow(expect.objectContaining({ code: 'invalid-shape', field: 'key' }));
    const broken = key.slice();
    broken[5] = Number.NaN;
    expect(() => cache.append(broken, value)).toThrow(expect.objectContaining({ code: 'invalid-value', field: 'key' }));
    expect(() => cache.truncate(51)).toThrow(expect.objectContaining({ code: 'invalid-value', field: 'length' }));
    expect(() => cache.attend({ query, heads: 3 })).toThrow(expect.objectContaining({ field: 'query' }));
    expect(cache.attend({ query })).toEqual(before);
    cache.truncate(0);
    expect([...cache.attend({ query }).logsumexp]).toEqual([-Infinity, -Infinity]);
    cache.dispose();
    cache.dispose();
    expect(() => cache.length).toThrow(expect.objectContaining({ code: 'disposed' }));
  });

  test('refuses sizes that make no sense', () => {
    expect(() => heed.keyValueCache({ headDim: 0 })).toThrow(expect.objectContaining({ field: 'shape.headDim' }));
    expect(() => heed.keyValueCache({ headDim: 64, capacity: 2 ** 31 })).toThrow(expect.objectContaining({ code: expect.stringMatching(/overflow|out-of-memory/) }));
    // The next one works.
    heed.keyValueCache({ headDim: 64, capacity: 2 }).dispose();
  });
});

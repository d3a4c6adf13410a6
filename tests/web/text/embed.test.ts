import { describe, expect, it } from 'vitest';
import { embedTokens, randomProjection, splitHeads } from '../../../web/src/text/embed.ts';
import { embedText, maxTokens } from '../../../web/src/text/text-job.ts';

const tokens = (...names: (string | number)[]) => names.map((identity) => ({ text: String(identity), identity }));
const row = (x: Float32Array, i: number, dim: number) => Array.from(x.subarray(i * dim, (i + 1) * dim));

describe('embedTokens', () => {
  it('gives the same token the same vector, wherever it stands and whatever else there is', () => {
    const x = embedTokens(tokens('cat', 'mat', 'cat'), 9, 5, false);
    const alone = embedTokens(tokens('cat'), 9, 5, false);
    expect(row(x, 0, 9)).toEqual(row(x, 2, 9));
    expect(row(x, 0, 9)).toEqual(row(alone, 0, 9));
    expect(row(x, 0, 9)).not.toEqual(row(x, 1, 9));
  });

  it('gives numbered tokens, anagrams and other seeds vectors of their own', () => {
    const all = [embedTokens(tokens('ab', 'ba', 1, 2, '1'), 4, 5, false), embedTokens(tokens('ab', 'ba', 1, 2, '1'), 4, 6, false)];
    const rows = all.flatMap((x) => Array.from({ length: 5 }, (_, i) => row(x, i, 4).join()));
    expect(new Set(rows).size).toBe(10);
  });

  it('adds the positions of the original Transformer', () => {
    const [plain, moved] = [embedTokens(tokens('a', 'a', 'a'), 6, 1, false), embedTokens(tokens('a', 'a', 'a'), 6, 1, true)];
    for (let position = 0; position < 3; position++) {
      for (let i = 0; i < 6; i++) {
        const angle = position / 10000 ** (2 * Math.floor(i / 2) / 6);
        const expected = i % 2 === 0 ? Math.sin(angle) : Math.cos(angle);
        expect(moved[position * 6 + i]! - plain[position * 6 + i]!).toBeCloseTo(expected, 5);
      }
    }
  });
});

describe('randomProjection', () => {
  it('keeps the scale of standard normal vectors and differs between query, key and value', () => {
    const weights = (['query', 'key', 'value'] as const).map((which) => randomProjection(which, 64, 128, 3));
    for (const weight of weights) {
      const variance = weight.reduce((sum, w) => sum + w * w, 0) / weight.length;
      // Five standard errors of a variance of 1/128 over 8192 entries.
      expect(Math.abs(variance * 128 - 1)).toBeLessThan(5 * Math.sqrt(2 / weight.length));
    }
    expect(new Set(weights.map((weight) => weight[0])).size).toBe(3);
  });
});

describe('splitHeads', () => {
  it('moves heads before positions', () => {
    const x = Float32Array.from({ length: 3 * 2 * 2 }, (_, i) => i);
    expect(Array.from(splitHeads(x, 2, 2))).toEqual([0, 1, 4, 5, 8, 9, 2, 3, 6, 7, 10, 11]);
  });
});

describe('embedText', () => {
  it('refuses more tokens than attention can be computed over, and says how many there were', async () => {
    const request = { text: 'ab'.repeat(maxTokens / 2) + 'c', split: 'characters', heads: 1, headDim: 2, seed: 0, positions: false } as const;
    expect(await embedText(request)).toEqual({ tooMany: maxTokens + 1 });
  });
});

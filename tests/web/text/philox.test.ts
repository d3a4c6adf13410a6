import { describe, expect, it } from 'vitest';
import { fillNormal, philox } from '../../../web/src/text/philox.ts';
import type { Words } from '../../../web/src/text/philox.ts';

const most = 0xffffffff;

describe('philox', () => {
  // Known answers of the authors' Random123 library, philox4x32-10.
  it.each<[Words, readonly [number, number], Words]>([
    [[0, 0, 0, 0], [0, 0], [0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8]],
    [[most, most, most, most], [most, most], [0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd]],
    [[0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344], [0xa4093822, 0x299f31d0], [0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1]],
  ])('gives the published words for counter %j', (counter, key, expected) => {
    expect(philox(counter, key)).toEqual(expected);
  });

  it('makes numbers with the moments of a standard normal distribution', () => {
    const x = new Float32Array(100_003);
    fillNormal(x, 7, [1, 2, 3]);
    const mean = x.reduce((sum, v) => sum + v, 0) / x.length;
    const moment = (power: number) => x.reduce((sum, v) => sum + (v - mean) ** power, 0) / x.length;
    // Five standard errors of each moment: 1, sqrt(2), sqrt(96) over sqrt(n).
    const error = 5 / Math.sqrt(x.length);
    expect(Math.abs(mean)).toBeLessThan(error);
    expect(Math.abs(moment(2) - 1)).toBeLessThan(Math.sqrt(2) * error);
    expect(Math.abs(moment(4) - 3)).toBeLessThan(Math.sqrt(96) * error);
  });

  it('gives other numbers for another seed, also above 32 bits, and for another stream', () => {
    const draw = (seed: number, stream: number) => {
      const x = new Float32Array(5);
      fillNormal(x, seed, [stream, 0, 0]);
      return x.join();
    };
    const draws = [draw(1, 1), draw(2, 1), draw(2 ** 32 + 1, 1), draw(1, 2)];
    expect(new Set(draws).size).toBe(draws.length);
    expect(draw(1, 1)).toBe(draws[0]);
  });
});

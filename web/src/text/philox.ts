// Philox4x32-10, a counter-based generator (Salmon, Moraes, Dror & Shaw 2011, section 3.3), and
// normal numbers made of it. For seeded embeddings and projections; the kernels have their own.

const multiplier0 = 0xd2511f53;
const multiplier1 = 0xcd9e8d57;
// The golden ratio and sqrt(3) - 1, the Weyl sequences of the key schedule.
const weyl0 = 0x9e3779b9;
const weyl1 = 0xbb67ae85;

function highProduct(a: number, b: number): number {
  const low = (a & 0xffff) * (b & 0xffff);
  const cross1 = (a >>> 16) * (b & 0xffff) + (low >>> 16);
  const cross2 = (a & 0xffff) * (b >>> 16) + (cross1 & 0xffff);
  return ((a >>> 16) * (b >>> 16) + (cross1 >>> 16 | 0) + Math.floor(cross2 / 65536)) >>> 0;
}

export type Words = readonly [number, number, number, number];

/** Four random 32-bit words for a 128-bit counter and a 64-bit key, as 32-bit words, lowest first. */
export function philox(counter: Words, key: readonly [number, number]): Words {
  let [c0, c1, c2, c3] = counter;
  let [k0, k1] = key;
  for (let round = 0; round < 10; round++) {
    const high0 = highProduct(multiplier0, c0);
    const high1 = highProduct(multiplier1, c2);
    const low0 = Math.imul(multiplier0, c0) >>> 0;
    const low1 = Math.imul(multiplier1, c2) >>> 0;
    [c0, c1, c2, c3] = [(high1 ^ c1 ^ k0) >>> 0, low1, (high0 ^ c3 ^ k1) >>> 0, low0];
    k0 = (k0 + weyl0) >>> 0;
    k1 = (k1 + weyl1) >>> 0;
  }
  return [c0, c1, c2, c3];
}

/** Fills `out` with standard normal numbers of one stream of a seed (Box & Muller 1958). */
export function fillNormal(out: Float32Array, seed: number, stream: readonly [number, number, number]): void {
  const key = [seed >>> 0, Math.floor(seed / 2 ** 32) >>> 0] as const;
  // (w + 1/2) / 2^32 lies inside (0, 1), so the logarithm is finite.
  const uniform = (word: number) => (word + 0.5) / 2 ** 32;
  for (let at = 0; at < out.length; at += 4) {
    const words = philox([at / 4, ...stream], key);
    for (let pair = 0; pair < 4; pair += 2) {
      const radius = Math.sqrt(-2 * Math.log(uniform(words[pair]!)));
      const angle = 2 * Math.PI * uniform(words[pair + 1]!);
      if (at + pair < out.length) out[at + pair] = radius * Math.cos(angle);
      if (at + pair + 1 < out.length) out[at + pair + 1] = radius * Math.sin(angle);
    }
  }
}

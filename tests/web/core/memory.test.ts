import { setTimeout as delay } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { HeedError } from '../../../web/src/core/errors.ts';
import type { Heed } from '../../../web/src/core/heed.ts';
import { init } from '../../../web/src/core/node.ts';
import type { AttentionInputs } from '../../../web/src/core/types.ts';
import { uniformData } from '../support/oracle.ts';

// Memory grows and never shrinks, so every test has an instance of its own.
const fresh = () => init({ simd: 'simd128' });

function selfAttention(length: number, dim: number, seed = 1): AttentionInputs {
  const data = (n: number) => uniformData(length * dim, seed + n);
  return { query: data(0), key: data(1), value: data(2), shape: { queryLen: length, headDim: dim } };
}

/** Two contexts of about this many bytes, in a session that is never computed. */
function hold(heed: Heed, contextBytes: number) {
  const queryLen = 2 ** 20;
  const valueDim = Math.floor(contextBytes / 4 / queryLen);
  return heed.session({
    query: new Float32Array(queryLen), key: new Float32Array(1), value: new Float32Array(valueDim),
    shape: { queryLen, keyLen: 1, headDim: 1, valueDim },
  });
}

test('results of earlier calls survive the growth of memory', async () => {
  const heed = await fresh();
  const before = heed.attention(selfAttention(20, 8));
  const copy = [...before.context];
  const bytes = heed.memoryBytes();
  hold(heed, 2 ** 27).dispose();
  expect(heed.memoryBytes()).toBeGreaterThan(bytes);
  expect([...before.context]).toEqual(copy);
});

test('10,000 sessions made and disposed leave the memory as it was', async () => {
  const heed = await fresh();
  const inputs = selfAttention(8, 20);
  const once = () => {
    const session = heed.session(inputs);
    session.configure({ causal: true, keyMask: new Uint8Array(8).fill(1) });
    session.dispose();
    session.dispose();
  };
  once();
  const bytes = heed.memoryBytes();
  for (let n = 0; n < 10_000; n++) once();
  expect(heed.memoryBytes()).toBe(bytes);
});

test('10,000 refused calls leave the memory as it was', async () => {
  const heed = await fresh();
  const inputs = selfAttention(8, 20);
  const broken = { ...inputs, value: inputs.value.map((v, n) => (n === 3 ? NaN : v)) };
  const once = () => {
    expect(() => heed.attention(broken)).toThrow(HeedError);
    expect(() => heed.lshAttention(broken)).toThrow(HeedError);
    expect(() => heed.session({ ...inputs, value: new Float32Array(1) })).toThrow(HeedError);
  };
  once();
  const bytes = heed.memoryBytes();
  for (let n = 0; n < 10_000; n++) once();
  expect(heed.memoryBytes()).toBe(bytes);
});

test('sessions that nobody disposed give back their inputs, results and masks', async () => {
  const heed = await fresh();
  const length = 512; // a mask of 1 MB as a bias: 40 of them do not fit the 16 MB at the start
  const inputs = selfAttention(length, 8);
  const bias = { data: new Float32Array(length * length), shape: [1, 1, length, length] } as const;
  const forget = () => {
    heed.session(inputs).configure({ bias });
  };
  const collect = async () => {
    globalThis.gc!();
    await delay(1); // finalizers run as tasks
  };
  for (let n = 0; n < 5; n++) forget();
  await collect();
  const bytes = heed.memoryBytes();
  for (let n = 0; n < 40; n++) {
    forget();
    await collect();
  }
  expect(heed.memoryBytes()).toBe(bytes);
});

test('memory beyond 4 GB is refused before and after it is asked for, and the next call works', async () => {
  const heed = await fresh();
  for (const bytes of [2 ** 34, 2.5 * 2 ** 30]) {
    const failure = (() => {
      try {
        hold(heed, bytes).dispose();
        return undefined;
      } catch (error) {
        return error as HeedError;
      }
    })();
    expect([failure?.code, failure?.field]).toEqual(['out-of-memory', 'context']);
    expect(heed.attention(selfAttention(20, 8)).context.every(Number.isFinite)).toBe(true);
  }
});

test('addresses above 2 GB give the same results as low ones', async () => {
  const [low, high] = await Promise.all([fresh(), fresh()]);
  using held = hold(high, 1.1 * 2 ** 30);
  expect(held.shape.queryLen).toBe(2 ** 20);
  // Key and value of 16 MB each: larger than any gap left in the 16 MB that memory starts with.
  const keyLen = 2 ** 16;
  const inputs: AttentionInputs = {
    query: uniformData(256, 1), key: uniformData(keyLen * 64, 2), value: uniformData(keyLen * 64, 3),
    shape: { queryLen: 4, keyLen, headDim: 64 },
  };
  const [a, b] = [low, high].map((heed) => {
    using session = heed.session(inputs);
    session.configure({ keyMask: new Uint8Array(keyLen).fill(1) }, { rounds: 1, buckets: 64 });
    session.advance('exact');
    session.advance('lsh');
    return {
      result: session.result('exact'), candidates: session.candidates({ head: 0, query: 1 }).keys.subarray(0, 50),
      tile: session.tile('lsh', { head: 0, rows: [0, 4], columns: [0, keyLen], columnsPerCell: 2 ** 14 }),
      cell: session.cell({ head: 0, query: 2, key: 55_555 }),
    };
  });
  expect(b).toEqual(a);
});

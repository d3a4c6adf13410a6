import { describe, expect, test } from 'vitest';
import { createClient } from '../../../web/src/client/client.ts';
import { problemOf, shareOut } from '../../../web/src/client/share-out.ts';
import { fullShape } from '../../../web/src/core/arguments.ts';
import { HeedError } from '../../../web/src/core/errors.ts';
import { init } from '../../../web/src/core/node.ts';
import type { AttentionInputs, AttentionOptions, AttentionShape } from '../../../web/src/core/types.ts';
import { largestDifference, uniformData } from '../support/oracle.ts';
import { LocalWorker } from './local-worker.ts';

function problem(given: AttentionShape): AttentionInputs {
  const s = fullShape(given);
  return {
    query: uniformData(s.batch * s.heads * s.queryLen * s.headDim, 1),
    key: uniformData(s.batch * s.kvHeads * s.keyLen * s.headDim, 2),
    value: uniformData(s.batch * s.kvHeads * s.keyLen * s.valueDim, 3),
    shape: given,
  };
}

async function pooled(workers: number, diesAtCall: readonly number[] = []) {
  const made: LocalWorker[] = [];
  const client = await createClient({
    workers,
    worker: () => {
      made.push(new LocalWorker(diesAtCall[made.length]));
      return made.at(-1)!.worker;
    },
  });
  return { client, made };
}

const failureOf = (call: Promise<unknown>) =>
  call.then(() => { throw new Error('the call did not fail'); }, (error: unknown) => { expect(error).toBeInstanceOf(HeedError); return error as HeedError; });

const shapes: [string, AttentionShape][] = [
  ['fewer heads than workers', { queryLen: 1500, headDim: 128 }],
  ['as many heads as workers', { heads: 3, queryLen: 700, headDim: 64 }],
  ['grouped heads over batches', { batch: 2, heads: 4, kvHeads: 2, queryLen: 500, keyLen: 700, headDim: 36, valueDim: 44 }],
  ['more heads than workers', { heads: 24, queryLen: 200, headDim: 64 }],
];

describe.each(shapes)('%s', (_name, given) => {
  const s = fullShape(given);
  const inputs = problem(given);
  const cells = s.batch * s.heads * s.queryLen * s.keyLen;
  const cases: [string, AttentionOptions][] = [
    ['no options', {}],
    ['a causal mask', { causal: true }],
    ['a window', { windowLeft: 100, windowRight: 20 }],
    ['masks and a bias', {
      keyMask: Uint8Array.from({ length: s.batch * s.keyLen }, (_, n) => Number(n % 5 !== 0)),
      mask: { data: Uint8Array.from({ length: cells }, (_, n) => Number(n % 7 !== 0)), shape: [s.batch, s.heads, s.queryLen, s.keyLen] },
      bias: { data: uniformData(s.heads * s.keyLen, 4), shape: [1, s.heads, 1, s.keyLen] },
    }],
  ];
  test.each(cases)('three workers give the result of one, with %s', async (_option, options) => {
    const { client, made } = await pooled(3);
    const fractions: number[] = [];
    const result = await client.attention(inputs, options, { onProgress: (fraction) => fractions.push(fraction) });
    const expected = (await init()).attention(inputs, options);
    expect(largestDifference(result.context, [...expected.context])).toBeLessThan(1e-6);
    expect(largestDifference(result.logsumexp, [...expected.logsumexp])).toBeLessThan(1e-6);
    expect(made.every(({ calls }) => calls.length > 0)).toBe(true);
    expect(fractions).toEqual([...fractions].sort((a, b) => a - b));
    expect(fractions.at(-1)).toBe(1);
  });

  test('shares cover every query of every head once, and cost every worker about the same', () => {
    for (const workers of [1, 2, 3, 5, 8]) {
      for (const options of [{}, { causal: true }, { windowLeft: 7 }]) {
        const lists = shareOut(s, options, workers);
        const seen = new Uint8Array(s.batch * s.kvHeads * s.queryLen);
        for (const { batch, kvHeads, queries } of lists.flat()) {
          for (let h = kvHeads[0]; h < kvHeads[1]; h++) for (let i = queries[0]; i < queries[1]; i++) seen[(batch * s.kvHeads + h) * s.queryLen + i]!++;
        }
        expect(seen.every((times) => times === 1)).toBe(true);
        const costs = lists.map((list) => list.reduce((sum, { pairs }) => sum + pairs, 0));
        const unit = (Math.max(...costs) - Math.min(...costs)) / Math.max(1, ...costs);
        if (s.queryLen >= 300 && workers <= 3) expect(unit).toBeLessThan(0.35);
      }
    }
  });
});

test('a head whose queries are shared by all workers travels once to each, and not at all from shared memory', () => {
  const shape = fullShape({ queryLen: 800, headDim: 16 });
  const inputs = problem(shape);
  const lists = shareOut(shape, {}, 2);
  expect(lists.map((list) => list.length)).toEqual([1, 1]);
  expect(problemOf(lists[1]![0]!, inputs, {}, shape).own).toHaveLength(3);
  const share = (x: Float32Array) => {
    const shared = new Float32Array(new SharedArrayBuffer(x.byteLength));
    shared.set(x);
    return shared;
  };
  const there = { ...inputs, query: share(inputs.query), key: share(inputs.key), value: share(inputs.value) };
  const { own, inputs: part } = problemOf(lists[1]![0]!, there, {}, shape);
  expect(own).toEqual([]);
  expect(part.key.buffer).toBe(there.key.buffer);
  expect([...part.query]).toEqual([...inputs.query.subarray(lists[1]![0]!.queries[0] * 16)]);
});

test('a worker that dies is replaced and its share done again', async () => {
  const inputs = problem({ heads: 4, queryLen: 400, headDim: 32 });
  const { client, made } = await pooled(2, [Infinity, 1]);
  const result = await client.attention(inputs);
  expect(result).toEqual((await init()).attention(inputs));
  expect(made).toHaveLength(3);
  expect(made[1]!.terminated).toBe(true);
  expect(client.workers).toBe(2);
  expect(await client.attention(inputs)).toEqual(result);
});

test('a share that kills every worker it is given to is given up', async () => {
  const { client } = await pooled(2, [1, 1, 1, 1, 1, 1, 1, 1]);
  expect((await failureOf(client.attention(problem({ heads: 2, queryLen: 500, headDim: 32 })))).code).toBe('worker-died');
});

test('an abort stops all workers and leaves them ready', async () => {
  const inputs = problem({ heads: 2, queryLen: 1500, headDim: 32 });
  const { client, made } = await pooled(2);
  const controller = new AbortController();
  const failure = failureOf(client.attention(inputs, {}, { signal: controller.signal, onProgress: () => controller.abort() }));
  expect((await failure).code).toBe('aborted');
  expect(made.map(({ terminated }) => terminated)).toEqual([false, false]);
  const small = problem({ queryLen: 9, headDim: 4 });
  expect(await client.attention(small)).toEqual((await init()).attention(small));
});

test('errors name the place in the whole problem, and the client goes on', async () => {
  const inputs = problem({ heads: 2, queryLen: 600, headDim: 32 });
  const { client } = await pooled(2);
  const query = inputs.query.slice();
  query[(600 + 500) * 32 + 3] = Number.NaN;
  expect(await failureOf(client.attention({ ...inputs, query }))).toMatchObject({ code: 'invalid-value', field: 'query', received: 'nan at [0, 1, 500, 3]' });
  expect(await failureOf(client.attention({ ...inputs, key: inputs.key.subarray(1) }))).toMatchObject({ code: 'invalid-shape', field: 'key' });
  expect(await failureOf(client.attention({ ...inputs, shape: { queryLen: -1, headDim: 3 } }))).toMatchObject({ field: 'shape.queryLen' });
  const mask = { data: new Uint8Array(3 * 600), shape: [1, 3, 1, 600] } as const;
  expect(await failureOf(client.attention(inputs, { mask }))).toMatchObject({ code: 'invalid-shape', field: 'mask.shape[1]' });
  expect(await failureOf(client.attention(inputs, { windowLeft: 0.5 }))).toMatchObject({ field: 'windowLeft' });
  expect(await client.attention(inputs)).toEqual((await init()).attention(inputs));
});

test('a number of workers that makes no sense is refused', async () => {
  for (const workers of [0, -1, 1.5, Number.NaN]) expect((await failureOf(createClient({ workers }))).field).toBe('workers');
});

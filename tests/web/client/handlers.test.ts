import { describe, expect, test } from 'vitest';
import { abortedError, HeedError } from '../../../web/src/core/errors.ts';
import { init } from '../../../web/src/core/node.ts';
import type { AttentionInputs } from '../../../web/src/core/types.ts';
import { makeHandlers } from '../../../web/src/worker/handlers.ts';
import { makeJob } from '../../../web/src/worker/job.ts';
import type { Job } from '../../../web/src/worker/job.ts';
import { uniformData } from '../support/oracle.ts';

// Large enough for several slices of any call: a million pairs, half of them under a causal mask.
const length = 1000;
const data = (seed: number) => uniformData(length * 16, seed);
const inputs: AttentionInputs = { query: data(1), key: data(2), value: data(3), shape: { queryLen: length, headDim: 16 } };
const whole = { head: 0, rows: [0, length], columns: [0, length], rowsPerCell: 1, columnsPerCell: 90 } as const;
const noJob: Job = { pause: async () => undefined };

/** A job that does something in its first pause. */
function interrupted(action: () => unknown): Job {
  let pauses = 0;
  return { pause: async () => { if (++pauses === 1) await action(); } };
}

async function opened(options = {}, lsh = {}) {
  const heed = await init();
  const handlers = makeHandlers(heed);
  const { id } = handlers.open(inputs, noJob);
  handlers.configure(id, options, lsh, noJob);
  const session = heed.session(inputs);
  session.configure(options, lsh);
  return { handlers, id, session };
}

const failureOf = (call: Promise<unknown>) =>
  call.then(() => { throw new Error('the call did not fail'); }, (error: unknown) => { expect(error).toBeInstanceOf(HeedError); return error as HeedError; });

describe('a call in slices', () => {
  test('gives the bits of the same call in one piece, with rising progress', async () => {
    const { handlers, id, session } = await opened({ causal: true }, { rounds: 8 });
    for (const kind of ['exact', 'lsh'] as const) {
      const fractions: number[] = [];
      await handlers.run(id, kind, { pause: async (fraction) => { fractions.push(fraction); } });
      session.advance(kind);
      expect(handlers.result(id, kind, noJob)).toEqual(session.result(kind));
      expect(fractions.length).toBeGreaterThan(1);
      expect(fractions).toEqual([...fractions].sort((a, b) => a - b));
      expect(fractions.at(-1)).toBe(1);
    }
    for (const kind of ['exact', 'lsh', 'difference'] as const) {
      let pauses = 0;
      expect(await handlers.tile(id, kind, whole, { pause: async () => { pauses++; } })).toEqual(session.tile(kind, whole));
      expect(pauses).toBeGreaterThan(1);
    }
  });

  test('stops at the first pause after an abort, and can be taken up again', async () => {
    const { handlers, id } = await opened();
    const controller = new AbortController();
    const fractions: number[] = [];
    const job = makeJob(controller.signal, (fraction) => { fractions.push(fraction); controller.abort(); });
    expect((await failureOf(handlers.run(id, 'exact', job))).code).toBe('aborted');
    expect(fractions).toHaveLength(1);
    await handlers.run(id, 'exact', noJob);
    expect(handlers.result(id, 'exact', noJob).context.every(Number.isFinite)).toBe(true);
  });

  test('whose session is configured anew in a pause is aborted, so that no result mixes two configurations', async () => {
    const { handlers, id } = await opened();
    await handlers.run(id, 'exact', noJob);
    const reconfigure = async () => {
      handlers.configure(id, { causal: true }, {}, noJob);
      await handlers.run(id, 'exact', noJob);
    };
    const failure = await failureOf(handlers.tile(id, 'exact', whole, interrupted(reconfigure)));
    expect([failure.code, failure.field]).toEqual(['aborted', 'session']);
    expect((await failureOf(handlers.run(id, 'lsh', interrupted(() => handlers.configure(id, {}, { rounds: 2 }, noJob))))).code).toBe('aborted');
  });

  test('of exact attention goes on when only the hashing changes', async () => {
    const { handlers, id, session } = await opened();
    await handlers.run(id, 'exact', interrupted(() => handlers.configure(id, {}, { rounds: 1, seed: 9 }, noJob)));
    session.advance('exact');
    expect(handlers.result(id, 'exact', noJob)).toEqual(session.result('exact'));
  });

  test('whose session is disposed in a pause says so', async () => {
    const { handlers, id } = await opened();
    expect((await failureOf(handlers.run(id, 'exact', interrupted(() => handlers.close(id, noJob))))).code).toBe('disposed');
    expect(() => handlers.cost(id, noJob)).toThrow(expect.objectContaining({ code: 'disposed', field: 'session' }));
  });

  test('of one shot frees its session, also when it is aborted', async () => {
    const heed = await init({ simd: 'simd128' });
    const handlers = makeHandlers(heed);
    const exact = await handlers.attention(inputs, { causal: true }, noJob);
    expect(exact).toEqual(heed.attention(inputs, { causal: true }));
    const lsh = await handlers.lshAttention(inputs, {}, { rounds: 2 }, noJob);
    expect(lsh).toEqual(heed.lshAttention(inputs, {}, { rounds: 2 }));
    const once = async () => {
      await handlers.lshAttention(inputs, {}, { rounds: 1 }, noJob);
      expect((await failureOf(handlers.attention(inputs, {}, interrupted(() => { throw abortedError(); })))).code).toBe('aborted');
    };
    await once();
    const bytes = heed.memoryBytes();
    for (let n = 0; n < 60; n++) await once();
    expect(heed.memoryBytes()).toBe(bytes);
  });
});

test('a tile without rows or with a reversed range is refused by name', async () => {
  const { handlers, id } = await opened();
  await handlers.run(id, 'exact', noJob);
  expect((await failureOf(handlers.tile(id, 'exact', { ...whole, rows: undefined as never }, noJob))).field).toBe('tile.rows');
  expect((await failureOf(handlers.tile(id, 'exact', { ...whole, rows: [9, 3] }, noJob))).field).toBe('tile.rows');
});

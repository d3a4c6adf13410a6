import { describe, expect, test } from 'vitest';
import { HeedError } from '../../../web/src/core/errors.ts';
import { init } from '../../../web/src/core/node.ts';
import type { AttentionInputs, AttentionOptions } from '../../../web/src/core/types.ts';
import { largestDifference, oracleAttention, uniformData } from '../support/oracle.ts';
import type { OracleProblem } from '../support/oracle.ts';

// Logits of magnitude 2 over some hundred terms: float32 rounding stays well below 1e-5.
const tolerance = 1e-5;

function problem(sizes: Partial<Omit<OracleProblem, 'query' | 'key' | 'value'>> = {}, seed = 1) {
  const s = { heads: 2, kvHeads: 2, queryLen: 37, keyLen: 53, headDim: 20, valueDim: 12, ...sizes };
  const query = uniformData(s.heads * s.queryLen * s.headDim, seed);
  const key = uniformData(s.kvHeads * s.keyLen * s.headDim, seed + 1);
  const value = uniformData(s.kvHeads * s.keyLen * s.valueDim, seed + 2);
  const { heads, kvHeads, queryLen, keyLen, headDim, valueDim } = s;
  const inputs: AttentionInputs = { query, key, value, shape: { heads, kvHeads, queryLen, keyLen, headDim, valueDim } };
  return { inputs, oracle: { query, key, value, ...s } satisfies OracleProblem };
}

function failureOf(call: () => unknown): HeedError {
  try {
    call();
  } catch (error) {
    expect(error).toBeInstanceOf(HeedError);
    return error as HeedError;
  }
  throw new Error('the call did not fail');
}

describe.each(['simd128', 'relaxed'] as const)('the %s binary', (simd) => {
  const heed = init({ simd });

  test('says which instruction set it runs on', async () => {
    expect((await heed).instructionSet).toBe(simd === 'relaxed' ? 'wasm-relaxed' : 'wasm-simd128');
  });

  const visible = (i: number, j: number) => j <= i + 53 - 37;
  const cases: [string, Partial<OracleProblem>, AttentionOptions][] = [
    ['no options', {}, {}],
    ['grouped key/value heads', { heads: 6, kvHeads: 2 }, {}],
    ['a scale', { scale: 0.7 }, { scale: 0.7 }],
    ['causal, aligned at the end', { shows: (_h, i, j) => visible(i, j) }, { causal: true }],
    ['causal with an offset', { shows: (_h, i, j) => j <= i - 3 }, { causal: true, causalOffset: -3 }],
    ['a window', { shows: (_h, i, j) => j >= i + 16 - 4 && j <= i + 16 + 2 }, { windowLeft: 4, windowRight: 2 }],
    ['a soft cap', { softCap: 0.5 }, { softCap: 0.5 }],
    ['a key mask', { shows: (_h, _i, j) => j % 3 !== 0 }, { keyMask: Uint8Array.from({ length: 53 }, (_, j) => Number(j % 3 !== 0)) }],
    ['a mask a head', { shows: (h, _i, j) => (j + h) % 2 === 0 },
      { mask: { data: Uint8Array.from({ length: 106 }, (_, n) => Number((n % 53 + Math.floor(n / 53)) % 2 === 0)), shape: [1, 2, 1, 53] } }],
    ['a bias a query', { bias: (_h, i, j) => (i - j) / 10 },
      { bias: { data: Float32Array.from({ length: 37 * 53 }, (_, n) => (Math.floor(n / 53) - n % 53) / 10), shape: [1, 1, 37, 53] } }],
  ];
  test.each(cases)('attention with %s equals the float64 oracle', async (_name, oracleOptions, options) => {
    const { inputs, oracle } = problem(oracleOptions);
    const result = (await heed).attention(inputs, options);
    const expected = oracleAttention({ ...oracle, ...oracleOptions });
    expect(largestDifference(result.context, expected.context.flat(2))).toBeLessThan(tolerance);
    expect(largestDifference(result.logsumexp, expected.logsumexp.flat())).toBeLessThan(tolerance);
  });

  test('a session gives the weights, tiles and rows of the oracle', async () => {
    const { inputs, oracle } = problem({ queryLen: 50, keyLen: 50 });
    const session = (await heed).session(inputs);
    session.configure({ causal: true }, { rounds: 2, chunk: 8, buckets: 8, seed: 5 });
    while (session.advance('exact', 100) < 1);
    while (session.advance('lsh', 100) < 1);
    const { weights } = oracleAttention({ ...oracle, shows: (_h, i, j) => j <= i });
    const tile = session.tile('exact', { head: 1, rows: [3, 40], columns: [5, 50], rowsPerCell: 4, columnsPerCell: 7 });
    expect([tile.cellRows, tile.cellColumns]).toEqual([10, 7]);
    for (let r = 0; r < tile.cellRows; r++) {
      for (let c = 0; c < tile.cellColumns; c++) {
        const cell = weights[1]!.slice(3 + 4 * r, Math.min(40, 7 + 4 * r)).flatMap((row) => row.slice(5 + 7 * c, Math.min(50, 12 + 7 * c)));
        expect(tile.peak[r * tile.cellColumns + c]).toBeCloseTo(Math.max(...cell), 5);
        expect(tile.mean[r * tile.cellColumns + c]).toBeCloseTo(cell.reduce((a, b) => a + b, 0) / cell.length, 5);
      }
    }
    // LSH weights are the exact weights of the candidates, renormalised.
    const query = 33;
    const { keys } = session.candidates({ head: 0, query });
    const exact = weights[0]![query]!;
    const mass = [...keys].reduce((sum, j) => sum + exact[j]!, 0);
    const lsh = session.row('lsh', { head: 0, query });
    exact.forEach((weight, j) => expect(lsh[j]).toBeCloseTo(keys.includes(j) ? weight / mass : 0, 5));
    const difference = session.row('difference', { head: 0, query });
    exact.forEach((weight, j) => expect(difference[j]).toBeCloseTo(lsh[j]! - weight, 5));
    session.dispose();
  });

  test('the arithmetic of a cell adds up', async () => {
    const { inputs, oracle } = problem({ queryLen: 30, keyLen: 30 });
    const session = (await heed).session(inputs);
    session.configure({ softCap: 3 });
    session.advance('exact');
    session.advance('lsh');
    const cell = session.cell({ head: 1, query: 7, key: 11 });
    const weight = oracleAttention({ ...oracle, softCap: 3 }).weights[1]![7]![11]!;
    expect(cell.products.reduce((a, b) => a + b, 0)).toBeCloseTo(cell.dot, 5);
    expect(cell.scaled).toBeCloseTo(cell.dot / Math.sqrt(20), 6);
    expect(cell.capped).toBeCloseTo(3 * Math.tanh(cell.scaled / 3), 6);
    expect(Math.exp(cell.logit - cell.exact.logsumexp)).toBeCloseTo(weight, 5);
    expect(cell.exact.weight).toBeCloseTo(weight, 5);
    expect(cell.hiddenBy).toBe('nothing');
    expect(cell.exact.contribution[2]).toBeCloseTo(weight * inputs.value[(30 + 11) * 12 + 2]!, 5);
    session.dispose();
  });

  test('LSH with chunks as long as the sequence is exact attention', async () => {
    const { inputs } = problem({ queryLen: 64, keyLen: 64 });
    const h = await heed;
    const lsh = h.lshAttention(inputs, { causal: true }, { rounds: 1, buckets: 2, chunk: 64 });
    expect(largestDifference(lsh.context, [...h.attention(inputs, { causal: true }).context])).toBeLessThan(tolerance);
    expect(lsh.cost.candidatePairs).toBe(lsh.cost.exactPairs);
  });

  test('buckets do not depend on the binary', async () => {
    const x = uniformData(100 * 16, 3);
    const other = await init({ simd: simd === 'relaxed' ? 'simd128' : 'relaxed' });
    expect((await heed).hash(x, 16, { buckets: 128, seed: 2n ** 60n })).toEqual(other.hash(x, 16, { buckets: 128, seed: 2n ** 60n }));
  });

  test('multi-head attention with identity projections is attention', async () => {
    const [length, dim] = [9, 8];
    const x = uniformData(length * dim, 4);
    const identity = { weight: Float32Array.from({ length: dim * dim }, (_, n) => Number(n % (dim + 1) === 0)) };
    const weights = { query: identity, key: identity, value: identity, output: identity };
    const h = await heed;
    const { output } = h.multiHeadAttention({ querySource: x, weights, shape: { queryLen: length, modelDim: dim, heads: 1, headDim: dim } });
    const { context } = h.attention({ query: x, key: x, value: x, shape: { queryLen: length, headDim: dim } });
    expect(largestDifference(output, [...context])).toBeLessThan(1e-6);
  });

  const bad: [string, (inputs: AttentionInputs) => [AttentionInputs, AttentionOptions], string, string][] = [
    ['a short query', (x) => [{ ...x, query: x.query.slice(1) }, {}], 'query', 'invalid-shape'],
    ['NaN in a key', (x) => [{ ...x, key: x.key.map((v, n) => (n === 77 ? NaN : v)) }, {}], 'key', 'invalid-value'],
    ['an infinite value', (x) => [{ ...x, value: x.value.map((v, n) => (n === 7 ? Infinity : v)) }, {}], 'value', 'invalid-value'],
    ['a fractional length', (x) => [{ ...x, shape: { ...x.shape, queryLen: 2.5 } }, {}], 'shape.queryLen', 'invalid-shape'],
    ['a huge length', (x) => [{ ...x, shape: { ...x.shape, keyLen: 2 ** 40 } }, {}], 'shape.keyLen', 'invalid-shape'],
    ['an infinite scale', (x) => [x, { scale: Infinity }], 'scale', 'invalid-value'],
    ['a negative soft cap', (x) => [x, { softCap: -1 }], 'softCap', 'invalid-value'],
    ['a key mask of the wrong length', (x) => [x, { keyMask: new Uint8Array(3) }], 'keyMask', 'invalid-shape'],
    ['a mask of the wrong shape', (x) => [x, { mask: { data: new Uint8Array(3 * 53), shape: [1, 3, 1, 53] } }], 'mask.shape[1]', 'invalid-shape'],
    ['a string for causal', (x) => [x, { causal: 'yes' as unknown as boolean }], 'causal', 'invalid-value'],
    ['an array for the query', (x) => [{ ...x, query: [...x.query] as unknown as Float32Array }, {}], 'query', 'invalid-value'],
    ['a scale beyond float32', (x) => [x, { scale: 1e300 }], 'scale', 'invalid-value'],
    ['a fractional offset', (x) => [x, { causal: true, causalOffset: 0.5 }], 'causalOffset', 'invalid-value'],
    ['a mask of five axes', (x) => [x, { mask: { data: new Uint8Array(0), shape: [1, 1, 1, 53, 0] as unknown as [1, 1, 1, 53] } }], 'mask.shape', 'invalid-shape'],
    ['a mask without a shape', (x) => [x, { mask: new Uint8Array(53) as never }], 'mask.shape', 'invalid-shape'],
    ['NaN in a bias', (x) => [x, { bias: { data: new Float32Array(53).fill(NaN), shape: [1, 1, 1, 53] } }], 'bias', 'invalid-value'],
    ['a missing shape', (x) => [{ ...x, shape: undefined as never }, {}], 'shape', 'invalid-value'],
    ['a missing input', () => [undefined as never, {}], 'inputs', 'invalid-value'],
    ['null for the options', (x) => [x, null as never], 'options', 'invalid-value'],
  ];
  test.each(bad)('%s is refused by name, and the next call works', async (_name, spoil, field, code) => {
    const { inputs } = problem();
    const h = await heed;
    const failure = failureOf(() => h.attention(...spoil(inputs)));
    expect([failure.field, failure.code]).toEqual([field, code]);
    expect(failure.received).not.toBe('');
    expect(failure.expected).not.toBe('');
    expect(h.attention(inputs).context.every(Number.isFinite)).toBe(true);
  });

  test.each([[{ buckets: 7 }, 'buckets'], [{ rounds: 0 }, 'rounds'], [{ seed: -1 }, 'seed'], [{ seed: 2 ** 60 }, 'seed']])(
    'LSH options %o are refused by name, and the session keeps its results', async (lsh, field) => {
      const { inputs } = problem({ queryLen: 40, keyLen: 40 });
      const session = (await heed).session(inputs);
      session.configure();
      session.advance('lsh');
      expect(failureOf(() => session.configure({}, lsh)).field).toBe(field);
      expect(session.result('lsh').context.every(Number.isFinite)).toBe(true);
      session.dispose();
    });

  test('changing LSH alone keeps exact attention, changing a mask in place does not', async () => {
    const { inputs } = problem({ queryLen: 40, keyLen: 40 });
    const session = (await heed).session(inputs);
    const keyMask = new Uint8Array(40).fill(1);
    session.configure({ keyMask }, { sharedQueryKey: true });
    session.advance('exact');
    session.configure({ keyMask }, { sharedQueryKey: true, rounds: 2 });
    expect(session.done('exact')).toBe(true);
    session.advance('lsh');
    expect(session.quality().capturedMass).toBeGreaterThan(0);
    keyMask[3] = 0;
    session.configure({ keyMask }, { sharedQueryKey: true });
    expect(session.done('exact')).toBe(false);
    session.dispose();
  });

  test('read-outs refuse a kind, range, index or amount of work that is none', async () => {
    const { inputs } = problem({ queryLen: 8, keyLen: 8 });
    using session = (await heed).session(inputs);
    session.configure();
    session.advance('exact');
    session.advance('lsh');
    const all = { head: 0, rows: [0, 8], columns: [0, 8] } as const;
    const refused: [() => unknown, string][] = [
      [() => session.tile('both' as never, all), 'kind'],
      [() => session.advance('difference' as never), 'kind'],
      [() => session.result('toString' as never), 'kind'],
      [() => session.advance('exact', NaN), 'work'],
      [() => session.advance('exact', 0), 'work'],
      [() => session.tile('exact', { ...all, rows: undefined as never }), 'tile.rows'],
      [() => session.tile('exact', { ...all, rows: [6, 2] }), 'tile.rows'],
      [() => session.tile('exact', { ...all, columns: [0, 9] }), 'tile.columns'],
      [() => session.tile('exact', { ...all, head: 2 }), 'tile.head'],
      [() => session.tile('exact', { ...all, rowsPerCell: 0 }), 'tile.rowsPerCell'],
      [() => session.structure({ head: 0, round: 99 }), 'round'],
      [() => session.quality({ seed: 1.5 }), 'seed'],
    ];
    for (const [call, field] of refused) expect(failureOf(call).field).toBe(field);
  });

  test('a cell larger than its tile is the whole tile', async () => {
    const { inputs } = problem({ queryLen: 8, keyLen: 8 });
    using session = (await heed).session(inputs);
    session.configure();
    session.advance('exact');
    const cell = (size: number) => session.tile('exact', { head: 0, rows: [0, 8], columns: [0, 8], rowsPerCell: size, columnsPerCell: size });
    expect(cell(8).mean[0]).toBeCloseTo(1 / 8, 6);
    expect(cell(2 ** 32 - 1)).toEqual(cell(8));
  });

  test('a disposed or unfinished session says so', async () => {
    const { inputs } = problem({ queryLen: 8, keyLen: 8 });
    const session = (await heed).session(inputs);
    session.configure();
    expect(failureOf(() => session.result('exact')).field).toBe('exact');
    session.dispose();
    session.dispose();
    const calls = [() => session.configure(), () => session.advance('exact'), () => session.done('lsh'), () => session.result('exact'), () => session.parameters(), () => session.cost(), () => session.workspaceBytes()];
    for (const call of calls) expect(failureOf(call).code).toBe('disposed');
  });
});

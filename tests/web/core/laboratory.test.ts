// What the laboratory's module adds to the facade: the search for parameters, principal components.
import { readFile } from 'node:fs/promises';
import { describe, expect, test } from 'vitest';
import { HeedError } from '../../../web/src/core/errors.ts';
import type { TuneOptions } from '../../../web/src/core/lab-types.ts';
import { init } from '../../../web/src/core/node.ts';
import { makeHandlers } from '../../../web/src/worker/handlers.ts';
import { clusteredInputs, uniformData } from '../support/oracle.ts';

const clustered = clusteredInputs(1024, 16, 32);
// Uniform in [-1, 1]: no query has a few keys that take its mass.
const unstructured = { query: uniformData(512 * 16, 1), key: uniformData(512 * 16, 2), value: uniformData(512 * 16, 3), shape: { queryLen: 512, headDim: 16 } };

const failureOf = (call: () => unknown) => {
  try {
    call();
  } catch (error) {
    expect(error).toBeInstanceOf(HeedError);
    return error as HeedError;
  }
  throw new Error('the call did not fail');
};

describe.each(['simd128', 'relaxed'] as const)('the %s binary of the laboratory', (simd) => {
  const laboratory = init({ simd, laboratory: true });

  test('has all that the other has', async () => {
    const [heed, other] = [await laboratory, await init({ simd })];
    expect(heed.instructionSet).toBe(simd === 'relaxed' ? 'wasm-relaxed' : 'wasm-simd128');
    expect(heed.lshAttention(clustered, {}, { rounds: 2 })).toEqual(other.lshAttention(clustered, {}, { rounds: 2 }));
  });

  test('recommends parameters for clustered keys whose attention has the quality that was measured', async () => {
    const heed = await laboratory;
    const { verdict, recommended, points, front } = heed.autoTune(clustered, {}, { target: { capturedMass: 0.9 }, sample: 0, lsh: { seed: 5 } });
    expect(verdict).toBe('lsh');
    const best = points.find((point) => point.rounds === recommended!.rounds && point.buckets === recommended!.buckets && point.chunk === recommended!.chunk)!;
    expect(best.meetsTarget).toBe(true);
    expect(best.cost).toBeLessThan(1);
    for (const point of points) if (point.meetsTarget) expect(point.cost).toBeGreaterThanOrEqual(best.cost);
    using session = heed.session(clustered);
    session.configure({}, recommended);
    session.advance('exact');
    session.advance('lsh');
    expect(session.parameters()).toEqual({ rounds: best.rounds, buckets: best.buckets, chunk: best.chunk });
    const quality = session.quality();
    expect(best.quality.capturedMass).toBeCloseTo(quality.capturedMass, 4);
    expect(best.quality.relativeError).toBeCloseTo(quality.relativeError, 4);
    expect(best.quality.sampled).toBe(false);
    const costs = front.map((i) => points[i]!.cost);
    expect(costs).toEqual([...costs].sort((a, b) => a - b));
  });

  test('says that exact attention is better where no key stands out, and keeps to a budget', async () => {
    const heed = await laboratory;
    const honest = heed.autoTune(unstructured, {}, { target: { capturedMass: 0.95 } });
    expect([honest.verdict, honest.recommended]).toEqual(['exact', undefined]);
    const budget = heed.autoTune(unstructured, {}, { target: { budget: 0.5 } });
    const within = budget.points.filter((point) => point.cost <= 0.5);
    expect(budget.verdict).toBe('lsh');
    expect(within.every((point) => point.meetsTarget)).toBe(true);
    const chosen = budget.points.find((point) => point.rounds === budget.recommended!.rounds && point.buckets === budget.recommended!.buckets && point.chunk === budget.recommended!.chunk)!;
    expect(chosen.quality.capturedMass).toBe(Math.max(...within.map((point) => point.quality.capturedMass)));
    expect(heed.autoTune(unstructured, {}, { target: { budget: 1e-6 } }).verdict).toBe('none');
  });

  test('finds the axis along which rows spread', async () => {
    const heed = await laboratory;
    const spread = uniformData(300, 4);
    const x = Float32Array.from({ length: 900 }, (_, n) => (n % 3 === 1 ? 5 * spread[Math.floor(n / 3)]! : 7));
    const { mean, components, explained } = heed.principalComponents(x, 3, 2);
    expect([...components.subarray(0, 3)].map((c) => Math.abs(Math.round(c * 1e5) / 1e5))).toEqual([0, 1, 0]);
    expect(explained[0]).toBeCloseTo(1, 5);
    expect([mean[0], mean[2]]).toEqual([7, 7]);
    expect(failureOf(() => heed.principalComponents(x, 3, 4)).field).toBe('components');
    expect(failureOf(() => heed.principalComponents(x, 7, 1)).field).toBe('x');
  });
});

test('a search in slices finds what a search in one piece finds, and frees its memory', async () => {
  const heed = await init({ laboratory: true });
  const whole = heed.autoTune(clustered);
  const handlers = makeHandlers(heed);
  const fractions: number[] = [];
  const sliced = await handlers.autoTune(clustered, {}, {}, { pause: async (fraction) => { fractions.push(fraction); } });
  expect(sliced).toEqual(whole);
  expect(fractions.length).toBeGreaterThan(1);
  expect(fractions).toEqual([...fractions].sort((a, b) => a - b));
  expect(fractions.at(-1)).toBe(1);
  const bytes = heed.memoryBytes();
  for (let n = 0; n < 60; n++) {
    failureOf(() => heed.autoTune(clustered, {}, { target: { capturedMass: 2 } }));
    heed.tuner(clustered).dispose();
  }
  expect(heed.memoryBytes()).toBe(bytes);
});

test('a search shares the keys of the queries when asked to, whatever the key is', async () => {
  const heed = await init({ laboratory: true });
  const { recommended } = heed.autoTune({ ...clustered, key: new Float32Array(0) }, { causal: true }, { target: { budget: 1 }, lsh: { sharedQueryKey: true, rotation: 'hadamard' } });
  expect(recommended).toMatchObject({ sharedQueryKey: true, rotation: 'hadamard' });
});

test('bad arguments of a search are named', async () => {
  const heed = await init({ laboratory: true });
  const cases: [TuneOptions, string, string][] = [
    [{ target: { capturedMass: 1.5 } }, 'target', '1.5'],
    [{ target: { relativeError: Number.NaN } }, 'target', 'nan'],
    [{ target: { budget: -1 } }, 'target', '-1'],
    [{ target: { capturedMass: 0.9, budget: 1 } as never }, 'target', 'capturedMass: 0.9, budget: 1'],
    [{ target: {} as never }, 'target', 'nothing'],
    [{ target: { mass: 1 } as never }, 'target', 'mass: 1'],
    [{ target: null as never }, 'target', 'null'],
    [{ sample: -1 }, 'sample', '-1'],
    [{ seed: 0.5 }, 'seed', '0.5'],
    [{ lsh: { rotation: 'fast' as never } }, 'rotation', 'fast'],
    [{ lsh: 3 as never }, 'lsh', '3'],
  ];
  for (const [tune, field, received] of cases) {
    const failure = failureOf(() => heed.autoTune(clustered, {}, tune));
    expect([failure.field, failure.received.toLowerCase()]).toEqual([field, received.toLowerCase()]);
  }
  expect(failureOf(() => heed.autoTune({ ...clustered, key: new Float32Array(3) })).field).toBe('key');
  const tuner = heed.tuner(clustered);
  expect(failureOf(() => tuner.result()).field).toBe('tuner');
  expect(failureOf(() => tuner.advance(0)).field).toBe('work');
  tuner.dispose();
  tuner.dispose();
  expect(failureOf(() => tuner.advance()).code).toBe('disposed');
});

test('without the laboratory its calls say how to get it', async () => {
  const heed = await init();
  for (const call of [() => heed.autoTune(clustered), () => heed.tuner(clustered), () => heed.principalComponents(new Float32Array(6), 2, 1)]) {
    expect(failureOf(call)).toMatchObject({ code: 'invalid-value', field: 'laboratory', expected: 'init({ laboratory: true })' });
  }
  const refusal = await init({ laboratory: 'yes' as never }).catch((error: unknown) => error);
  expect(refusal).toMatchObject({ code: 'invalid-value', field: 'laboratory', received: 'yes' });
});

test('a binary without the laboratory is refused for it, and the other way around', async () => {
  const read = (name: string) => readFile(new URL(`../../../web/src/core/generated/${name}.wasm`, import.meta.url));
  await expect(init({ laboratory: true, wasmBinary: await read('heed') })).rejects.toMatchObject({ code: 'wasm-unavailable' });
  await expect(init({ wasmBinary: await read('heed-lab') })).rejects.toMatchObject({ code: 'wasm-unavailable' });
  const heed = await init({ laboratory: true, wasmBinary: await read('heed-lab') });
  expect(heed.autoTune(clustered, {}, { sample: 8 }).points.length).toBeGreaterThan(0);
});

import { expect, test } from 'vitest';
import { findNonFinite, openTensorFile, toHeads, writeNpy, writeSafetensors } from '../../../web/src/tensor-file/index.ts';
import { failureOf, latin1 } from './support.ts';

test('shapes are read as [N, d], [H, N, d] and [B, H, N, d]', () => {
  expect(toHeads([5, 4])).toEqual({ batch: 1, heads: 1, length: 5, headDim: 4 });
  expect(toHeads([3, 5, 4])).toEqual({ batch: 1, heads: 3, length: 5, headDim: 4 });
  expect(toHeads([2, 3, 5, 4])).toEqual({ batch: 2, heads: 3, length: 5, headDim: 4 });
});

test.each([[[]], [[3]], [[1, 1, 1, 2, 2]], [[0, 4]], [[4, 0]], [new Array(1000).fill(1)]])('the shape %j is refused by name', (shape: number[]) => {
  const failure = failureOf(() => toHeads(shape, 'query'));
  expect(failure).toMatchObject({ code: 'wrong-shape', field: 'query' });
  expect(failure.message.length).toBeLessThan(300);
});

test('the first number that is not finite is found, and all are counted', () => {
  expect(findNonFinite(new Float32Array(3))).toBeUndefined();
  expect(findNonFinite(Float32Array.of(0, -Infinity, 1, NaN))).toEqual({ index: 1, value: -Infinity, count: 2 });
});

test('a file is what its content says, whatever its name', () => {
  expect(openTensorFile('x.safetensors', writeNpy([1], Float32Array.of(1))).format).toBe('npy');
  expect(openTensorFile('x.npy', writeSafetensors({ a: { shape: [], values: Float32Array.of(1) } })).format).toBe('safetensors');
});

test('a file of another kind is refused by name', () => {
  for (const content of ['\x89PNG....', '<!doctype html><title>404</title>', '', 'PK', '{"a": 1}']) {
    expect(failureOf(() => openTensorFile('cat.png', latin1(content)))).toMatchObject({ code: 'unknown-format', received: `cat.png, ${content.length} bytes` });
  }
  expect(failureOf(() => openTensorFile('empty.npy', new Uint8Array())).code).toBe('unknown-format');
});

test('texts from a file are short and clean in messages', () => {
  const failure = failureOf(() => openTensorFile(`${'x'.repeat(1e6)}\n`, latin1('\x00')));
  expect(failure.message.length).toBeLessThan(300);
  expect(failureOf(() => openTensorFile('a\u0000\nb', latin1('\x00'))).received).toContain('a??b');
});

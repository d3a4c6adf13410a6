import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { openTensorFile } from '../../../web/src/tensor-file/index.ts';
import { failureOf } from './support.ts';

interface Case {
  readonly title: string;
  readonly base64: string;
  /** No values: NumPy reads it, heed says why it does not. */
  readonly tensors: readonly { readonly name: string; readonly shape: readonly number[]; readonly values: readonly (number | string)[] | null }[];
}

const spelled: Readonly<Record<string, number>> = { nan: NaN, inf: Infinity, '-inf': -Infinity };
const cases = JSON.parse(readFileSync(new URL('numpy-files.json', import.meta.url), 'utf8')) as Case[];

test.each(cases)("NumPy's file of $title is read as NumPy reads it, or refused with the reason", ({ base64, tensors }) => {
  const file = openTensorFile('x.npy', Buffer.from(base64, 'base64'));
  expect(file.tensors.map(({ name, shape }) => ({ name, shape }))).toEqual(tensors.map(({ name, shape }) => ({ name, shape })));
  for (const { name, values } of tensors) {
    const info = file.tensors.find((tensor) => tensor.name === name)!;
    expect(info.readable).toBe(values !== null);
    if (values === null) {
      expect(info.reason).toContain('save it as float32');
      expect(failureOf(() => file.read(name)).code).toBe('unsupported');
    } else {
      expect(file.read(name)).toEqual(Float32Array.from(values, (value) => typeof value === 'number' ? value : spelled[value]!));
    }
  }
});

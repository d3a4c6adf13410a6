import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { init } from '../../web/src/core/node.ts';
import { findNonFinite, openTensorFile } from '../../web/src/tensor-file/index.ts';

interface Sample {
  readonly id: string;
  readonly file: string;
  readonly heads: number;
  readonly length: number;
  readonly headDim: number;
  readonly trained: boolean;
}

const folder = new URL('../../public/samples/', import.meta.url);
const samples = JSON.parse(readFileSync(new URL('index.json', folder), 'utf8')) as Sample[];
const open = (sample: Sample) => openTensorFile(sample.file, readFileSync(new URL(sample.file, folder)));

describe.each(samples)('the sample $id', (sample) => {
  test('has query, key and value of the listed shape, all finite, and a token a position', () => {
    const file = open(sample);
    for (const name of ['query', 'key', 'value']) {
      expect(file.tensors.find((tensor) => tensor.name === name)?.shape).toEqual([sample.heads, sample.length, sample.headDim]);
      expect(findNonFinite(file.read(name))).toBeUndefined();
    }
    expect(JSON.parse(file.metadata.get('tokens')!)).toHaveLength(sample.length);
  });
});

test.each(samples.filter(({ trained }) => trained))("heed's weights on $id are the trained model's own softmax", async (sample) => {
  const file = open(sample);
  const { head, rows } = JSON.parse(file.metadata.get('softmax_rows')!) as { head: number; rows: number[] };
  const heed = await init();
  const session = heed.session({
    query: file.read('query'), key: file.read('key'), value: file.read('value'),
    shape: { heads: sample.heads, queryLen: sample.length, headDim: sample.headDim },
  });
  session.configure({ scale: Number(file.metadata.get('scale')) });
  session.advance('exact');
  const expected = file.read('softmax_rows');
  rows.forEach((query, r) => {
    const actual = session.row('exact', { head, query });
    // The file holds q and k as float16: 11 bits each, logits of a few units, so weights within 1 %.
    actual.forEach((weight, j) => expect(Math.abs(weight - expected[r * sample.length + j]!)).toBeLessThan(0.01 * Math.max(weight, 0.02)));
  });
  session.dispose();
});

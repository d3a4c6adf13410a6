import { expect, test } from 'vitest';
import { init } from '../../../web/src/core/node.ts';
import { windowOf } from '../../../web/src/marks/bucket-strip.ts';
import { uniformData } from '../support/oracle.ts';

test.each([
  ['chunks, same lengths', { queryLen: 100, keyLen: 100 }, { rounds: 1, buckets: 8, chunk: 16 }, undefined],
  ['chunks, more keys than queries', { queryLen: 40, keyLen: 100 }, { rounds: 1, buckets: 8, chunk: 16 }, undefined],
  ['hidden keys', { queryLen: 100, keyLen: 100 }, { rounds: 1, buckets: 8, chunk: 16 }, (j: number) => j % 3 !== 0],
  ['true buckets', { queryLen: 100, keyLen: 100 }, { rounds: 1, buckets: 8, trueBuckets: true }, (j: number) => j % 4 !== 1],
  ['shared query and key', { queryLen: 90, keyLen: 90 }, { rounds: 1, buckets: 8, chunk: 16, sharedQueryKey: true }, undefined],
])('the window drawn for a query is the set of its candidates: %s', async (_name, lengths, lsh, shown) => {
  const heed = await init();
  const dim = 8;
  const session = heed.session({ query: uniformData(lengths.queryLen * dim, 1), key: uniformData(lengths.keyLen * dim, 2), value: uniformData(lengths.keyLen * dim, 3), shape: { ...lengths, headDim: dim } });
  const { buckets } = session.configure(shown ? { keyMask: Uint8Array.from({ length: lengths.keyLen }, (_, j) => Number(shown(j))) } : {}, lsh);
  session.advance('lsh');
  const structure = session.structure({ head: 0, round: 0 });
  for (let query = 0; query < lengths.queryLen; query += 7) {
    const [begin, end] = windowOf({ structure, buckets, trueBuckets: 'trueBuckets' in lsh }, query);
    const drawn = [...structure.keyOrder.slice(begin, end)].sort((a, b) => a - b);
    const { keys } = session.candidates({ head: 0, query });
    // Under shared query and key the query sees its own position only when alone.
    const own = 'sharedQueryKey' in lsh ? drawn.filter((key) => key !== query) : drawn;
    expect([...keys]).toEqual(own);
  }
  session.dispose();
});

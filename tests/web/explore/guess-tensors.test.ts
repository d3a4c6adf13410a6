import { describe, expect, it } from 'vitest';
import { guessTensors, usableTensors } from '../../../web/src/explore/guess-tensors.ts';

const tensors = (...entries: [name: string, ...shape: number[]][]) => entries.map(([name, ...shape]) => ({ name, shape, dtype: 'F32' }));

describe('guessTensors', () => {
  it.each([['q', 'k', 'v'], ['query', 'key', 'value'], ['Queries', 'Keys', 'Values'], ['attn.q_proj', 'attn.k_proj', 'attn.v_proj'], ['layers/0/Q:0', 'layers/0/K:0', 'layers/0/V:0']])(
    'finds %s, %s and %s in any order', (query, key, value) => {
      expect(guessTensors(tensors([value, 4, 8], [key, 4, 8], ['softmax', 4, 4], [query, 4, 8]))).toEqual({ query, key, value });
    });

  it('keeps to one layer where there are several', () => {
    const list = tensors(['h.1.q', 4, 8], ['h.0.k', 4, 8], ['h.1.k', 4, 8], ['h.0.v', 4, 8], ['h.1.v', 4, 8]);
    expect(guessTensors(list)).toEqual({ query: 'h.1.q', key: 'h.1.k', value: 'h.1.v' });
  });

  it('passes over a key of another width and a value of another length', () => {
    expect(guessTensors(tensors(['q', 4, 8], ['k', 4, 9], ['v', 5, 8]))).toEqual({ query: 'q', key: '', value: '' });
  });

  it('takes the first usable tensor as query when no name says more', () => {
    expect(guessTensors(tensors(['bias', 8], ['quark', 4, 8], ['vk', 4, 8]))).toEqual({ query: 'quark', key: '', value: '' });
  });

  it('finds nothing among vectors, empty and unreadable tensors', () => {
    const unreadable = { name: 'q', shape: [4, 8], dtype: '|O', reason: 'objects' };
    expect(guessTensors([...tensors(['a', 8], ['b', 0, 8], ['c', 1, 1, 1, 4, 8]), unreadable])).toBeNull();
    expect(usableTensors([unreadable])).toEqual([]);
  });
});

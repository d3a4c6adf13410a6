// How exact attention is shared out among workers: by key/value heads, and by queries where there are
// fewer heads than workers. Pure; knows no worker.

import type { FullShape } from '../core/arguments.ts';
import type { AttentionInputs, AttentionOptions, Broadcast } from '../core/types.ts';

/** The queries [begin, end) of the heads that read the key/value heads [begin, end) of one batch entry. */
export interface Share {
  readonly batch: number;
  readonly kvHeads: readonly [begin: number, end: number];
  readonly queries: readonly [begin: number, end: number];
  /** Query-key pairs. */
  readonly pairs: number;
}

/** Shares end at multiples of this many queries, so that no worker is left with a few rows. */
const queryUnit = 40;

/** Keys that the causal rule and the window leave to a query; the module decides, this weighs. */
function visibleKeys(shape: FullShape, options: AttentionOptions, query: number): number {
  const at = query + (options.causalOffset ?? shape.keyLen - shape.queryLen);
  const end = Math.min(shape.keyLen, at + 1 + Math.min(options.causal ? 0 : Infinity, options.windowRight ?? Infinity));
  return Math.max(0, end - Math.max(0, at - (options.windowLeft ?? Infinity)));
}

/** Boundaries of `parts` runs of queries of about equal cost. */
function cutQueries(shape: FullShape, options: AttentionOptions, parts: number): { ends: number[]; pairs: number[] } {
  const cumulative = [0];
  for (let i = 0; i < shape.queryLen; i++) cumulative.push(cumulative[i]! + visibleKeys(shape, options, i));
  const total = cumulative[shape.queryLen]!;
  const ends: number[] = [], pairs: number[] = [];
  for (let i = 0; i < shape.queryLen;) {
    const begin = i, due = (total * (ends.length + 1)) / parts;
    do i = Math.min(shape.queryLen, i + queryUnit); while (i < shape.queryLen && (ends.length + 1 === parts || cumulative[i]! < due));
    ends.push(i);
    pairs.push(cumulative[i]! - cumulative[begin]!);
  }
  return { ends, pairs };
}

/**
 * Shares for each of `workers`. A key/value head goes to one worker, or once to every worker when
 * heads alone cannot keep all of them busy.
 */
export function shareOut(shape: FullShape, options: AttentionOptions, workers: number): Share[][] {
  const lists: Share[][] = Array.from({ length: workers }, () => []);
  const sequences = shape.batch * shape.kvHeads;
  const group = shape.kvHeads === 0 ? 0 : shape.heads / shape.kvHeads;
  const byHeads = sequences % workers === 0 || sequences >= 8 * workers;
  const { ends, pairs } = cutQueries(shape, options, byHeads ? 1 : workers);
  const perWorker = Math.ceil(sequences / workers);
  for (let sequence = 0; sequence < sequences;) {
    const batch = Math.floor(sequence / shape.kvHeads), head = sequence % shape.kvHeads;
    const worker = Math.floor(sequence / perWorker);
    const count = byHeads ? Math.min(shape.kvHeads - head, (worker + 1) * perWorker - sequence) : 1;
    ends.forEach((end, part) => {
      lists[byHeads ? worker : part]!.push({
        batch, kvHeads: [head, head + count], queries: [ends[part - 1] ?? 0, end], pairs: pairs[part]! * count * group,
      });
    });
    sequence += count;
  }
  return lists;
}

/** Rows [begin, end) of one batch entry's heads [first, last) of x [batch, heads, rows, columns]: a copy, or a view where x lies in shared memory and they side by side. */
function cut(x: Float32Array, [heads, rows, columns]: readonly number[], batch: number, [first, last]: readonly number[], [begin, end]: readonly number[]): Float32Array {
  const size = (end! - begin!) * columns!;
  const shared = typeof SharedArrayBuffer !== 'undefined' && x.buffer instanceof SharedArrayBuffer;
  if (shared && (last! - first! === 1 || end! - begin! === rows)) {
    const from = ((batch * heads! + first!) * rows! + begin!) * columns!;
    return x.subarray(from, from + (last! - first!) * size);
  }
  const out = new Float32Array((last! - first!) * size);
  for (let h = first!; h < last!; h++) {
    const from = ((batch * heads! + h) * rows! + begin!) * columns!;
    out.set(x.subarray(from, from + size), (h - first!) * size);
  }
  return out;
}

function cutBroadcast<T extends Float32Array | Uint8Array>({ data, shape }: Broadcast<T>, batch: number, heads: readonly [number, number], queries: readonly [number, number]): Broadcast<T> {
  const [batches, allHeads, rows, columns] = shape;
  const b = batches === 1 ? 0 : batch;
  const [first, last] = allHeads === 1 ? [0, 1] : heads;
  const [begin, end] = rows === 1 ? [0, 1] : queries;
  const size = (end - begin) * columns;
  const out = new (data.constructor as new (n: number) => T)((last - first) * size);
  for (let h = first; h < last; h++) {
    const from = ((b * allHeads + h) * rows + begin) * columns;
    out.set(data.subarray(from, from + size), (h - first) * size);
  }
  return { data: out, shape: [1, last - first, end - begin, columns] };
}

/** The problem of one share; `own` are the buffers made for it. */
export function problemOf(share: Share, inputs: AttentionInputs, options: AttentionOptions, shape: FullShape): { inputs: AttentionInputs; options: AttentionOptions; own: ArrayBuffer[] } {
  const { batch, kvHeads, queries } = share;
  const group = shape.heads / shape.kvHeads;
  const heads = [kvHeads[0] * group, kvHeads[1] * group] as const;
  const keys = [0, shape.keyLen];
  const { keyMask, mask, bias, ...rest } = options;
  const query = cut(inputs.query, [shape.heads, shape.queryLen, shape.headDim], batch, heads, queries);
  const key = cut(inputs.key, [shape.kvHeads, shape.keyLen, shape.headDim], batch, kvHeads, keys);
  const value = cut(inputs.value, [shape.kvHeads, shape.keyLen, shape.valueDim], batch, kvHeads, keys);
  return {
    own: [query, key, value].flatMap(({ buffer }) => (buffer instanceof ArrayBuffer ? [buffer] : [])),
    inputs: {
      query, key, value,
      shape: { ...shape, batch: 1, heads: heads[1] - heads[0], kvHeads: kvHeads[1] - kvHeads[0], queryLen: queries[1] - queries[0] },
    },
    options: {
      ...rest,
      causalOffset: (options.causalOffset ?? shape.keyLen - shape.queryLen) + queries[0],
      ...(keyMask && { keyMask: keyMask.slice(batch * shape.keyLen, (batch + 1) * shape.keyLen) }),
      ...(mask && { mask: cutBroadcast(mask, batch, heads, queries) }),
      ...(bias && { bias: cutBroadcast(bias, batch, heads, queries) }),
    },
  };
}

/** Writes a share's rows, `columns` numbers each, to their places in [batch, heads, queryLen, columns]. */
export function placeRows(share: Share, shape: FullShape, columns: number, part: Float32Array, whole: Float32Array): void {
  const group = shape.heads / shape.kvHeads;
  const [begin, end] = share.queries;
  const size = (end - begin) * columns;
  for (let h = share.kvHeads[0] * group, n = 0; h < share.kvHeads[1] * group; h++, n++) {
    whole.set(part.subarray(n * size, (n + 1) * size), ((share.batch * shape.heads + h) * shape.queryLen + begin) * columns);
  }
}

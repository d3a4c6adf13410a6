// Seeded random token embeddings and projections. Nothing here is trained: the same token gets the
// same random vector, and queries, keys and values are random linear maps of it.

import { fillNormal } from './philox.ts';
import type { Token } from './split.ts';

// Streams of the generator, one for each use.
const numberedToken = 1;
const namedToken = 2;
const projection = { query: 3, key: 4, value: 5 } as const;

/** 64 bits of a string: FNV-1a over UTF-16 units in two lanes with different offsets (Fowler, Noll & Vo). */
function hash64(text: string): readonly [number, number] {
  const prime = 0x01000193;
  let low = 0x811c9dc5;
  let high = 0x050c5d1f;
  for (let i = 0; i < text.length; i++) {
    const unit = text.charCodeAt(i);
    low = Math.imul(low ^ unit, prime);
    high = Math.imul(high ^ (unit + i), prime);
  }
  return [low >>> 0, high >>> 0];
}

function streamOf(identity: Token['identity']): readonly [number, number, number] {
  return typeof identity === 'number' ? [numberedToken, identity, 0] : [namedToken, ...hash64(identity)];
}

/** Adds sin and cos of position / 10000^(2i / dim), interleaved (Vaswani et al. 2017, section 3.5). */
function addPositions(x: Float32Array, dim: number): void {
  for (let at = 0; at < x.length; at++) {
    const column = at % dim;
    const position = (at - column) / dim;
    const angle = position / 10000 ** ((column - (column % 2)) / dim);
    x[at]! += column % 2 === 0 ? Math.sin(angle) : Math.cos(angle);
  }
}

/** Embeddings [tokens, dim], standard normal, plus sinusoidal positions if wanted. */
export function embedTokens(tokens: readonly Token[], dim: number, seed: number, positions: boolean): Float32Array<ArrayBuffer> {
  const x = new Float32Array(tokens.length * dim);
  const first = new Map<Token['identity'], number>();
  tokens.forEach(({ identity }, at) => {
    const known = first.get(identity);
    if (known === undefined) {
      first.set(identity, at);
      fillNormal(x.subarray(at * dim, (at + 1) * dim), seed, streamOf(identity));
    } else {
      x.copyWithin(at * dim, known * dim, (known + 1) * dim);
    }
  });
  if (positions) addPositions(x, dim);
  return x;
}

/** A random projection [outFeatures, inFeatures] with entries of variance 1 / inFeatures, which keeps the scale of its input. */
export function randomProjection(which: keyof typeof projection, outFeatures: number, inFeatures: number, seed: number): Float32Array<ArrayBuffer> {
  const weight = new Float32Array(outFeatures * inFeatures);
  fillNormal(weight, seed, [projection[which], 0, 0]);
  const scale = 1 / Math.sqrt(inFeatures);
  for (let i = 0; i < weight.length; i++) weight[i]! *= scale;
  return weight;
}

/** [length, heads * headDim] to [heads, length, headDim]. */
export function splitHeads(x: Float32Array, heads: number, headDim: number): Float32Array<ArrayBuffer> {
  const length = x.length / (heads * headDim);
  const out = new Float32Array(x.length);
  for (let position = 0; position < length; position++) {
    for (let head = 0; head < heads; head++) {
      const from = (position * heads + head) * headDim;
      out.set(x.subarray(from, from + headDim), (head * length + position) * headDim);
    }
  }
  return out;
}

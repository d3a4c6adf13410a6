// Checks arguments and lays them out in the heap, in the structs that the bindings take.

import type { LshOptions as ModuleLshOptions, Options, Problem } from './generated/heed.mjs';
import { HeedError } from './errors.ts';
import type { HeapScope } from './heap.ts';
import type { AttentionInputs, AttentionOptions, AttentionShape, Broadcast, LshOptions, Rotation, WeightKind } from './types.ts';

export type FullShape = Required<AttentionShape>;

/** A count: an integer from `least` to 2^32 - 1. */
export function checkCount(value: unknown, field: string, least = 0): number {
  if (typeof value !== 'number' || !Number.isInteger(value) || value < least || value >= 2 ** 32) {
    throw new HeedError({ code: 'invalid-shape', field, received: String(value), expected: `an integer of at least ${least}` });
  }
  return value;
}

/** A number that stays finite as the float32 it is passed as. */
function checkNumber(value: unknown, field: string): number {
  if (typeof value !== 'number' || !Number.isFinite(Math.fround(value))) {
    throw new HeedError({ code: 'invalid-value', field, received: String(value), expected: 'a finite float32 number' });
  }
  return value;
}

function checkInteger(value: unknown, field: string): number {
  if (!Number.isSafeInteger(value)) {
    throw new HeedError({ code: 'invalid-value', field, received: String(value), expected: 'an integer' });
  }
  return value as number;
}

/** A positive amount of work; infinity does it all. */
export function checkWork(value: unknown): number {
  if (typeof value !== 'number' || !(value > 0)) {
    throw new HeedError({ code: 'invalid-value', field: 'work', received: String(value), expected: 'a positive number' });
  }
  return value;
}

/** An argument of which properties are read. */
export function checkObject<T>(value: T, field: string): T & object {
  if (typeof value !== 'object' || value === null) {
    throw new HeedError({ code: 'invalid-value', field, received: String(value), expected: 'an object' });
  }
  return value;
}

/** A half-open range of counts. Whether it lies within its axis is for the callee to say. */
export function checkRange(value: unknown, field: string): readonly [begin: number, end: number] {
  if (!Array.isArray(value) || value.length !== 2) {
    throw new HeedError({ code: 'invalid-value', field, received: String(value), expected: '[begin, end]' });
  }
  return [checkCount(value[0], `${field}[0]`), checkCount(value[1], `${field}[1]`)];
}

const KINDS = { exact: 0, lsh: 1, difference: 2 } as const;

/** The module's number of a kind of weight, one of those allowed. */
export function checkKind<K extends WeightKind>(kind: K, allowed: readonly K[]): number {
  if (!allowed.includes(kind)) {
    throw new HeedError({ code: 'invalid-value', field: 'kind', received: String(kind), expected: allowed.join(' or ') });
  }
  return KINDS[kind];
}

export function checkBoolean(value: unknown, field: string): boolean {
  if (typeof value !== 'boolean') {
    throw new HeedError({ code: 'invalid-value', field, received: String(value), expected: 'true or false' });
  }
  return value;
}

/** A typed array of the given kind and length. */
export function checkArray<T extends Float32Array | Uint8Array>(
  value: unknown, kind: new (n: number) => T, length: number, field: string, what: string,
): T {
  if (!(value instanceof kind)) {
    const received = value === null ? 'null' : typeof value === 'object' ? value.constructor.name : typeof value;
    throw new HeedError({ code: 'invalid-value', field, received, expected: `a ${kind.name}` });
  }
  if (value.length !== length) {
    throw new HeedError({ code: 'invalid-shape', field, received: `${value.length} elements`, expected: `${length} (${what})` });
  }
  return value;
}

export function fullShape(shape: AttentionShape): FullShape {
  checkObject(shape, 'shape');
  const batch = checkCount(shape.batch ?? 1, 'shape.batch');
  const heads = checkCount(shape.heads ?? 1, 'shape.heads');
  const kvHeads = checkCount(shape.kvHeads ?? heads, 'shape.kvHeads');
  const queryLen = checkCount(shape.queryLen, 'shape.queryLen');
  const keyLen = checkCount(shape.keyLen ?? queryLen, 'shape.keyLen');
  const headDim = checkCount(shape.headDim, 'shape.headDim', 1);
  const valueDim = checkCount(shape.valueDim ?? headDim, 'shape.valueDim', 1);
  return { batch, heads, kvHeads, queryLen, keyLen, headDim, valueDim };
}

/** Elements of context and of logsumexp. */
export function outputSizes(s: FullShape): { context: number; logsumexp: number } {
  const logsumexp = s.batch * s.heads * s.queryLen;
  return { context: logsumexp * s.valueDim, logsumexp };
}

/** Query, key and value of the sizes that the shape says. Under sharedQueryKey the key is not read, so any is accepted, even none. */
export function checkTensors(inputs: AttentionInputs, shape: FullShape, sharedQueryKey = false): { query: Float32Array; key: Float32Array | undefined; value: Float32Array } {
  const s = shape;
  const query = checkArray(inputs.query, Float32Array, s.batch * s.heads * s.queryLen * s.headDim, 'query', 'batch * heads * queryLen * headDim');
  const key = sharedQueryKey ? undefined
    : checkArray(inputs.key, Float32Array, s.batch * s.kvHeads * s.keyLen * s.headDim, 'key', 'batch * kvHeads * keyLen * headDim');
  const value = checkArray(inputs.value, Float32Array, s.batch * s.kvHeads * s.keyLen * s.valueDim, 'value', 'batch * kvHeads * keyLen * valueDim');
  return { query, key, value };
}

/** Copies query, key and value into the heap and makes room for the outputs. */
export function placeProblem(scope: HeapScope, inputs: AttentionInputs, shape: FullShape, sharedQueryKey = false): Problem {
  const s = shape;
  const { query, key, value } = checkTensors(inputs, s, sharedQueryKey);
  const sizes = outputSizes(s);
  const queryAddress = scope.floats(query, 'query');
  // Spelled out: a spread here costs more than the rest of the call.
  return {
    batch: s.batch,
    heads: s.heads,
    kvHeads: s.kvHeads,
    queryLen: s.queryLen,
    keyLen: s.keyLen,
    headDim: s.headDim,
    valueDim: s.valueDim,
    query: queryAddress,
    key: key === undefined ? queryAddress : scope.floats(key, 'key'),
    value: scope.floats(value, 'value'),
    context: scope.allocate(sizes.context, 'context'),
    logsumexp: scope.allocate(sizes.logsumexp, 'logsumexp'),
  };
}

/** What masks and biases must fit. */
type MaskedShape = Pick<FullShape, 'batch' | 'heads' | 'queryLen' | 'keyLen'>;

function checkBroadcast<T extends Float32Array | Uint8Array>(
  tensor: Broadcast<T>, kind: new (n: number) => T, field: string, shape: MaskedShape,
): void {
  const sizes: unknown = checkObject(tensor, field).shape;
  if (!Array.isArray(sizes) || sizes.length !== 4) {
    throw new HeedError({ code: 'invalid-shape', field: `${field}.shape`, received: String(sizes), expected: '[batch, heads, queryLen, keyLen]' });
  }
  (['batch', 'heads', 'queryLen', 'keyLen'] as const).forEach((name, axis) => {
    const size = checkCount(sizes[axis], `${field}.shape[${axis}]`);
    if (size !== shape[name] && (size !== 1 || name === 'keyLen')) {
      const expected = `${shape[name]} (${name})${name === 'keyLen' ? '' : ' or 1'}`;
      throw new HeedError({ code: 'invalid-shape', field: `${field}.shape[${axis}]`, received: String(size), expected });
    }
  });
  checkArray(tensor.data, kind, (sizes as number[]).reduce((product, size) => product * size, 1), `${field}.data`, 'the product of its shape');
}

/** Masks and bias of sizes that fit the problem. */
export function checkMasks({ keyMask, mask, bias }: AttentionOptions, shape: MaskedShape): void {
  if (keyMask !== undefined) checkArray(keyMask, Uint8Array, shape.batch * shape.keyLen, 'keyMask', 'batch * keyLen');
  if (mask !== undefined) checkBroadcast(mask, Uint8Array, 'mask', shape);
  if (bias !== undefined) checkBroadcast(bias, Float32Array, 'bias', shape);
}

/** Copies masks and bias into the heap. */
export function placeOptions(scope: HeapScope, options: AttentionOptions, shape: MaskedShape): Options {
  const o = checkObject(options, 'options');
  checkMasks(o, shape);
  const out: Options = {
    scale: o.scale === undefined ? undefined : checkNumber(o.scale, 'scale'),
    causalOffset: o.causalOffset === undefined ? undefined : checkInteger(o.causalOffset, 'causalOffset'),
    windowLeft: o.windowLeft === undefined ? undefined : checkCount(o.windowLeft, 'windowLeft'),
    windowRight: o.windowRight === undefined ? undefined : checkCount(o.windowRight, 'windowRight'),
    causal: checkBoolean(o.causal ?? false, 'causal'),
    softCap: checkNumber(o.softCap ?? 0, 'softCap'),
    excludeSelf: checkBoolean(o.excludeSelf ?? false, 'excludeSelf'),
    keyMask: 0,
    mask: 0, maskBatch: 0, maskHeads: 0, maskRows: 0,
    bias: 0, biasBatch: 0, biasHeads: 0, biasRows: 0,
  };
  if (o.keyMask !== undefined) {
    out.keyMask = scope.bytes(o.keyMask, 'keyMask');
  }
  if (o.mask !== undefined) {
    [out.maskBatch, out.maskHeads, out.maskRows] = o.mask.shape;
    out.mask = scope.bytes(o.mask.data, 'mask');
  }
  if (o.bias !== undefined) {
    [out.biasBatch, out.biasHeads, out.biasRows] = o.bias.shape;
    out.bias = scope.floats(o.bias.data, 'bias');
  }
  return out;
}

/** A seed as the 64 bits the generator takes. */
export function checkSeed(seed: number | bigint, field: string): bigint {
  const fits = typeof seed === 'bigint' ? seed >= 0n && seed < 2n ** 64n : Number.isSafeInteger(seed) && seed >= 0;
  if (!fits) {
    throw new HeedError({ code: 'invalid-value', field, received: String(seed), expected: 'an integer from 0 to 2^64 - 1, a bigint when above 2^53' });
  }
  return BigInt(seed);
}

/** Whether a rotation is the fast one. */
export function isHadamard(rotation: Rotation = 'gaussian'): boolean {
  if (rotation !== 'gaussian' && rotation !== 'hadamard') {
    throw new HeedError({ code: 'invalid-value', field: 'rotation', received: String(rotation), expected: '"gaussian" or "hadamard"' });
  }
  return rotation === 'hadamard';
}

export function moduleLshOptions(lsh: LshOptions): ModuleLshOptions {
  checkObject(lsh, 'lsh');
  return {
    rounds: checkCount(lsh.rounds ?? 4, 'rounds'),
    buckets: checkCount(lsh.buckets ?? 0, 'buckets'),
    chunk: checkCount(lsh.chunk ?? 0, 'chunk'),
    seed: checkSeed(lsh.seed ?? 0, 'seed'),
    hadamard: isHadamard(lsh.rotation),
    sharedQueryKey: checkBoolean(lsh.sharedQueryKey ?? false, 'sharedQueryKey'),
    trueBuckets: checkBoolean(lsh.trueBuckets ?? false, 'trueBuckets'),
  };
}

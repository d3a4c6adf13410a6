// Keys and values that grow in WebAssembly memory while a model decodes, and attention over them.

import { checkArray, checkCount, checkObject, outputSizes, placeOptions } from './arguments.ts';
import { disposeKey } from './dispose.ts';
import { disposedError } from './errors.ts';
import type { Cache as ModuleCache } from './generated/heed.mjs';
import { check, readResult, scoped } from './heap.ts';
import type { HeedModule } from './heap.ts';
import type { AttentionOptions, AttentionResult, CacheQuery, CacheShape } from './types.ts';

/** Frees what a cache forgot to: a backstop, not a plan. */
const registry = new FinalizationRegistry<ModuleCache>((handle) => handle.delete());

/** See KeyValueCache in cpp/include/heed/key_value_cache.hpp. All calls throw HeedError. */
export class KeyValueCache {
  readonly shape: Required<Omit<CacheShape, 'capacity'>>;
  readonly #module: HeedModule;
  readonly #handle: ModuleCache;
  #disposed = false;

  constructor(module: HeedModule, shape: CacheShape) {
    const { capacity, ...sizes } = checkObject(shape, 'shape');
    const headDim = checkCount(sizes.headDim, 'shape.headDim', 1);
    this.shape = {
      batch: checkCount(sizes.batch ?? 1, 'shape.batch'),
      kvHeads: checkCount(sizes.kvHeads ?? 1, 'shape.kvHeads'),
      headDim,
      valueDim: checkCount(sizes.valueDim ?? headDim, 'shape.valueDim', 1),
    };
    const room = checkCount(capacity ?? 0, 'shape.capacity');
    this.#module = module;
    this.#handle = new module.Cache();
    try {
      check(module, this.#handle.create(this.shape, room));
    } catch (error) {
      this.#handle.delete();
      throw error;
    }
    registry.register(this, this.#handle, this);
  }

  /** Positions held. */
  get length(): number {
    this.#alive();
    return this.#handle.length();
  }

  /** Bytes of WebAssembly memory held. */
  bytes(): number {
    this.#alive();
    return this.#handle.bytes();
  }

  /** Adds positions at the end: key [batch, kvHeads, rows, headDim] and value [batch, kvHeads, rows, valueDim], copied. On failure the cache stays as it was. */
  append(key: Float32Array, value: Float32Array): void {
    this.#alive();
    const { batch, kvHeads, headDim, valueDim } = this.shape;
    const perRow = batch * kvHeads * headDim;
    const rows = perRow === 0 ? 0 : Math.floor(checkObject(key, 'key').length / perRow);
    checkArray(key, Float32Array, rows * perRow, 'key', 'a multiple of batch * kvHeads * headDim');
    checkArray(value, Float32Array, batch * kvHeads * rows * valueDim, 'value', 'batch * kvHeads * rows * valueDim');
    scoped(this.#module, (scope) => {
      check(this.#module, this.#handle.append(scope.floats(key, 'key'), scope.floats(value, 'value'), rows));
    });
  }

  /** Keeps the first `length` positions. */
  truncate(length: number): void {
    this.#alive();
    check(this.#module, this.#handle.truncate(checkCount(length, 'length')));
  }

  /** Exact attention over all positions; by default the last query stands at the last position. */
  attend(request: CacheQuery, options: AttentionOptions = {}): AttentionResult {
    this.#alive();
    const { query, ...given } = checkObject(request, 'request');
    const { batch, kvHeads, headDim } = this.shape;
    const heads = checkCount(given.heads ?? kvHeads, 'heads');
    const queryLen = checkCount(given.queryLen ?? 1, 'queryLen');
    checkArray(query, Float32Array, batch * heads * queryLen * headDim, 'query', 'batch * heads * queryLen * headDim');
    const shape = { ...this.shape, heads, queryLen, keyLen: this.length };
    const sizes = outputSizes(shape);
    return scoped(this.#module, (scope) => {
      const at = { context: scope.allocate(sizes.context, 'context'), logsumexp: scope.allocate(sizes.logsumexp, 'logsumexp') };
      check(this.#module, this.#handle.attend(scope.floats(query, 'query'), heads, queryLen, placeOptions(scope, options, shape), at.context, at.logsumexp));
      return readResult(this.#module, at, sizes);
    });
  }

  /** Frees the memory; further calls throw "disposed", a second dispose() does nothing. */
  dispose(): void {
    if (this.#disposed) return;
    this.#disposed = true;
    registry.unregister(this);
    this.#handle.delete();
  }

  [disposeKey](): void {
    this.dispose();
  }

  #alive(): void {
    if (this.#disposed) throw disposedError('cache');
  }
}

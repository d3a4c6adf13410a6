// The search for parameters of LSH attention, in slices.

import { checkCount, checkObject, checkSeed, checkTensors, checkWork, fullShape, moduleLshOptions, placeOptions } from './arguments.ts';
import { disposeKey } from './dispose.ts';
import { disposedError, HeedError } from './errors.ts';
import type { Tune, Tuner as ModuleTuner } from './generated/heed-lab.mjs';
import { check, HeapScope, readUints } from './heap.ts';
import type { LaboratoryModule } from './heap.ts';
import type { TuneOptions, TunePoint, TuneResult } from './lab-types.ts';
import type { AttentionInputs, AttentionOptions } from './types.ts';

const GOALS = ['capturedMass', 'relativeError', 'budget'] as const;
const VERDICTS = ['lsh', 'exact', 'none'] as const;

interface Holdings {
  readonly handle: ModuleTuner;
  readonly scope: HeapScope;
}

function free({ handle, scope }: Holdings): void {
  handle.delete();
  scope.release();
}

/** Frees what a tuner forgot to: a backstop, not a plan. */
const registry = new FinalizationRegistry<Holdings>(free);

function moduleTune({ target = { capturedMass: 0.95 }, sample = 128, seed = 0 }: TuneOptions): Tune {
  const given = Object.entries(checkObject(target, 'target')).filter(([, value]) => value !== undefined);
  const [name, value] = given[0] ?? ['', undefined];
  const goal = GOALS.indexOf(name as (typeof GOALS)[number]);
  if (given.length !== 1 || goal < 0 || typeof value !== 'number') {
    throw new HeedError({ code: 'invalid-value', field: 'target', received: given.map(([field, x]) => `${field}: ${String(x)}`).join(', ') || 'nothing', expected: `one number: ${GOALS.join(', ')}` });
  }
  return { goal, target: value, sample: checkCount(sample, 'sample'), seed: checkSeed(seed, 'seed') };
}

/** A search for rounds, buckets and chunk over one problem. All calls throw HeedError. */
export class Tuner {
  readonly #module: LaboratoryModule;
  readonly #held: Holdings;
  readonly #fixed: NonNullable<TuneOptions['lsh']>;
  #disposed = false;

  /** Copies the inputs. */
  constructor(module: LaboratoryModule, inputs: AttentionInputs, options: AttentionOptions, tune: TuneOptions) {
    const shape = fullShape(checkObject(inputs, 'inputs').shape);
    this.#fixed = { ...checkObject(checkObject(tune, 'tune').lsh ?? {}, 'lsh') };
    const fixed = moduleLshOptions(this.#fixed);
    const sought = moduleTune(tune);
    const tensors = checkTensors(inputs, shape, fixed.sharedQueryKey);
    this.#module = module;
    this.#held = { handle: new module.Tuner(), scope: new HeapScope(module) };
    const { handle, scope } = this.#held;
    try {
      const query = scope.floats(tensors.query, 'query');
      const key = tensors.key === undefined ? query : scope.floats(tensors.key, 'key');
      const problem = { ...shape, query, key, value: scope.floats(tensors.value, 'value'), context: 0, logsumexp: 0 };
      check(module, handle.prepare(problem, placeOptions(scope, options, shape), fixed, sought));
    } catch (error) {
      free(this.#held);
      throw error;
    }
    registry.register(this, this.#held, this);
  }

  /** Does about `work` query-key pairs and returns the progress, 0 to 1. Hashing one setting is not cut. */
  advance(work = Number.POSITIVE_INFINITY): number {
    this.#alive();
    check(this.#module, this.#held.handle.advance(checkWork(work)));
    return this.#held.handle.progress();
  }

  get done(): boolean {
    this.#alive();
    return this.#held.handle.done();
  }

  result(): TuneResult {
    if (!this.done) {
      throw new HeedError({ code: 'invalid-value', field: 'tuner', received: 'a search that is not done', expected: 'advance() until it returns 1' });
    }
    const { handle } = this.#held;
    const points = Array.from({ length: handle.count() }, (_, i): TunePoint => {
      const { rounds, buckets, chunk } = handle.options(i);
      return { rounds, buckets, chunk, cost: handle.cost(i), quality: handle.quality(i), meetsTarget: handle.meetsTarget(i) };
    });
    const { address, size } = handle.front();
    const best = points[handle.recommended()];
    return {
      verdict: VERDICTS[handle.verdict()]!,
      recommended: best && { ...this.#fixed, rounds: best.rounds, buckets: best.buckets, chunk: best.chunk },
      points,
      front: [...readUints(this.#module, address, size)],
    };
  }

  /** Frees the memory; further calls throw "disposed", a second dispose() does nothing. */
  dispose(): void {
    if (this.#disposed) return;
    this.#disposed = true;
    registry.unregister(this);
    free(this.#held);
  }

  [disposeKey](): void {
    this.dispose();
  }

  #alive(): void {
    if (this.#disposed) throw disposedError('tuner');
  }
}

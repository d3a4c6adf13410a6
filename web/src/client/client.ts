// heed in module workers: the facade's calls as promises, with progress and AbortSignal.

import { checkCount, checkMasks, checkObject, checkTensors, fullShape, outputSizes } from '../core/arguments.ts';
import type { FullShape } from '../core/arguments.ts';
import { HeedError, noWorkersError } from '../core/errors.ts';
import { disposeKey } from '../core/dispose.ts';
import type { PrincipalComponents, TuneOptions, TuneResult } from '../core/lab-types.ts';
import type { Session } from '../core/session.ts';
import type {
  AttentionInputs, AttentionOptions, AttentionResult, Candidates, CellArithmetic, HashOptions, InitOptions, Linear, LshCost, LshOptions, LshParameters,
  LshQuality, LshResult, LshStructure, Mechanism, MultiHeadInputs, MultiHeadResult, Tile, TileRequest, WeightKind,
} from '../core/types.ts';
import { Bridge } from './bridge.ts';
import type { CallOptions } from './bridge.ts';
import { WorkerPool } from './pool.ts';
import { placeRows, problemOf, shareOut } from './share-out.ts';
import type { Share } from './share-out.ts';

export type { CallOptions } from './bridge.ts';

/** How many workers, and where they and the module come from. */
export interface ClientOptions extends InitOptions {
  /** Makes a worker; default is this package's own. */
  readonly worker?: () => Worker;
  /** Default 1. With more, attention() is shared out; navigator.hardwareConcurrency says how many cores there are. No cross-origin isolation is needed. */
  readonly workers?: number;
}

/** A Session that lives in the worker; see web/src/core/session.ts for what each call returns. */
export class RemoteSession {
  readonly shape: FullShape;
  readonly #bridge: Bridge;
  readonly #id: number;

  constructor(bridge: Bridge, id: number, shape: FullShape) {
    this.#bridge = bridge;
    this.#id = id;
    this.shape = shape;
  }

  configure(options: AttentionOptions = {}, lsh: LshOptions = {}): Promise<LshParameters> {
    return this.#bridge.call('configure', [this.#id, options, lsh]);
  }

  /** Computes until done, in slices. milliseconds is the time in kernels, without the pauses. */
  run(kind: Mechanism, call?: CallOptions): Promise<{ milliseconds: number }> {
    return this.#bridge.call('run', [this.#id, kind], call);
  }

  result(kind: Mechanism): Promise<AttentionResult> {
    return this.#bridge.call('result', [this.#id, kind]);
  }

  tile(kind: WeightKind, request: TileRequest, call?: CallOptions): Promise<Tile> {
    return this.#bridge.call('tile', [this.#id, kind, request], call);
  }

  row(kind: WeightKind, request: Parameters<Session['row']>[1]): Promise<Float32Array<ArrayBuffer>> {
    return this.#bridge.call('row', [this.#id, kind, request]);
  }

  candidates(request: Parameters<Session['candidates']>[0]): Promise<Candidates> {
    return this.#bridge.call('candidates', [this.#id, request]);
  }

  structure(request: Parameters<Session['structure']>[0]): Promise<LshStructure> {
    return this.#bridge.call('structure', [this.#id, request]);
  }

  cell(request: Parameters<Session['cell']>[0]): Promise<CellArithmetic> {
    return this.#bridge.call('cell', [this.#id, request]);
  }

  cost(): Promise<LshCost> {
    return this.#bridge.call('cost', [this.#id]);
  }

  /** One piece of work, not slices: after an abort the worker stays busy until it has measured. `sample` bounds that. */
  quality(options: { readonly sample?: number; readonly seed?: number | bigint } = {}, call?: CallOptions): Promise<LshQuality> {
    return this.#bridge.call('quality', [this.#id, options], call);
  }

  workspaceBytes(): Promise<{ readonly exact: number; readonly lsh: number }> {
    return this.#bridge.call('workspaceBytes', [this.#id]);
  }

  /** Frees the session's memory in the worker. */
  dispose(): void {
    // When the client is gone, so is the session.
    this.#bridge.call('close', [this.#id]).catch(() => undefined);
  }

  [disposeKey](): void {
    this.dispose();
  }
}

/** Multiplications below which sharing out costs more than it saves: about 2 ms of one worker. */
const leastShared = 3e7;

/** heed in workers: the facade's calls as promises. Made by createClient(). */
export class HeedClient {
  readonly instructionSet: string;
  readonly #pool: WorkerPool;

  constructor(pool: WorkerPool, instructionSet: string) {
    this.#pool = pool;
    this.instructionSet = instructionSet;
  }

  /** Workers at its disposal. */
  get workers(): number {
    return this.#pool.size;
  }

  /** Shared out among the workers by heads and queries; a key/value head travels once to each worker that needs it, and not at all when it lies in a SharedArrayBuffer. */
  async attention(inputs: AttentionInputs, options: AttentionOptions = {}, call: CallOptions = {}): Promise<AttentionResult> {
    const whole = () => this.#pool.home.call('attention', [inputs, options], call);
    const shape = fullShape(checkObject(inputs, 'inputs').shape);
    checkTensors(inputs, shape);
    checkMasks(checkObject(options, 'options'), shape);
    const lists = this.#pool.size === 1 ? [] : shareOut(shape, options, this.#pool.size);
    const pairs = lists.flat().reduce((sum, share) => sum + share.pairs, 0);
    if (pairs * (shape.headDim + shape.valueDim) < leastShared) return whole();
    try {
      return await this.#attentionInShares(inputs, options, shape, lists, pairs, call);
    } catch (error) {
      // A share's error speaks of the share: the whole call names the field and place the caller knows.
      if (error instanceof HeedError && /^(invalid|overflow)/.test(error.code)) return whole();
      throw error;
    }
  }

  lshAttention(inputs: AttentionInputs, options: AttentionOptions = {}, lsh: LshOptions = {}, call?: CallOptions): Promise<LshResult> {
    return this.#pool.home.call('lshAttention', [inputs, options, lsh], call);
  }

  multiHeadAttention(inputs: MultiHeadInputs, options: AttentionOptions = {}): Promise<MultiHeadResult> {
    return this.#pool.home.call('multiHeadAttention', [inputs, options]);
  }

  linear(x: Float32Array, layer: Linear, sizes: { readonly rows: number; readonly inFeatures: number; readonly outFeatures: number }): Promise<Float32Array<ArrayBuffer>> {
    return this.#pool.home.call('linear', [x, layer, sizes]);
  }

  hash(x: Float32Array, dim: number, options: HashOptions): Promise<Uint32Array<ArrayBuffer>> {
    return this.#pool.home.call('hash', [x, dim, options]);
  }

  /** As Heed.autoTune(); needs createClient({ laboratory: true }). After an abort the worker ends the hashing of the setting it is at. */
  autoTune(inputs: AttentionInputs, options: AttentionOptions = {}, tune: TuneOptions = {}, call?: CallOptions): Promise<TuneResult> {
    return this.#pool.home.call('autoTune', [inputs, options, tune], call);
  }

  /** As Heed.principalComponents(); needs createClient({ laboratory: true }). */
  principalComponents(x: Float32Array, dim: number, components: number): Promise<PrincipalComponents> {
    return this.#pool.home.call('principalComponents', [x, dim, components]);
  }

  /** A session lives in one worker; should that die, its calls reject with code "worker-died". */
  async open(inputs: AttentionInputs): Promise<RemoteSession> {
    const { home } = this.#pool;
    const { id, shape } = await home.call('open', [inputs]);
    return new RemoteSession(home, id, shape);
  }

  /** Bytes of WebAssembly memory of the worker that holds sessions. */
  memoryBytes(): Promise<number> {
    return this.#pool.home.call('memoryBytes', []);
  }

  /** Ends the workers; pending calls reject with code "disposed". */
  dispose(): void {
    this.#pool.close();
  }

  [disposeKey](): void {
    this.dispose();
  }

  async #attentionInShares(
    inputs: AttentionInputs, options: AttentionOptions, shape: FullShape, lists: readonly (readonly Share[])[], pairs: number, { signal, onProgress }: CallOptions,
  ): Promise<AttentionResult> {
    const sizes = outputSizes(shape);
    const whole = { context: new Float32Array(sizes.context), logsumexp: new Float32Array(sizes.logsumexp) };
    const tasks = lists.map((list) => list.map((share) => async (bridge: Bridge, call: CallOptions) => {
      const problem = problemOf(share, inputs, options, shape);
      const part = await bridge.call('attention', [problem.inputs, problem.options], call, problem.own);
      placeRows(share, shape, shape.valueDim, part.context, whole.context);
      placeRows(share, shape, 1, part.logsumexp, whole.logsumexp);
    }));
    const done = lists.map((list) => list.map(() => 0));
    await this.#pool.run(tasks, {
      signal,
      onProgress: (l, t, fraction) => {
        done[l]![t] = fraction;
        onProgress?.(lists.flat().reduce((sum, share, n) => sum + share.pairs * done.flat()[n]!, 0) / pairs);
      },
    });
    return whole;
  }
}

/** The package's own worker. */
function ownWorker(): Worker {
  if (typeof Worker === 'undefined') throw noWorkersError();
  try {
    return new Worker(new URL('../worker/worker.js', import.meta.url), { type: 'module' });
  } catch (error) {
    if (!(error instanceof DOMException) || error.name !== 'SecurityError') throw error;
    // A page may not start a worker from another site's script, but one of its own that imports it.
    const script = `import ${JSON.stringify(new URL('../worker/worker.js', import.meta.url).href)};`;
    return new Worker(URL.createObjectURL(new Blob([script], { type: 'text/javascript' })), { type: 'module' });
  }
}

/** Starts the workers and the module in each. */
export async function createClient({ worker, workers = 1, ...options }: ClientOptions = {}): Promise<HeedClient> {
  const size = checkCount(workers, 'workers', 1);
  let instructionSet = '';
  const pool = await WorkerPool.create(size, async () => {
    const bridge = new Bridge(worker?.() ?? ownWorker());
    try {
      instructionSet = await bridge.init(options);
      return bridge;
    } catch (error) {
      bridge.close();
      throw error;
    }
  });
  return new HeedClient(pool, instructionSet);
}

// heed in a module worker: the facade's calls as promises, with progress and AbortSignal.

import type { FullShape } from '../core/arguments.ts';
import { disposeKey } from '../core/dispose.ts';
import type { Session } from '../core/session.ts';
import type {
  AttentionInputs, AttentionOptions, AttentionResult, Candidates, CellArithmetic, InitOptions, Linear, LshCost, LshOptions, LshParameters,
  LshQuality, LshResult, LshStructure, Mechanism, MultiHeadInputs, MultiHeadResult, Tile, TileRequest, WeightKind,
} from '../core/types.ts';
import { Bridge } from './bridge.ts';
import type { CallOptions } from './bridge.ts';

export type { CallOptions } from './bridge.ts';

export interface ClientOptions extends InitOptions {
  /** Makes the worker; default is this package's own. */
  readonly worker?: () => Worker;
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

export class HeedClient {
  readonly instructionSet: string;
  readonly #bridge: Bridge;

  constructor(bridge: Bridge, instructionSet: string) {
    this.#bridge = bridge;
    this.instructionSet = instructionSet;
  }

  attention(inputs: AttentionInputs, options: AttentionOptions = {}, call?: CallOptions): Promise<AttentionResult> {
    return this.#bridge.call('attention', [inputs, options], call);
  }

  lshAttention(inputs: AttentionInputs, options: AttentionOptions = {}, lsh: LshOptions = {}, call?: CallOptions): Promise<LshResult> {
    return this.#bridge.call('lshAttention', [inputs, options, lsh], call);
  }

  multiHeadAttention(inputs: MultiHeadInputs, options: AttentionOptions = {}): Promise<MultiHeadResult> {
    return this.#bridge.call('multiHeadAttention', [inputs, options]);
  }

  linear(x: Float32Array, layer: Linear, sizes: { readonly rows: number; readonly inFeatures: number; readonly outFeatures: number }): Promise<Float32Array<ArrayBuffer>> {
    return this.#bridge.call('linear', [x, layer, sizes]);
  }

  hash(x: Float32Array, dim: number, options: { readonly buckets: number; readonly seed?: number | bigint; readonly round?: number }): Promise<Uint32Array<ArrayBuffer>> {
    return this.#bridge.call('hash', [x, dim, options]);
  }

  async open(inputs: AttentionInputs): Promise<RemoteSession> {
    const { id, shape } = await this.#bridge.call('open', [inputs]);
    return new RemoteSession(this.#bridge, id, shape);
  }

  memoryBytes(): Promise<number> {
    return this.#bridge.call('memoryBytes', []);
  }

  /** Ends the worker; pending calls reject with code "disposed". */
  dispose(): void {
    this.#bridge.close();
  }

  [disposeKey](): void {
    this.dispose();
  }
}

/** Starts a worker and the module in it. */
export async function createClient({ worker, ...options }: ClientOptions = {}): Promise<HeedClient> {
  const bridge = new Bridge(worker?.() ?? new Worker(new URL('../worker/worker.js', import.meta.url), { type: 'module' }));
  try {
    return new HeedClient(bridge, await bridge.init(options));
  } catch (error) {
    bridge.close();
    throw error;
  }
}

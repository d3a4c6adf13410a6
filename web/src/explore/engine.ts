// Attention over one problem at a time, in the worker: opens, configures, runs, and answers what the
// page asks. Exact attention goes on while only the hashing changes; its measured time stays whole.

import type { HeedClient, RemoteSession } from '../client/client.ts';
import { abortedError } from '../core/errors.ts';
import type { AttentionInputs, CellArithmetic, LshParameters, LshStructure, Tile, TileRequest, WeightKind } from '../core/types.ts';
import { attentionOptions, exactKey, isVast, lshKey, lshOptions, qualitySample, scaleRows } from './options.ts';
import type { HeadResults, Problem, Progress, Results, Settings } from './problem.ts';

/** Rows reduced to one band while looking for the largest entry; bands can be aborted. */
const bandRows = 128;

interface ExactRun {
  readonly key: string;
  readonly promise: Promise<{ milliseconds: number }>;
  readonly controller: AbortController;
  onProgress: (fraction: number) => void;
}

export class Engine {
  readonly #client: HeedClient;
  #session: RemoteSession | null = null;
  #exact: ExactRun | null = null;
  /** Aborted when the weights change: what is asked about the former ones has no answer. */
  #weights = new AbortController();

  constructor(client: HeedClient) {
    this.#client = client;
  }

  linear(...args: Parameters<HeedClient['linear']>): ReturnType<HeedClient['linear']> {
    return this.#client.linear(...args);
  }

  /** Checks inputs by opening them beside the problem in use, which stays. The result goes to adopt(). */
  async tryOut(inputs: AttentionInputs, configure: (session: RemoteSession) => Promise<unknown>): Promise<RemoteSession> {
    const session = await this.#client.open(inputs);
    try {
      await configure(session);
      return session;
    } catch (error) {
      session.dispose();
      throw error;
    }
  }

  /** Makes a session the current one. */
  adopt(session: RemoteSession): void {
    this.forget();
    this.#session = session;
  }

  /** Stops all work and frees the session. */
  forget(): void {
    this.#exact?.controller.abort();
    this.#exact = null;
    this.#weights.abort();
    this.#session?.dispose();
    this.#session = null;
  }

  /** Takes settings; the weights of the former are gone when it resolves. On an error they stay. */
  async configure(problem: Problem, settings: Settings): Promise<LshParameters> {
    this.#session ??= await this.#client.open(problem.inputs);
    const parameters = await this.#session.configure(attentionOptions(settings, problem.shape), lshOptions(settings));
    this.#weights.abort();
    this.#weights = new AbortController();
    return parameters;
  }

  /** Computes both and measures. Call after configure() with the same arguments. */
  async run(problem: Problem, settings: Settings, parameters: LshParameters, signal: AbortSignal, report: (progress: Progress) => void): Promise<Results> {
    const session = this.#current();
    const exact = await this.#runExact(session, exactKey(problem, settings), (fraction) => {
      if (!signal.aborted) report({ step: 'exact', fraction });
    });
    if (signal.aborted) throw abortedError();
    const lsh = await session.run('lsh', { signal, onProgress: (fraction) => report({ step: 'lsh', fraction }) });
    report({ step: 'measuring', fraction: 0 });
    const quality = await session.quality({ sample: qualitySample(problem.shape), seed: settings.seed }, { signal });
    return {
      problem, settings, parameters, quality,
      cost: await session.cost(),
      exactMs: exact.milliseconds,
      lshMs: lsh.milliseconds,
      exactVersion: exactKey(problem, settings),
      lshVersion: lshKey(problem, settings),
    };
  }

  /** The largest entries of a head's maps, for their colour scales. */
  async headResults(results: Results, head: number, batch: number, signal: AbortSignal): Promise<HeadResults> {
    const { shape } = results.problem;
    const rows = isVast(shape)
      ? Array.from({ length: scaleRows }, (_, i) => Math.floor((i * shape.queryLen) / scaleRows)).map((row) => [row, row + 1] as const)
      : [[0, shape.queryLen] as const];
    const largest = async (kind: WeightKind): Promise<number> => {
      let value = 0;
      for (const range of rows) {
        const tile = await this.tile(kind, { head, batch, rows: range, columns: [0, shape.keyLen], rowsPerCell: bandRows, columnsPerCell: shape.keyLen }, signal);
        for (const entry of tile.peak) value = Math.max(value, Math.abs(entry));
      }
      return value;
    };
    return {
      head, batch, lshVersion: results.lshVersion,
      largest: { weight: Math.max(await largest('exact'), await largest('lsh')), difference: await largest('difference') },
    };
  }

  tile(kind: WeightKind, request: TileRequest, signal: AbortSignal): Promise<Tile> {
    return this.#current().tile(kind, request, { signal: AbortSignal.any([signal, this.#weights.signal]) });
  }

  cell(request: { head: number; batch: number; query: number; key: number }): Promise<CellArithmetic> {
    return this.#current().cell(request);
  }

  structure(request: { head: number; batch: number; round: number }): Promise<LshStructure> {
    return this.#current().structure(request);
  }

  #current(): RemoteSession {
    if (this.#session === null) throw abortedError();
    return this.#session;
  }

  #runExact(session: RemoteSession, key: string, onProgress: (fraction: number) => void): Promise<{ milliseconds: number }> {
    if (this.#exact?.key === key) {
      this.#exact.onProgress = onProgress;
      return this.#exact.promise;
    }
    this.#exact?.controller.abort();
    const controller = new AbortController();
    const run: ExactRun = {
      key, controller, onProgress,
      promise: session.run('exact', { signal: controller.signal, onProgress: (fraction) => run.onProgress(fraction) }),
    };
    // Whoever awaits it hears of a failure; an abandoned run has nobody.
    run.promise.catch(() => { if (this.#exact === run) this.#exact = null; });
    this.#exact = run;
    return run.promise;
  }
}

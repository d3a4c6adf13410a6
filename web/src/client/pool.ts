// Several workers, each with its own instance of the module. A worker that dies is replaced, and what
// it was at work on is done again.

import { HeedError } from '../core/errors.ts';
import type { Bridge, CallOptions } from './bridge.ts';

/** Work for one worker; reports progress through onProgress and stops at the signal. */
export type Task<T> = (bridge: Bridge, call: CallOptions) => Promise<T>;

/** A task that has cost so many workers their lives is the task's fault. */
const mostDeaths = 2;

export class WorkerPool {
  readonly #bridges: Bridge[];
  readonly #start: () => Promise<Bridge>;
  #closed = false;

  private constructor(bridges: Bridge[], start: () => Promise<Bridge>) {
    this.#bridges = bridges;
    this.#start = start;
  }

  static async create(size: number, start: () => Promise<Bridge>): Promise<WorkerPool> {
    const started = await Promise.allSettled(Array.from({ length: size }, start));
    const bridges = started.flatMap((result) => (result.status === 'fulfilled' ? [result.value] : []));
    const failed = started.find((result) => result.status === 'rejected');
    if (failed !== undefined) {
      for (const bridge of bridges) bridge.close();
      throw failed.reason;
    }
    return new WorkerPool(bridges, start);
  }

  get size(): number {
    return this.#bridges.length;
  }

  /** The worker that holds sessions and answers single calls. */
  get home(): Bridge {
    return this.#bridges[0]!;
  }

  /**
   * Runs each worker's list of tasks, and helps others when its own is empty. Resolves to the results
   * list by list; the first failure stops all and is thrown.
   */
  async run<T>(lists: readonly (readonly Task<T>[])[], { signal, onProgress }: { signal?: AbortSignal | undefined; onProgress?: (list: number, task: number, fraction: number) => void } = {}): Promise<T[][]> {
    const results = lists.map((list) => new Array<T>(list.length));
    const waiting = lists.map((list, l) => list.map((task, t) => ({ task, l, t, deaths: 0 })));
    const stop = new AbortController();
    const signals = signal === undefined ? stop.signal : AbortSignal.any([signal, stop.signal]);
    const next = (slot: number) => waiting[slot]?.shift() ?? [...waiting].sort((a, b) => b.length - a.length)[0]?.pop();

    const work = async (slot: number): Promise<void> => {
      for (let item = next(slot); item !== undefined; item = next(slot)) {
        const { task, l, t } = item;
        const bridge = this.#bridges[slot]!;
        try {
          results[l]![t] = await task(bridge, { signal: signals, onProgress: (fraction) => onProgress?.(l, t, fraction) });
          onProgress?.(l, t, 1);
        } catch (error) {
          const died = error instanceof HeedError && error.code === 'worker-died';
          if (!died || this.#closed || ++item.deaths > mostDeaths) throw error;
          await this.#replace(slot, bridge);
          waiting[slot] = [item, ...(waiting[slot] ?? [])];
        }
      }
    };
    try {
      await Promise.all(this.#bridges.map((_, slot) => work(slot)));
    } catch (error) {
      stop.abort();
      throw error;
    }
    return results;
  }

  /** Ends the workers; pending calls reject with code "disposed". */
  close(): void {
    this.#closed = true;
    for (const bridge of this.#bridges) bridge.close();
  }

  /** Another run may have replaced it already. */
  async #replace(slot: number, dead: Bridge): Promise<void> {
    if (this.#bridges[slot] !== dead) return;
    const bridge = await this.#start();
    if (this.#closed) bridge.close();
    this.#bridges[slot] = bridge;
  }
}

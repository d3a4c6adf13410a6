// What a long call in the worker does between slices: report, listen, stop.

import { abortedError } from '../core/errors.ts';

export interface Job {
  /** Reports progress, lets other messages in, and throws "aborted" when the client asked to stop. */
  pause(fraction: number): Promise<void>;
}

/** Resolves after the messages that wait now: a port's message queues behind them, unlike a timer it is not throttled. */
function breathe(): Promise<void> {
  return new Promise((resolve) => {
    const { port1, port2 } = new MessageChannel();
    port1.onmessage = () => {
      port1.close();
      resolve();
    };
    port2.postMessage(null);
  });
}

export function makeJob(signal: AbortSignal, report: (fraction: number) => void): Job {
  return {
    async pause(fraction) {
      report(fraction);
      await breathe();
      if (signal.aborted) throw abortedError();
    },
  };
}

/** Calls step(size) until it says it is done, with sizes that take about 20 ms each, well under the 100 ms an abort may take. */
export async function inSlices(job: Job, firstSize: number, step: (size: number) => { done: boolean; fraction: number }): Promise<number> {
  const target = 20;
  let size = firstSize;
  let milliseconds = 0;
  for (;;) {
    const start = performance.now();
    const { done, fraction } = step(size);
    const spent = performance.now() - start;
    milliseconds += spent;
    await job.pause(fraction);
    if (done) return milliseconds;
    size *= Math.min(4, Math.max(0.25, target / Math.max(spent, 0.1)));
  }
}

// A Worker that runs the real handlers in the test's own thread, and may die at a given call.

import { HeedError, workerDiedError } from '../../../web/src/core/errors.ts';
import { init } from '../../../web/src/core/node.ts';
import type { Request, Response } from '../../../web/src/protocol/messages.ts';
import { makeHandlers } from '../../../web/src/worker/handlers.ts';
import type { Handlers } from '../../../web/src/worker/handlers.ts';
import { makeJob } from '../../../web/src/worker/job.ts';

export class LocalWorker extends EventTarget {
  readonly calls: { method: string; args: readonly unknown[] }[] = [];
  terminated = false;
  readonly #diesAtCall: number;
  readonly #running = new Map<number, AbortController>();
  #handlers: Handlers | undefined;

  constructor(diesAtCall = Infinity) {
    super();
    this.#diesAtCall = diesAtCall;
  }

  postMessage(message: Request, transfer: Transferable[] = []): void {
    void this.#answer(structuredClone(message, { transfer }));
  }

  terminate(): void {
    this.terminated = true;
  }

  get worker(): Worker {
    return this as unknown as Worker;
  }

  async #answer(request: Request): Promise<void> {
    if (request.type === 'abort') {
      this.#running.get(request.id)?.abort();
      return;
    }
    const { id } = request;
    const controller = new AbortController();
    this.#running.set(id, controller);
    try {
      this.#say({ type: 'result', id, value: await this.#result(request, controller.signal) });
    } catch (error) {
      const { code, field, received, expected } = error instanceof HeedError ? error : workerDiedError(String(error));
      this.#say({ type: 'error', id, error: { code, field, received, expected } });
    }
  }

  async #result(request: Exclude<Request, { type: 'abort' }>, signal: AbortSignal): Promise<unknown> {
    if (request.type === 'init') {
      const heed = await init();
      this.#handlers = makeHandlers(heed);
      return heed.instructionSet;
    }
    this.calls.push(request);
    if (this.calls.length >= this.#diesAtCall) throw new Error('unreachable executed');
    const job = makeJob(signal, (fraction) => this.#say({ type: 'progress', id: request.id, fraction }));
    return (this.#handlers![request.method] as (...args: unknown[]) => unknown)(...request.args, job);
  }

  #say(response: Response): void {
    if (!this.terminated) this.dispatchEvent(new MessageEvent('message', { data: response }));
  }
}

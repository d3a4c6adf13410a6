// The line to one worker: sends calls, matches answers, aborts, and fails what is pending when the
// worker dies.

import { abortedError, disposedError, HeedError, workerDiedError } from '../core/errors.ts';
import type { InitOptions } from '../core/types.ts';
import type { Arguments, Method, Request, Response, Result } from '../protocol/messages.ts';

/** How a call in a worker is watched and stopped. */
export interface CallOptions {
  /** Aborting stops the work within 100 ms; the call rejects with code "aborted". */
  readonly signal?: AbortSignal;
  /** Called with a fraction from 0 to 1. */
  readonly onProgress?: (fraction: number) => void;
}

interface Pending {
  resolve(value: unknown): void;
  reject(error: Error): void;
  progress(fraction: number): void;
}

export class Bridge {
  readonly #worker: Worker;
  readonly #pending = new Map<number, Pending>();
  #nextId = 1;
  #closed: HeedError | undefined;

  constructor(worker: Worker) {
    this.#worker = worker;
    worker.addEventListener('message', ({ data }: MessageEvent<Response>) => this.#receive(data));
    worker.addEventListener('error', (event) => this.#die(event.message || 'an error'));
    worker.addEventListener('messageerror', () => this.#die('a message that could not be read'));
  }

  init(options: InitOptions): Promise<string> {
    return this.#send((id) => ({ type: 'init', id, options }), {}) as Promise<string>;
  }

  /** The buffers in `transfer` move to the worker instead of being copied. */
  call<M extends Method>(method: M, args: Arguments<M>, options: CallOptions = {}, transfer: Transferable[] = []): Promise<Result<M>> {
    return this.#send((id) => ({ type: 'call', id, method, args }), options, transfer) as Promise<Result<M>>;
  }

  /** Ends the worker; pending calls reject with code "disposed". */
  close(): void {
    this.#fail(disposedError('client'));
    this.#worker.terminate();
  }

  #send(request: (id: number) => Request, { signal, onProgress }: CallOptions, transfer: Transferable[] = []): Promise<unknown> {
    if (this.#closed !== undefined) return Promise.reject(this.#closed);
    if (signal?.aborted) return Promise.reject(abortedError());
    const id = this.#nextId++;
    return new Promise<unknown>((resolve, reject) => {
      const abort = () => {
        this.#post({ type: 'abort', id });
        settle();
        reject(abortedError());
      };
      const settle = () => {
        this.#pending.delete(id);
        signal?.removeEventListener('abort', abort);
      };
      this.#pending.set(id, {
        resolve: (value) => { settle(); resolve(value); },
        reject: (error) => { settle(); reject(error); },
        progress: (fraction) => onProgress?.(fraction),
      });
      signal?.addEventListener('abort', abort);
      try {
        this.#post(request(id), transfer);
      } catch (error) {
        // An argument that cannot be cloned.
        settle();
        reject(error as Error);
      }
    });
  }

  #post(request: Request, transfer: Transferable[] = []): void {
    this.#worker.postMessage(request, transfer);
  }

  #receive(response: Response): void {
    // Answers to aborted calls find nobody waiting.
    const pending = this.#pending.get(response.id);
    if (response.type === 'progress') pending?.progress(response.fraction);
    else if (response.type === 'result') pending?.resolve(response.value);
    else if (response.error.code === 'worker-died') this.#die(response.error.received);
    else pending?.reject(new HeedError(response.error));
  }

  #die(reason: string): void {
    this.#fail(workerDiedError(reason));
    this.#worker.terminate();
  }

  #fail(error: HeedError): void {
    this.#closed ??= error;
    for (const pending of [...this.#pending.values()]) pending.reject(error);
  }
}

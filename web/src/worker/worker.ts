// Entry of the module worker: takes messages, runs handlers, answers.

import { HeedError, workerDiedError } from '../core/errors.ts';
import type { HeedErrorParts } from '../core/errors.ts';
import { init } from '../core/web.ts';
import type { Request, Response } from '../protocol/messages.ts';
import { makeHandlers } from './handlers.ts';
import type { Handlers } from './handlers.ts';
import { makeJob } from './job.ts';

interface WorkerScope {
  onmessage: ((event: MessageEvent<Request>) => void) | null;
  postMessage(message: Response, transfer: Transferable[]): void;
}
const scope = globalThis as unknown as WorkerScope;

const running = new Map<number, AbortController>();
let handlers: Handlers | undefined;

/** Results are copies made for the client, so their buffers can move instead of being copied again. */
function buffersOf(value: unknown): Transferable[] {
  if (ArrayBuffer.isView(value)) return [value.buffer as ArrayBuffer];
  if (typeof value !== 'object' || value === null) return [];
  return Object.values(value).flatMap(buffersOf);
}

function partsOf(error: unknown): HeedErrorParts {
  // Any other error, a trap among them, leaves the module in an unknown state.
  const { code, field, received, expected } = error instanceof HeedError ? error : workerDiedError(String(error));
  return { code, field, received, expected };
}

async function answer(request: Exclude<Request, { type: 'abort' }>, signal: AbortSignal): Promise<unknown> {
  if (request.type === 'init') {
    const heed = await init(request.options);
    handlers = makeHandlers(heed);
    return heed.instructionSet;
  }
  if (handlers === undefined) throw new Error('call before init');
  const job = makeJob(signal, (fraction) => scope.postMessage({ type: 'progress', id: request.id, fraction }, []));
  const handler = handlers[request.method] as (...args: unknown[]) => unknown;
  return handler(...request.args, job);
}

scope.onmessage = async ({ data: request }) => {
  if (request.type === 'abort') {
    running.get(request.id)?.abort();
    return;
  }
  const controller = new AbortController();
  running.set(request.id, controller);
  try {
    const value = await answer(request, controller.signal);
    scope.postMessage({ type: 'result', id: request.id, value }, buffersOf(value));
  } catch (error) {
    scope.postMessage({ type: 'error', id: request.id, error: partsOf(error) }, []);
  } finally {
    running.delete(request.id);
  }
};

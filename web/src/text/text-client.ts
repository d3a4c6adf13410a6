// Asks the text worker. One request at a time; an aborted one ends the worker, so that a long split
// never delays the next.

import { abortedError, HeedError } from '../core/errors.ts';
import { maxTokens } from './text-job.ts';
import type { EmbeddedText, TextAnswer, TextRequest } from './text-job.ts';

let worker: Worker | undefined;
let nextId = 1;

/** Splits and embeds in the worker. Throws HeedError: no token, too many, aborted, or a tokenizer that could not be loaded. */
export function embedInWorker(request: TextRequest, signal: AbortSignal): Promise<EmbeddedText> {
  const id = nextId++;
  worker ??= new Worker(new URL('./text-worker.ts', import.meta.url), { type: 'module' });
  const current = worker;
  return new Promise((resolve, reject) => {
    const listening = new AbortController();
    const settle = (act: () => void) => {
      listening.abort();
      act();
    };
    const end = (error: Error) => settle(() => {
      current.terminate();
      if (worker === current) worker = undefined;
      reject(error);
    });
    const broken = (what: string) => new HeedError({ code: 'worker-died', field: 'text', received: what, expected: 'a tokenizer that loads' });
    signal.addEventListener('abort', () => end(abortedError()), { signal: listening.signal });
    current.addEventListener('error', (event) => end(broken(event.message || 'an error')), { signal: listening.signal });
    current.addEventListener('message', ({ data }: MessageEvent<TextAnswer>) => {
      if (data.id !== id) return;
      if ('failure' in data) end(broken(data.failure));
      else if ('tooMany' in data) {
        settle(() => reject(new HeedError({ code: 'invalid-value', field: 'text', received: `${data.tooMany} tokens`, expected: `at most ${maxTokens}` })));
      } else if (data.embedded.tokens.length === 0) {
        settle(() => reject(new HeedError({ code: 'invalid-value', field: 'text', received: 'no token', expected: 'at least one' })));
      } else settle(() => resolve(data.embedded));
    }, { signal: listening.signal });
    if (signal.aborted) end(abortedError());
    else current.postMessage({ id, request });
  });
}

// Entry of the worker that splits and embeds texts: a tokenizer may take seconds on a hostile text.

import { embedText } from './text-job.ts';
import type { TextAnswer, TextRequest } from './text-job.ts';

interface WorkerScope {
  onmessage: ((event: MessageEvent<{ id: number; request: TextRequest }>) => void) | null;
  postMessage(answer: TextAnswer, transfer: Transferable[]): void;
}
const scope = globalThis as unknown as WorkerScope;

scope.onmessage = async ({ data: { id, request } }) => {
  try {
    const result = await embedText(request);
    if ('tooMany' in result) {
      scope.postMessage({ id, ...result }, []);
    } else {
      const { query, key, value } = result.projections;
      scope.postMessage({ id, embedded: result }, [result.embeddings.buffer, query.buffer, key.buffer, value.buffer]);
    }
  } catch (error) {
    scope.postMessage({ id, failure: String(error) }, []);
  }
};

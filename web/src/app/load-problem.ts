// From what the reader asked for to data: a sample, a text, or tensors of a file.

import { HeedError } from '../core/errors.ts';
import type { Engine } from '../explore/engine.ts';
import type { Problem } from '../explore/problem.ts';
import { problemOfTensors } from '../explore/tensor-problem.ts';
import { textProblem } from '../explore/text-problem.ts';
import { embedInWorker } from '../text/text-client.ts';
import type { OpenFile } from './open-file.ts';
import { loadSample } from './samples.ts';
import type { FileInput, Input } from '../explore/wish.ts';

/** Where data comes from, beside the network. */
export interface Sources {
  /** The file that is open on the page. */
  file(): OpenFile | null;
}

let nextProblem = 1;

function fileProblem(input: FileInput, file: OpenFile | null): Promise<Omit<Problem, 'id' | 'title'>> {
  if (file === null || file.name !== input.name) {
    throw new HeedError({ code: 'invalid-value', field: 'file', received: `a link to "${input.name}"`, expected: 'that file to be dropped on the page: files stay on their machine and are not part of a link' });
  }
  return problemOfTensors(input, async (name) => ({
    name, shape: file.tensors.find((tensor) => tensor.name === name)?.shape ?? [], data: await file.read(name),
  }), file.tokens);
}

/** null: the first sample. Throws HeedError or TensorFileError with what is wrong. */
export async function loadProblem(input: Input | null, sources: Sources, engine: Engine, signal: AbortSignal): Promise<Problem> {
  const id = nextProblem++;
  if (input?.kind === 'text') return { id, ...await textProblem(input, (request) => embedInWorker(request, signal), (...args) => engine.linear(...args)) };
  if (input?.kind === 'file') return { id, title: input.name, ...await fileProblem(input, sources.file()) };
  return { id, ...await loadSample(input?.id ?? null, signal) };
}

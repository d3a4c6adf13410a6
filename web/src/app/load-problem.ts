// From what the reader asked for to data: a sample, a text, or tensors of a file.

import { HeedError } from '../core/errors.ts';
import { tokenLabel } from '../model/labels.ts';
import { splitHeads } from '../text/embed.ts';
import { embedInWorker } from '../text/text-client.ts';
import type { Engine } from './engine.ts';
import { formatCount, formatShape } from './format.ts';
import type { OpenFile } from './open-file.ts';
import { loadSample, metadataTokens, numbered } from './samples.ts';
import type { FileInput, Input, Problem, TextInput } from './state.ts';
import { tensorInputs } from './tensor-problem.ts';
import type { NamedTensor } from './tensor-problem.ts';

/** Where data comes from, beside the network. */
export interface Sources {
  /** The file that is open on the page. */
  file(): OpenFile | null;
}

/** Heads and widths beyond these make projections larger than any text needs. */
const maxHeads = 64;
const maxHeadDim = 256;

let nextProblem = 1;

function checkRange(field: string, value: number, most: number): void {
  if (!Number.isInteger(value) || value < 1 || value > most) {
    throw new HeedError({ code: 'invalid-value', field, received: String(value), expected: `a whole number from 1 to ${most}` });
  }
}

async function textProblem(input: TextInput, engine: Engine, signal: AbortSignal): Promise<Problem> {
  const { heads, headDim, seed } = input;
  checkRange('heads', heads, maxHeads);
  checkRange('head width', headDim, maxHeadDim);
  if (!Number.isSafeInteger(seed) || seed < 0) {
    throw new HeedError({ code: 'invalid-value', field: 'embedding seed', received: String(seed), expected: 'a whole number from 0 to 2^53 - 1' });
  }
  const { tokens, embeddings, modelDim, projections } = await embedInWorker(input, signal);
  const project = async (which: 'query' | 'key' | 'value') => splitHeads(
    await engine.linear(embeddings, { weight: projections[which] }, { rows: tokens.length, inFeatures: modelDim, outFeatures: modelDim }), heads, headDim,
  );
  const [query, key, value] = [await project('query'), await project('key'), await project('value')];
  const shape = { batch: 1, heads, kvHeads: heads, queryLen: tokens.length, keyLen: tokens.length, headDim, valueDim: headDim };
  const labels = tokens.map(tokenLabel);
  return {
    id: nextProblem++,
    title: 'Your text',
    description: `${formatCount(tokens.length)} tokens. Untrained: seeded random embeddings through seeded random projections${input.positions ? ', with sinusoidal positions' : ''}. Attention here shows which tokens are equal${input.positions ? ' or near' : ''}, not what they mean.`,
    inputs: { query, key, value, shape },
    shape, queryTokens: labels, keyTokens: labels,
  };
}

async function fileProblem(input: FileInput, file: OpenFile | null): Promise<Problem> {
  if (file === null || file.name !== input.name) {
    throw new HeedError({ code: 'invalid-value', field: 'file', received: `a link to "${input.name}"`, expected: 'that file to be dropped on the page: files stay on their machine and are not part of a link' });
  }
  const read = async (name: string): Promise<NamedTensor> => {
    const shape = file.tensors.find((tensor) => tensor.name === name)?.shape ?? [];
    return { name, shape, data: await file.read(name) };
  };
  const query = await read(input.query);
  const key = input.key === '' ? query : await read(input.key);
  const value = input.value === '' ? key : await read(input.value);
  const { inputs, shape } = tensorInputs(query, key, value);
  return {
    id: nextProblem++,
    title: file.name,
    description: `Query "${query.name}" ${formatShape(query.shape)}, key "${key.name}" ${formatShape(key.shape)}, value "${value.name}" ${formatShape(value.shape)}, as float32.`,
    inputs, shape,
    queryTokens: metadataTokens(file.tokens, shape.queryLen) ?? numbered(shape.queryLen),
    keyTokens: metadataTokens(file.tokens, shape.keyLen) ?? numbered(shape.keyLen),
  };
}

/** null: the first sample. Throws HeedError or TensorFileError with what is wrong. */
export async function loadProblem(input: Input | null, sources: Sources, engine: Engine, signal: AbortSignal): Promise<Problem> {
  if (input?.kind === 'text') return textProblem(input, engine, signal);
  if (input?.kind === 'file') return fileProblem(input, sources.file());
  return { id: nextProblem++, ...await loadSample(input?.id ?? null, signal) };
}

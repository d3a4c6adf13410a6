// The bundled samples: their list, and one of them as a problem.

import { HeedError } from '../core/errors.ts';
import { openTensorFile } from '../tensor-file/index.ts';
import { formatCount } from '../model/format.ts';
import type { Problem } from '../explore/problem.ts';
import type { Sample, SampleText } from './state.ts';
import { namedTensors, problemOfTensors } from '../explore/tensor-problem.ts';

interface IndexEntry extends Omit<Sample, 'detail'> {
  readonly source: string;
  readonly license: string;
  readonly heads: number;
  readonly length: number;
  readonly headDim: number;
}

let index: Promise<readonly IndexEntry[]> | undefined;

async function fetchFile(name: string, signal?: AbortSignal): Promise<Response> {
  const response = await fetch(new URL(`samples/${name}`, document.baseURI), signal === undefined ? {} : { signal });
  if (!response.ok) {
    throw new HeedError({ code: 'invalid-value', field: `sample file ${name}`, received: `status ${response.status}`, expected: 'the file beside the page' });
  }
  return response;
}

function readIndex(): Promise<readonly IndexEntry[]> {
  index ??= fetchFile('index.json').then((response) => response.json() as Promise<readonly IndexEntry[]>).catch((error: unknown) => {
    // Another try may find the network back.
    index = undefined;
    throw error;
  });
  return index;
}

export async function listSamples(): Promise<readonly Sample[]> {
  return (await readIndex()).map(({ id, file, title, description, heads, length, headDim, source, license }) => ({
    id, file, title, description,
    detail: `${formatCount(length)} tokens, ${heads} ${heads === 1 ? 'head' : 'heads'} of width ${headDim}. Source: ${source}. Licence: ${license}.`,
  }));
}

export async function listTexts(): Promise<readonly SampleText[]> {
  return (await fetchFile('texts.json')).json() as Promise<readonly SampleText[]>;
}

/** null: the first of the list. Throws HeedError or TensorFileError. */
export async function loadSample(id: string | null, signal: AbortSignal): Promise<Omit<Problem, 'id'>> {
  const entries = await readIndex();
  const entry = id === null ? entries[0] : entries.find((other) => other.id === id);
  if (entry === undefined) {
    throw new HeedError({ code: 'invalid-value', field: 'sample', received: id ?? 'none', expected: entries.map((other) => other.id).join(', ') });
  }
  const file = openTensorFile(entry.file, new Uint8Array(await (await fetchFile(entry.file, signal)).arrayBuffer()));
  const parts = await problemOfTensors({ query: 'query', key: 'key', value: 'value' }, namedTensors(file), file.metadata.get('tokens'));
  return { ...parts, title: entry.title, description: entry.description };
}

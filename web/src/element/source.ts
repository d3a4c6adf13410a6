// What an element attends to: tensors of the page's own, a file, or a text.

import type { HeedClient } from '../client/client.ts';
import { fullShape } from '../core/arguments.ts';
import { HeedError } from '../core/errors.ts';
import type { AttentionInputs } from '../core/types.ts';
import { guessTensors } from '../explore/guess-tensors.ts';
import type { Problem } from '../explore/problem.ts';
import { namedTensors, numbered, problemOfTensors } from '../explore/tensor-problem.ts';
import { textProblem } from '../explore/text-problem.ts';
import type { TextInput } from '../explore/wish.ts';
import { embedText } from '../text/text-job.ts';
import type { EmbeddedText, TextRequest } from '../text/text-job.ts';

export interface Source {
  readonly inputs: AttentionInputs | null;
  readonly queryTokens: readonly string[] | null;
  readonly keyTokens: readonly string[] | null;
  readonly src: string | null;
  /** Names of tensors in `src`; null: guessed. */
  readonly names: { readonly q: string | null; readonly k: string | null; readonly v: string | null };
  /** null: there is no text, but its fields say how a text in `src` is read. */
  readonly text: string | null;
  readonly textFields: Omit<TextInput, 'kind' | 'text'>;
}

/** A text is embedded in the page's own thread, so it has to be short: 2048 tokens take some 20 ms. */
const maxTokens = 2048;

function wrong(field: string, received: string, expected: string): HeedError {
  return new HeedError({ code: 'invalid-value', field, received, expected });
}

async function embed(request: TextRequest): Promise<EmbeddedText> {
  const embedded = await embedText(request, maxTokens);
  if ('tooMany' in embedded) throw wrong('text', `${embedded.tooMany} tokens`, `at most ${maxTokens}; longer inputs come as tensors, by src or inputs`);
  if (embedded.tokens.length === 0) throw wrong('text', 'no token', 'at least one');
  return embedded;
}

function fromText(text: string, { textFields }: Source, client: HeedClient): Promise<Omit<Problem, 'id'>> {
  return textProblem({ text, ...textFields }, embed, (...args) => client.linear(...args));
}

/** A name with the ending that tells the format, also where a data: URL has none. */
function fileName(address: URL, type: string): string {
  if (address.protocol !== 'data:') return decodeURIComponent(address.pathname.split('/').at(-1) ?? '');
  return /^text\//.test(type) ? 'text.txt' : /zip|npz/.test(type) ? 'data.npz' : /npy/.test(type) ? 'data.npy' : 'data.safetensors';
}

async function fromFile(src: string, source: Source, client: HeedClient, baseUri: string, signal: AbortSignal): Promise<Omit<Problem, 'id'>> {
  if (!URL.canParse(src, baseUri)) throw wrong('src', `"${src}"`, 'an address');
  const address = new URL(src, baseUri);
  let response: Response;
  try {
    response = await fetch(address, { signal });
  } catch (error) {
    if (signal.aborted) throw error;
    throw wrong('src', `${String(error)} from ${address.href.slice(0, 200)}`, 'an address that can be fetched; one of another site needs its permission (CORS)');
  }
  if (!response.ok) throw wrong('src', `status ${response.status} from ${address.href}`, 'a file');
  const type = response.headers.get('content-type') ?? '';
  const name = fileName(address, type);
  const title = address.protocol === 'data:' ? 'Data' : name;
  if (/\.(txt|md)$/i.test(name)) return { ...await fromText(await response.text(), source, client), title };
  const { openTensorFile } = await import('../tensor-file/index.ts');
  const file = openTensorFile(name, new Uint8Array(await response.arrayBuffer()));
  const guess = guessTensors(file.tensors);
  const { q, k, v } = source.names;
  if (guess === null && q === null) throw wrong('src', `${file.tensors.length} tensors in ${name}`, 'one of [N, d], [heads, N, d] or [batch, heads, N, d]');
  const choice = { query: q ?? guess!.query, key: k ?? (q === null ? guess!.key : ''), value: v ?? (q === null ? guess!.value : '') };
  return { ...await problemOfTensors(choice, namedTensors(file), file.metadata.get('tokens')), title };
}

function labels(tokens: readonly string[] | null, length: number, field: string): readonly string[] {
  if (tokens === null) return numbered(length);
  if (tokens.length !== length) throw wrong(field, `${tokens.length} tokens`, `${length}, one a position`);
  return tokens;
}

/** Loads what there is of inputs, src and text, in this order. Throws HeedError or TensorFileError. */
export async function loadSource(source: Source, client: HeedClient, baseUri: string, signal: AbortSignal): Promise<Omit<Problem, 'id'>> {
  const { inputs, src, text } = source;
  if (inputs !== null) {
    const shape = fullShape(inputs.shape);
    return {
      title: 'Tensors', description: '', inputs, shape,
      queryTokens: labels(source.queryTokens, shape.queryLen, 'queryTokens'),
      keyTokens: labels(source.keyTokens, shape.keyLen, 'keyTokens'),
    };
  }
  if (src !== null) return fromFile(src, source, client, baseUri, signal);
  if (text !== null) return fromText(text, source, client);
  throw wrong('text', 'none', 'an attribute text or src, or the property inputs');
}

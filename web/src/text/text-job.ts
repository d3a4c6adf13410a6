// What the text worker is asked and what it answers: types, and the work itself.

import { embedTokens, randomProjection } from './embed.ts';
import { splitText } from './split.ts';
import type { Split } from './split.ts';

export interface TextRequest {
  readonly text: string;
  readonly split: Split;
  readonly heads: number;
  readonly headDim: number;
  readonly seed: number;
  readonly positions: boolean;
}

export interface EmbeddedText {
  readonly tokens: readonly string[];
  /** [tokens, modelDim] */
  readonly embeddings: Float32Array<ArrayBuffer>;
  readonly modelDim: number;
  /** Each [heads * headDim, modelDim]. */
  readonly projections: Readonly<Record<'query' | 'key' | 'value', Float32Array<ArrayBuffer>>>;
}

export type TextAnswer =
  | { readonly id: number; readonly embedded: EmbeddedText }
  | { readonly id: number; readonly tooMany: number }
  | { readonly id: number; readonly failure: string };

/** More tokens than this are refused: exact attention over them would take minutes. */
export const maxTokens = 131_072;

/** Splits and embeds. Answers with the number of tokens alone when there are more than `most`. */
export async function embedText({ text, split, heads, headDim, seed, positions }: TextRequest, most = maxTokens): Promise<EmbeddedText | { readonly tooMany: number }> {
  const tokens = await splitText(text, split);
  if (tokens.length > most) return { tooMany: tokens.length };
  const modelDim = heads * headDim;
  const project = (which: 'query' | 'key' | 'value') => randomProjection(which, modelDim, modelDim, seed);
  return {
    tokens: tokens.map((token) => token.text),
    embeddings: embedTokens(tokens, modelDim, seed, positions),
    modelDim,
    projections: { query: project('query'), key: project('key'), value: project('value') },
  };
}

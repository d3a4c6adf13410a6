// A text as an attention problem: tokens, seeded embeddings, projections to queries, keys and values.

import type { HeedClient } from '../client/client.ts';
import { HeedError } from '../core/errors.ts';
import { formatCount } from '../model/format.ts';
import { tokenLabel } from '../model/labels.ts';
import { splitHeads } from '../text/embed.ts';
import type { EmbeddedText, TextRequest } from '../text/text-job.ts';
import type { Problem } from './problem.ts';

/** Heads and widths beyond these make projections larger than any text needs. */
const maxHeads = 64;
const maxHeadDim = 256;

function checkRange(field: string, value: number, most: number): void {
  if (!Number.isInteger(value) || value < 1 || value > most) {
    throw new HeedError({ code: 'invalid-value', field, received: String(value), expected: `a whole number from 1 to ${most}` });
  }
}

/** `embed` splits and embeds, `linear` projects. Throws HeedError. */
export async function textProblem(
  request: TextRequest, embed: (request: TextRequest) => Promise<EmbeddedText>, linear: HeedClient['linear'],
): Promise<Omit<Problem, 'id'>> {
  const { heads, headDim, seed, positions } = request;
  checkRange('heads', heads, maxHeads);
  checkRange('head width', headDim, maxHeadDim);
  if (!Number.isSafeInteger(seed) || seed < 0) {
    throw new HeedError({ code: 'invalid-value', field: 'embedding seed', received: String(seed), expected: 'a whole number from 0 to 2^53 - 1' });
  }
  const { tokens, embeddings, modelDim, projections } = await embed(request);
  const project = async (which: 'query' | 'key' | 'value') => splitHeads(
    await linear(embeddings, { weight: projections[which] }, { rows: tokens.length, inFeatures: modelDim, outFeatures: modelDim }), heads, headDim,
  );
  const [query, key, value] = [await project('query'), await project('key'), await project('value')];
  const shape = { batch: 1, heads, kvHeads: heads, queryLen: tokens.length, keyLen: tokens.length, headDim, valueDim: headDim };
  const labels = tokens.map(tokenLabel);
  return {
    title: 'Your text',
    description: `${formatCount(tokens.length)} tokens. Untrained: seeded random embeddings through seeded random projections${positions ? ', with sinusoidal positions' : ''}. Attention here shows which tokens are equal${positions ? ' or near' : ''}, not what they mean.`,
    inputs: { query, key, value, shape },
    shape, queryTokens: labels, keyTokens: labels,
  };
}

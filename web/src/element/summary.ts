// What a picture shows, in words.

import type { Problem } from '../explore/problem.ts';
import type { Look } from '../explore/wish.ts';
import { formatCount, formatNumber, formatShare } from '../model/format.ts';
import { pictureTitles } from './picture.ts';
import type { Findings } from './exploration.ts';

/** "query 3 “cat” to key 14 “cat”" */
function pairText({ queryTokens, keyTokens }: Problem, row: number, column: number): string {
  return `query ${row} “${queryTokens[row] ?? ''}” to key ${column} “${keyTokens[column] ?? ''}”`;
}

export function lshSentence({ results: { quality, cost } }: Findings): string {
  const share = cost.exactPairs === 0 ? 0 : cost.candidatePairs / cost.exactPairs;
  const sampled = quality.sampled ? `, measured on ${formatCount(quality.queries)} sampled queries` : '';
  return `LSH attention computed ${formatShare(share)} of the pairs and kept ${formatShare(quality.capturedMass)} of the attention; its relative error is ${formatShare(quality.relativeError)}, proven to be at most ${formatShare(quality.errorBound)}${sampled}.`;
}

/** A few sentences for one map. */
export function mapSummary(findings: Findings, { picture, head }: Look): string {
  const { results: { problem }, strongest } = findings;
  const { queryLen, keyLen, heads } = problem.shape;
  const what = `${pictureTitles[picture]} of ${formatCount(queryLen)} queries to ${formatCount(keyLen)} keys${heads > 1 ? `, head ${head} of 0 to ${heads - 1}` : ''}.`;
  const noun = picture === 'difference' ? 'Largest differences' : 'Largest weights';
  const most = strongest.length === 0 ? '' : ` ${noun}: ${strongest.map(({ row, column, weight }) => `${pairText(problem, row, column)}, ${formatNumber(weight)}`).join('; ')}.`;
  return `${what}${most}${picture === 'exact' ? '' : ` ${lshSentence(findings)}`}`;
}

// One line about the cell that is pointed at: its tokens and its weights under both mechanisms.

import { html } from 'lit';
import type { TemplateResult } from 'lit';
import type { CellArithmetic } from '../core/types.ts';
import type { Problem } from '../explore/problem.ts';
import { formatNumber, formatWeight } from '../model/format.ts';
import type { CellIndex } from '../model/view.ts';

const hiddenBecause = {
  nothing: '', keyMask: 'hidden position', mask: 'mask', bias: 'bias', causal: 'causal', window: 'window', self: 'its own position',
} as const;

/** null: an invitation to point at a cell. */
export function readOutLine(readOut: { readonly cell: CellIndex; readonly arithmetic: CellArithmetic } | null, problem: Problem | null): TemplateResult {
  if (readOut === null || problem === null) {
    return html`<p class="read-out" aria-live="polite"><span class="hint">Point at a cell, or focus a picture and use the arrow keys. Enter or a click shows the arithmetic.</span></p>`;
  }
  const { cell: { row, column }, arithmetic: { exact, lsh, hiddenBy } } = readOut;
  const missed = hiddenBy === 'nothing' && !lsh.candidate ? ' (never met)' : '';
  return html`
    <p class="read-out" aria-live="polite">
      <span class="cell">query <b>${row}</b> <bdi>“${problem.queryTokens[row]}”</bdi> → key <b>${column}</b> <bdi>“${problem.keyTokens[column]}”</bdi></span>
      ${hiddenBy === 'nothing' ? html`
        <span>exact <b data-read="exact">${formatWeight(exact.weight)}</b> <small>rank ${exact.rank}</small></span>
        <span>LSH <b data-read="lsh">${formatWeight(lsh.weight)}</b> <small>${lsh.candidate ? `rank ${lsh.rank}, round ${lsh.round + 1}` : 'never met'}</small></span>
        <span title=${missed}>difference <b data-read="difference">${formatNumber(lsh.weight - exact.weight)}</b></span>`
        : html`<span>not seen: ${hiddenBecause[hiddenBy]}</span>`}
    </p>`;
}

// The whole arithmetic of one weight, from the products of q and k to its share of the context, exact
// beside LSH.

import { format } from 'd3-format';
import type { CellArithmetic, CellShare } from '../core/types.ts';
import type { Theme } from '../model/color-scale.ts';
import { tokenLabel } from '../model/labels.ts';
import { barStrip, mostOf } from './bar-strip.ts';

export interface CellArithmeticState {
  readonly arithmetic: CellArithmetic;
  readonly query: number;
  readonly key: number;
  readonly queryLabel: string;
  readonly keyLabel: string;
  readonly scale: number;
  readonly softCap: number;
  readonly theme: Theme;
}

const number = format('.5~g');
const inks: Readonly<Record<Theme, { readonly product: string; readonly share: string; readonly context: string }>> = {
  light: { product: '#0f6a73', share: '#b4570a', context: '#575d65' },
  dark: { product: '#6cc5c9', share: '#ffb454', context: '#a3a8ae' },
};

const hiddenBecause: Readonly<Record<Exclude<CellArithmetic['hiddenBy'], 'nothing'>, string>> = {
  keyMask: 'this position is hidden',
  mask: 'the mask hides this pair',
  bias: 'the bias is minus infinity here',
  causal: 'the key comes after the query, and attention is causal',
  window: 'the key lies outside the window',
  self: 'a query sees itself only when it sees nothing else',
};

function element(document: Document, name: string, className: string, ...children: (Node | string)[]): HTMLElement {
  const made = document.createElement(name);
  if (className !== '') made.className = className;
  made.append(...children);
  return made;
}

/** Steps before the softmax, the same for both mechanisms. */
function logitSteps(document: Document, { arithmetic: a, scale, softCap, theme }: CellArithmeticState): HTMLElement[] {
  const step = (text: string, ...more: Node[]) => element(document, 'li', '', element(document, 'span', 'formula', text), ...more);
  const steps = [
    step(`q · k = sum of ${a.products.length} products = ${number(a.dot)}`,
      barStrip(document, { values: a.products, most: mostOf(a.products), color: inks[theme].product, label: 'Products of query and key' })),
    step(`× scale ${number(scale)} = ${number(a.scaled)}`),
  ];
  if (softCap > 0) steps.push(step(`soft cap: ${number(softCap)} · tanh(${number(a.scaled)} / ${number(softCap)}) = ${number(a.capped)}`));
  if (a.hiddenBy !== 'nothing') steps.push(step(`hidden: ${hiddenBecause[a.hiddenBy]}; the logit is −∞ and the weight 0`));
  else if (a.logit !== a.capped) steps.push(step(`+ bias = ${number(a.logit)}`));
  return steps;
}

interface ShareColumn {
  readonly title: string;
  readonly share: CellShare;
  readonly note: string;
  /** The mechanism does not see the key, though nothing hides it. */
  readonly dropped: boolean;
}

/** The softmax and the share of the context under one mechanism. */
function shareColumn(document: Document, { title, share, note, dropped }: ShareColumn, a: CellArithmetic, theme: Theme): HTMLElement {
  const most = mostOf(share.contribution, share.context);
  const line = (text: string) => element(document, 'p', 'formula', text);
  const lines: HTMLElement[] = [];
  if (a.hiddenBy !== 'nothing') lines.push(line('weight 0'));
  else if (share.logsumexp === Number.NEGATIVE_INFINITY) lines.push(line('the query sees no key at all: weight 0'));
  else {
    lines.push(
      line(`logsumexp over the keys it sees = ${number(share.logsumexp)}`),
      dropped ? line(`not among them: weight 0 instead of exp(${number(a.logit)} − ${number(share.logsumexp)})`) : line(`weight = exp(${number(a.logit)} − ${number(share.logsumexp)}) = ${number(share.weight)}`),
      line(`rank ${share.rank} of this query’s keys`));
  }
  return element(document, 'section', '',
    element(document, 'p', 'title', title),
    element(document, 'p', 'note', note),
    ...lines,
    element(document, 'p', 'formula', 'weight × v, its share of the context'),
    barStrip(document, { values: share.contribution, most, color: inks[theme].share, label: 'Weight times value' }),
    element(document, 'p', 'formula', 'the query’s whole context'),
    barStrip(document, { values: share.context, most, color: inks[theme].context, label: 'Context' }));
}

function lshNote({ hiddenBy, lsh }: CellArithmetic): string {
  if (hiddenBy !== 'nothing') return 'Hidden from both.';
  return lsh.candidate ? `Query and key first met in round ${lsh.round + 1}.` : 'Query and key met in no round: LSH dropped this pair.';
}

/** Fills the host; null empties it. */
export function cellArithmetic(host: HTMLElement): { update(state: CellArithmeticState | null): void } {
  const document = host.ownerDocument;
  return {
    update(state) {
      if (state === null) {
        host.replaceChildren();
        return;
      }
      const { arithmetic, theme } = state;
      // Quotation marks stay outside: a token written from right to left would turn them.
      const token = (label: string) => element(document, 'bdi', '', tokenLabel(label));
      host.replaceChildren(
        element(document, 'p', 'title', `How query ${state.query} “`, token(state.queryLabel), `” attends to key ${state.key} “`, token(state.keyLabel), '”'),
        element(document, 'ol', 'steps', ...logitSteps(document, state)),
        element(document, 'div', 'shares',
          shareColumn(document, { title: 'Exact', share: arithmetic.exact, note: 'Over every key the query sees.', dropped: false }, arithmetic, theme),
          shareColumn(document, { title: 'LSH', share: arithmetic.lsh, note: lshNote(arithmetic), dropped: !arithmetic.lsh.candidate }, arithmetic, theme)));
    },
  };
}

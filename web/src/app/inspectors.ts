// The two marks below the pictures: the arithmetic of the selected cell and the buckets of a round.

import { bucketStrip } from '../marks/bucket-strip.ts';
import { cellArithmetic } from '../marks/cell-arithmetic.ts';
import { defaultScale } from '../explore/options.ts';
import { isDark } from './state.ts';
import type { State } from './state.ts';
import type { Store } from './store.ts';

export class Inspectors {
  readonly #arithmetic: ReturnType<typeof cellArithmetic>;
  readonly #buckets: ReturnType<typeof bucketStrip>;

  constructor(store: Store, hosts: { readonly arithmetic: HTMLElement; readonly buckets: HTMLElement }) {
    this.#arithmetic = cellArithmetic(hosts.arithmetic);
    this.#buckets = bucketStrip(hosts.buckets);
    store.listen((state, previous) => this.#show(state, previous));
  }

  #show(state: State, previous: State): void {
    const themeChanged = isDark(state) !== isDark(previous);
    if (state.explained !== previous.explained || themeChanged) this.#showArithmetic(state);
    const queryOf = ({ hover, wish: { look } }: State) => (hover ?? look.selected)?.row ?? null;
    if (state.structure !== previous.structure || queryOf(state) !== queryOf(previous) || themeChanged) this.#showBuckets(state, queryOf(state));
  }

  #showArithmetic(state: State): void {
    const { explained, results, problem } = state;
    if (explained === null || results === null || problem === null) {
      if (explained === null) this.#arithmetic.update(null);
      return;
    }
    const { cell: { row, column }, arithmetic } = explained;
    this.#arithmetic.update({
      arithmetic, query: row, key: column,
      queryLabel: problem.queryTokens[row] ?? '', keyLabel: problem.keyTokens[column] ?? '',
      scale: results.settings.scale ?? defaultScale(problem.shape),
      softCap: results.settings.softCap,
      theme: isDark(state) ? 'dark' : 'light',
    });
  }

  #showBuckets(state: State, query: number | null): void {
    const { structure, results } = state;
    if (structure === null) {
      this.#buckets.update(null);
      return;
    }
    if (results === null || structure.lshVersion !== results.lshVersion) return;
    this.#buckets.update({
      structure: structure.structure, buckets: results.parameters.buckets, trueBuckets: results.settings.trueBuckets,
      query, keyLabel: (key) => results.problem.keyTokens[key] ?? '', theme: isDark(state) ? 'dark' : 'light',
    });
  }
}

// Frames of the cell arithmetic and the bucket strip, which are drawn into their hosts.

import { html, nothing } from 'lit';
import type { TemplateResult } from 'lit';
import type { State } from '../state.ts';
import type { Dispatch } from '../store.ts';

export function arithmeticFrame({ explained, results }: State, dispatch: Dispatch): TemplateResult {
  const stale = explained?.lshVersion !== results?.lshVersion;
  return html`
    <section class="card arithmetic" aria-labelledby="arithmetic-title" ?hidden=${explained === null} data-stale=${stale ? 'true' : 'false'}>
      <header>
        <h2 id="arithmetic-title">The arithmetic of a cell</h2>
        <button type="button" class="quiet" @click=${() => dispatch({ type: 'look', look: { selected: null } })}>Close</button>
      </header>
      <div data-host="arithmetic"></div>
    </section>`;
}

export function bucketFrame({ structure, results, wish: { look } }: State, dispatch: Dispatch): TemplateResult {
  const rounds = results?.parameters.rounds ?? 1;
  return html`
    <section class="card buckets" aria-labelledby="buckets-title" ?hidden=${structure === null} data-stale=${structure?.lshVersion !== results?.lshVersion ? 'true' : 'false'}>
      <header>
        <h2 id="buckets-title">How a round sorts the keys</h2>
        ${rounds > 1 ? html`
          <label class="field inline"><span>Round</span>
            <select name="round" @change=${(event: Event) => dispatch({ type: 'look', look: { round: Number((event.target as HTMLSelectElement).value) } })}>
              ${Array.from({ length: rounds }, (_, i) => html`<option value=${i} .selected=${i === look.round}>${i + 1} of ${rounds}</option>`)}
            </select>
          </label>` : nothing}
      </header>
      <p class="hint">Colours are buckets. Point at a cell: the frame holds the keys its query may see in this round, and lines lead to where they stand in the text.</p>
      <div data-host="buckets"></div>
    </section>`;
}

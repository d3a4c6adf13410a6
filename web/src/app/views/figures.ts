// The live figures: how much LSH attention kept, what it cost, how long both took.

import { html, nothing } from 'lit';
import type { TemplateResult } from 'lit';
import { shareBar } from '../../marks/share-bar.ts';
import { figuresOf, pendingFigures } from '../../explore/figures.ts';
import { formatCount } from '../../model/format.ts';
import type { State } from '../state.ts';

export function figures({ results, instructionSet }: State): TemplateResult {
  const quality = results?.quality;
  return html`
    <section class="figures" aria-labelledby="figures-title">
      <h2 id="figures-title">What hashing kept, and what it cost</h2>
      <dl>
        ${(results === null ? pendingFigures : figuresOf(results)).map(({ id, label, value, note, bar }) => html`
          <div class="figure" data-figure=${id}>
            <dt>${label}</dt>
            <dd><strong>${value}</strong>${bar === undefined ? nothing : html`<span class="share">${shareBar(document, { ...bar, color: 'currentColor', label: `${label}: ${value}` })}</span>`}<span>${note}</span></dd>
          </div>`)}
      </dl>
      <p class="hint">
        ${quality?.sampled ? html`Measured on a random sample of ${formatCount(quality.queries)} queries. ` : nothing}
        ${instructionSet === '' ? nothing : html`Computed on this machine by ${instructionSet}, one thread.`}
      </p>
    </section>`;
}

// The live figures: how much LSH attention kept, what it cost, how long both took.

import { html, nothing } from 'lit';
import type { TemplateResult } from 'lit';
import { figureList } from '../../element/figures.ts';
import { figuresOf, pendingFigures } from '../../explore/figures.ts';
import { formatCount } from '../../model/format.ts';
import type { State } from '../state.ts';

export function figures({ results, instructionSet }: State): TemplateResult {
  const quality = results?.quality;
  return html`
    <section class="figures" aria-labelledby="figures-title">
      <h2 id="figures-title">What hashing kept, and what it cost</h2>
      ${figureList(results === null ? pendingFigures : figuresOf(results))}
      <p class="hint">
        ${quality?.sampled ? html`Measured on a random sample of ${formatCount(quality.queries)} queries. ` : nothing}
        ${instructionSet === '' ? nothing : html`Computed on this machine by ${instructionSet}, one thread.`}
      </p>
    </section>`;
}

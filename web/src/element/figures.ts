// The figures of a computation as a list: what hashing kept, what it cost, how long both took.

import { html, nothing } from 'lit';
import type { TemplateResult } from 'lit';
import type { Figure } from '../explore/figures.ts';
import { shareBar } from '../marks/share-bar.ts';

export function figureList(figures: readonly Figure[]): TemplateResult {
  return html`
    <dl>
      ${figures.map(({ id, label, value, note, bar }) => html`
        <div class="figure" data-figure=${id}>
          <dt>${label}</dt>
          <dd><strong>${value}</strong>${bar === undefined ? nothing : html`<span class="share">${shareBar(document, { ...bar, color: 'currentColor', label: `${label}: ${value}` })}</span>`}<span>${note}</span></dd>
        </div>`)}
    </dl>`;
}

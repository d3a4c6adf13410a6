// How far a computation is, with a way to stop it.

import { html } from 'lit';
import type { TemplateResult } from 'lit';
import type { Progress } from '../explore/problem.ts';

const steps: Readonly<Record<Progress['step'], string>> = { loading: 'Loading', exact: 'Computing exact attention', lsh: 'Computing LSH attention', measuring: 'Measuring' };

export function progressBar({ step, fraction }: Progress, cancel: () => void): TemplateResult {
  const percent = Math.round(fraction * 100);
  return html`
    <div class="progress">
      <span>${steps[step]}${fraction > 0 ? ` ${percent} %` : ''}</span>
      ${fraction > 0
        ? html`<progress max="100" .value=${percent} aria-label=${steps[step]}></progress>`
        : html`<progress aria-label=${steps[step]}></progress>`}
      <button type="button" @click=${cancel}>Cancel</button>
    </div>`;
}

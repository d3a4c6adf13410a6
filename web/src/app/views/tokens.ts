// The keys as a strip of labels; a click hides one from every query, and shows it again.

import { html, nothing } from 'lit';
import type { TemplateResult } from 'lit';
import { formatCount } from '../../model/format.ts';
import type { State } from '../state.ts';
import type { Dispatch } from '../store.ts';

/** A strip longer than this helps nobody; zooming in moves it. */
const shown = 400;

export function tokenStrip({ problem, wish: { settings, look } }: State, dispatch: Dispatch): TemplateResult | typeof nothing {
  if (problem === null) return nothing;
  const { keyLen } = problem.shape;
  const [left, right] = look.view?.columns ?? [0, keyLen];
  const first = Math.max(0, Math.floor(left));
  const last = Math.min(keyLen, Math.ceil(right), first + shown);
  const hidden = new Set(settings.hidden);
  return html`
    <section class="card tokens" aria-labelledby="tokens-title">
      <h2 id="tokens-title">Keys</h2>
      <p class="hint">Click one to hide it from every query.
        ${last - first < keyLen ? html`Keys ${formatCount(first)} to ${formatCount(last - 1)} of ${formatCount(keyLen)}; zoom in for others.` : nothing}</p>
      <div class="strip scroll" role="group" aria-labelledby="tokens-title">
        ${problem.keyTokens.slice(first, last).map((label, at) => {
          const position = first + at;
          return html`<button type="button" data-key=${position} aria-pressed=${hidden.has(position) ? 'true' : 'false'} aria-label=${`key ${position}, ${label}, ${hidden.has(position) ? 'hidden' : 'seen'}`}
            @click=${() => dispatch({ type: 'toggle-hidden', position })}><small>${position}</small><bdi>${label}</bdi></button>`;
        })}
      </div>
    </section>`;
}

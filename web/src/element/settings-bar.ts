// The settings a reader may change in an element; each is an attribute.

import { html, nothing } from 'lit';
import type { TemplateResult } from 'lit';
import type { Results } from '../explore/problem.ts';
import type { Wish } from '../explore/wish.ts';
import { checkField, numberField, selectField } from './fields.ts';

type Change = (name: string, value: string | number | boolean | null) => void;

export function settingsBar({ problem: { shape }, parameters }: Results, { settings, look }: Wish, hashing: boolean, change: Change): TemplateResult {
  const heads = Array.from({ length: shape.heads }, (_, head) => [String(head), `${head} of 0–${shape.heads - 1}`] as const);
  return html`
    <div class="settings" part="controls" role="group" aria-label="Settings">
      ${shape.heads > 1 ? selectField('head', 'Head', heads, String(look.head), (head) => change('head', head)) : nothing}
      ${hashing ? html`
        ${numberField({ name: 'rounds', label: 'Rounds', value: settings.rounds, min: 1, title: 'Independent hashes; a pair counts when it meets in any', change: (value) => change('rounds', value) })}
        ${numberField({ name: 'buckets', label: 'Buckets', value: settings.buckets, min: 2, step: 2, placeholder: `auto: ${parameters.buckets}`, title: 'Even', change: (value) => change('buckets', value) })}
        ${numberField({ name: 'chunk', label: 'Chunk', value: settings.chunk, min: 1, placeholder: `auto: ${parameters.chunk}`, title: 'Sorted vectors attended to together', change: (value) => change('chunk', value) })}
        <button type="button" @click=${() => change('seed', settings.seed + 1)} title="Seed ${settings.seed}">Next seed</button>` : nothing}
      ${checkField('causal', 'Causal', settings.causal, (value) => change('causal', value), 'A query sees no later key')}
    </div>`;
}

// What attention is computed with: masks, scale, hashing; and the head in view.

import { html, nothing } from 'lit';
import type { TemplateResult } from 'lit';
import { formatNumber } from '../../model/format.ts';
import { defaultScale } from '../../explore/options.ts';
import { defaultSettings } from '../../explore/problem.ts';
import type { Settings } from '../../explore/problem.ts';
import type { State } from '../state.ts';
import type { Dispatch } from '../store.ts';
import { positions } from '../../explore/url-state.ts';
import { checkField, numberField } from '../../element/fields.ts';

type Set = (settings: Partial<Settings>) => void;

/** A whole number that has no automatic value: an empty field means its default. */
const orDefault = <K extends 'rounds' | 'seed' | 'softCap'>(name: K, set: Set) => (value: number | null) =>
  set({ [name]: value ?? defaultSettings[name] });

function headFields({ problem, wish: { look } }: State, dispatch: Dispatch): TemplateResult | typeof nothing {
  if (problem === null) return nothing;
  const { heads, batch } = problem.shape;
  const choose = (name: 'head' | 'batch', count: number, value: number) => html`
    <label class="field">
      <span>${name === 'head' ? 'Head' : 'Batch'}</span>
      <select name=${name} @change=${(event: Event) => dispatch({ type: 'look', look: { [name]: Number((event.target as HTMLSelectElement).value) } })}>
        ${Array.from({ length: count }, (_, i) => html`<option value=${i} .selected=${i === value}>${i} of 0–${count - 1}</option>`)}
      </select>
    </label>`;
  return html`<div class="fields">${choose('head', heads, look.head)}${batch > 1 ? choose('batch', batch, look.batch) : nothing}</div>`;
}

function attentionFields({ problem, wish: { settings } }: State, set: Set, dispatch: Dispatch): TemplateResult {
  const usual = problem === null ? null : defaultScale(problem.shape);
  const temperature = settings.scale === null || usual === null ? null : settings.scale === 0 ? null : Number((usual / settings.scale).toPrecision(6));
  const hide = (event: Event) => {
    const { value } = event.target as HTMLInputElement;
    const hidden = positions.read(value);
    if (hidden === undefined) {
      dispatch({ type: 'say', message: { topic: 'settings', tone: 'error', text: `hidden: received "${value}", expected ${positions.expected}.` } });
    } else set({ hidden });
  };
  return html`
    <h3>Attention</h3>
    ${checkField('causal', 'Causal: a query sees no later key', settings.causal, (causal) => set({ causal }))}
    <div class="fields">
      ${numberField({ name: 'scale', label: 'Scale', value: settings.scale, step: 'any', placeholder: usual === null ? '1/√d' : formatNumber(usual), title: 'Factor on the dot product; empty: 1/√d', change: (scale) => set({ scale }) })}
      ${numberField({ name: 'temperature', label: 'Temperature', value: temperature, step: 'any', placeholder: '1', title: 'The usual scale divided by the scale: below 1 sharpens', change: (t) => set({ scale: t === null || usual === null ? null : usual / t }) })}
      ${numberField({ name: 'softCap', label: 'Soft cap', value: settings.softCap === 0 ? null : settings.softCap, step: 'any', placeholder: 'off', title: 'Logits become cap · tanh(logit / cap)', change: orDefault('softCap', set) })}
      ${numberField({ name: 'windowLeft', label: 'Window left', value: settings.windowLeft, placeholder: 'all', min: 0, title: 'How many keys before its own position a query sees', change: (windowLeft) => set({ windowLeft }) })}
      ${numberField({ name: 'windowRight', label: 'Window right', value: settings.windowRight, placeholder: 'all', min: 0, title: 'How many keys after its own position a query sees', change: (windowRight) => set({ windowRight }) })}
    </div>
    <label class="field">
      <span>Hidden positions</span>
      <input type="text" name="hidden" placeholder="none, for instance 3, 10-12" .value=${positions.write(settings.hidden)} @change=${hide}>
    </label>`;
}

function hashFields({ results, wish: { settings } }: State, set: Set): TemplateResult {
  const used = results?.parameters;
  const auto = (value: number | undefined) => (value === undefined ? 'auto' : `auto: ${value}`);
  return html`
    <h3>Hashing</h3>
    <div class="fields">
      ${numberField({ name: 'rounds', label: 'Rounds', value: settings.rounds, min: 1, title: 'Independent hashes; a pair counts when it meets in any', change: orDefault('rounds', set) })}
      ${numberField({ name: 'buckets', label: 'Buckets', value: settings.buckets, min: 2, step: 2, placeholder: auto(settings.buckets === null ? used?.buckets : undefined), title: 'Even', change: (buckets) => set({ buckets }) })}
      ${numberField({ name: 'chunk', label: 'Chunk', value: settings.chunk, min: 1, placeholder: auto(settings.chunk === null ? used?.chunk : undefined), title: 'Sorted vectors attended to together', change: (chunk) => set({ chunk }) })}
      ${numberField({ name: 'seed', label: 'Seed', value: settings.seed, min: 0, change: orDefault('seed', set) })}
    </div>
    <button type="button" class="next-seed" @click=${() => set({ seed: settings.seed + 1 })}>Next seed</button>
    ${checkField('hadamard', 'Fast rotation: signs and Hadamard transforms', settings.rotation === 'hadamard', (fast) => set({ rotation: fast ? 'hadamard' : 'gaussian' }))}
    ${checkField('shared', 'Shared QK: keys are the normalised queries', settings.shared, (shared) => set({ shared }))}
    ${checkField('trueBuckets', 'True buckets: the whole bucket, no chunks', settings.trueBuckets, (trueBuckets) => set({ trueBuckets }))}`;
}

export function controls(state: State, dispatch: Dispatch): TemplateResult {
  const set: Set = (settings) => dispatch({ type: 'set', settings });
  const changed = JSON.stringify(state.wish.settings) !== JSON.stringify(defaultSettings);
  return html`
    <section class="card controls" aria-labelledby="controls-title">
      <h2 id="controls-title">Controls</h2>
      ${headFields(state, dispatch)}
      ${attentionFields(state, set, dispatch)}
      ${hashFields(state, set)}
      ${changed ? html`<button type="button" class="quiet" @click=${() => set(defaultSettings)}>Back to the defaults</button>` : nothing}
    </section>`;
}

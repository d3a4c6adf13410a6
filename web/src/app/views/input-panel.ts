// The three ways in: samples, text, tensors.

import { html, nothing } from 'lit';
import type { TemplateResult } from 'lit';
import { guessTensors, usableTensors } from '../../explore/guess-tensors.ts';
import type { TensorChoice } from '../../explore/guess-tensors.ts';
import { formatCount, formatShape } from '../../model/format.ts';
import type { FileInput, InputKind, TextInput } from '../../explore/wish.ts';
import type { State } from '../state.ts';
import type { Dispatch } from '../store.ts';
import { checkField, numberField, segments, selectField } from '../../element/fields.ts';

export interface InputActions {
  openFile(file: File): void;
}

const panels: readonly (readonly [InputKind, string])[] = [['sample', 'Samples'], ['text', 'Text'], ['file', 'Tensors']];

/** How long typing pauses before the text is attended to. */
const typingPauseMs = 500;
let typing: ReturnType<typeof setTimeout> | undefined;

function samplesPanel({ samples, wish: { input } }: State, dispatch: Dispatch): TemplateResult {
  const chosen = input === null ? samples[0]?.id : input.kind === 'sample' ? input.id : undefined;
  return html`
    <ul class="samples">
      ${samples.map(({ id, title, description, detail }) => html`
        <li>
          <button type="button" class="sample" data-sample=${id} aria-pressed=${id === chosen ? 'true' : 'false'}
            @click=${() => dispatch({ type: 'choose-input', input: { kind: 'sample', id } })}>
            <strong>${title}</strong>
            ${id === chosen ? html`<span>${description}</span><small>${detail}</small>` : nothing}
          </button>
        </li>`)}
    </ul>`;
}

function textPanel({ textDraft: draft, texts, problem, wish: { input } }: State, dispatch: Dispatch): TemplateResult {
  const attend = () => {
    clearTimeout(typing);
    dispatch({ type: 'attend-to-draft' });
  };
  const choose = (change: Partial<TextInput>) => {
    dispatch({ type: 'draft', draft: change });
    attend();
  };
  const typed = (event: Event) => {
    dispatch({ type: 'draft', draft: { text: (event.target as HTMLTextAreaElement).value } });
    clearTimeout(typing);
    typing = setTimeout(attend, typingPauseMs);
  };
  const whole = (value: number | null) => value ?? 0;
  const example = (event: Event) => {
    const field = event.target as HTMLSelectElement;
    const chosen = texts[Number(field.value)];
    field.value = '';
    if (chosen !== undefined) choose({ text: chosen.text });
  };
  return html`
    <label class="field">
      <span>Start from an example</span>
      <select name="example" @change=${example}>
        <option value="">choose …</option>
        ${texts.map(({ title, source }, i) => html`<option value=${i}>${title} (${source})</option>`)}
      </select>
    </label>
    <label class="field text">
      <span>Text, in any language</span>
      <textarea name="text" rows="6" dir="auto" spellcheck="false" .value=${draft.text} @input=${typed}></textarea>
    </label>
    ${segments('split', 'Split into', [['bpe', 'BPE tokens'], ['characters', 'characters'], ['words', 'words']], draft.split, (split) => choose({ split }))}
    <div class="fields">
      ${numberField({ name: 'text-heads', label: 'Heads', value: draft.heads, min: 1, change: (heads) => choose({ heads: whole(heads) }) })}
      ${numberField({ name: 'text-dim', label: 'Head width', value: draft.headDim, min: 1, change: (headDim) => choose({ headDim: whole(headDim) }) })}
      ${numberField({ name: 'text-seed', label: 'Embedding seed', value: draft.seed, min: 0, change: (seed) => choose({ seed: whole(seed) }) })}
    </div>
    ${checkField('text-positions', 'Add sinusoidal positions', draft.positions, (positions) => choose({ positions }))}
    ${input?.kind === 'text'
      ? html`<p class="hint">${problem?.title === 'Your text' ? problem.description : ''}</p>`
      : html`<p class="hint">Queries, keys and values are seeded random projections of seeded random embeddings: untrained, and the same token always gets the same vector.</p>
          <button type="button" @click=${attend}>Attend to this text</button>`}`;
}

function tensorChoice(file: NonNullable<State['file']>, input: FileInput, dispatch: Dispatch): TemplateResult {
  const usable = usableTensors(file.tensors).map(({ name, shape }) => [name, `${name} ${formatShape(shape)}`] as const);
  const choose = (change: Partial<TensorChoice>) => dispatch({ type: 'choose-input', input: { ...input, ...change } });
  return html`
    <div class="fields wide">
      ${selectField('tensor-query', 'Query', usable, input.query, (query) => choose({ query }))}
      ${selectField('tensor-key', 'Key', [['', 'the query’s tensor'], ...usable], input.key, (key) => choose({ key }))}
      ${selectField('tensor-value', 'Value', [['', 'the key’s tensor'], ...usable], input.value, (value) => choose({ value }))}
    </div>`;
}

function filePanel({ file, wish: { input } }: State, dispatch: Dispatch, actions: InputActions): TemplateResult {
  const picked = (event: Event) => {
    const field = event.target as HTMLInputElement;
    const chosen = field.files?.[0];
    if (chosen !== undefined) actions.openFile(chosen);
    // The same file may be chosen again after it has changed.
    field.value = '';
  };
  const guess = file === null ? null : guessTensors(file.tensors);
  return html`
    <label class="drop">
      <input type="file" name="file" accept=".npy,.npz,.safetensors" @change=${picked}>
      <span><strong>Choose a file</strong> or drop one anywhere on the page</span>
      <small>.npy, .npz or .safetensors; [N, d], [heads, N, d] or [batch, heads, N, d]. It never leaves your machine.</small>
    </label>
    ${file === null ? nothing : html`
      ${guess === null
        ? html`<p class="hint">No tensor of ${file.name} has two to four axes.</p>`
        : tensorChoice(file, input?.kind === 'file' && input.name === file.name ? input : { kind: 'file', name: file.name, ...guess }, dispatch)}
      <details class="tensors" open>
        <summary>${file.name}: ${formatCount(file.tensors.length)} ${file.tensors.length === 1 ? 'tensor' : 'tensors'}</summary>
        <div class="scroll" tabindex="0" role="region" aria-label="Tensors of the file">
          <table>
            <thead><tr><th scope="col">name</th><th scope="col">shape</th><th scope="col">type</th></tr></thead>
            <tbody>
              ${file.tensors.map(({ name, shape, dtype, reason }) => html`
                <tr><th scope="row">${name}</th><td>${formatShape(shape)}</td><td>${dtype}${reason === undefined ? nothing : html` <em>${reason}</em>`}</td></tr>`)}
            </tbody>
          </table>
        </div>
      </details>`}`;
}

export function inputPanel(state: State, dispatch: Dispatch, actions: InputActions): TemplateResult {
  const { panel } = state;
  const choose = (next: InputKind) => dispatch({ type: 'open-panel', panel: next });
  const keyed = (event: KeyboardEvent) => {
    const step = event.key === 'ArrowRight' ? 1 : event.key === 'ArrowLeft' ? panels.length - 1 : 0;
    if (step === 0) return;
    const next = panels[(panels.findIndex(([kind]) => kind === panel) + step) % panels.length]![0];
    choose(next);
    (event.currentTarget as HTMLElement).querySelector<HTMLElement>(`[data-panel="${next}"]`)?.focus();
  };
  return html`
    <section class="card input" aria-labelledby="input-title">
      <h2 id="input-title">What attends</h2>
      <div class="tabs" role="tablist" aria-label="Ways in" @keydown=${keyed}>
        ${panels.map(([kind, label]) => html`
          <button type="button" role="tab" id=${`tab-${kind}`} data-panel=${kind} aria-controls="input-panel"
            aria-selected=${kind === panel ? 'true' : 'false'} tabindex=${kind === panel ? 0 : -1} @click=${() => choose(kind)}>${label}</button>`)}
      </div>
      <div id="input-panel" role="tabpanel" aria-labelledby=${`tab-${panel}`}>
        ${panel === 'sample' ? samplesPanel(state, dispatch) : panel === 'text' ? textPanel(state, dispatch) : filePanel(state, dispatch, actions)}
      </div>
    </section>`;
}

// The panel that writes what an author pastes elsewhere.

import { html, nothing } from 'lit';
import type { TemplateResult } from 'lit';
import { segments, selectField } from '../../element/fields.ts';
import { frameAddress, isSelfContained, snippetsOf, titleOf } from '../../explore/snippets.ts';
import type { Embedding, Show } from '../../explore/snippets.ts';
import type { Sharing, State } from '../state.ts';
import type { Dispatch } from '../store.ts';

export interface ShareActions {
  copyText(text: string): void;
}

const shows: readonly (readonly [Show, string])[] = [
  ['attention', 'One map'], ['lsh', 'Exact and LSH, with figures'], ['buckets', 'The buckets of a round'], ['cell', 'The arithmetic of a cell'],
];

/** Where this page is, without what stands behind "?" and "#". */
function siteOf(): string {
  return new URL('./', location.href.replace(/[?#].*$/, '')).href;
}

export function embeddingOf({ wish, samples }: State, { show, mechanism }: Sharing): Embedding {
  const { input } = wish;
  const site = siteOf();
  const sample = input === null ? samples[0] : input.kind === 'sample' ? samples.find(({ id }) => id === input.id) : undefined;
  const src = sample !== undefined ? new URL(`samples/${sample.file}`, site).href : input?.kind === 'file' ? `ADDRESS-OF/${input.name}` : '';
  return { site, show, mechanism, wish, src, title: titleOf(wish, sample?.title ?? 'attention') };
}

export function sharePanel(state: State, dispatch: Dispatch, actions: ShareActions): TemplateResult {
  const { sharing, wish } = state;
  const close = () => dispatch({ type: 'share', sharing: null });
  const choose = (change: Partial<Sharing>) => dispatch({ type: 'share', sharing: { ...sharing!, ...change } });
  const embedding = sharing === null ? null : embeddingOf(state, sharing);
  const snippets = embedding === null ? [] : snippetsOf(embedding);
  const chosen = snippets.find(({ id }) => id === sharing?.snippet);
  return html`
    <dialog class="share-panel" aria-labelledby="share-title" @close=${close}>
      ${sharing === null || chosen === undefined ? nothing : html`
        <div class="panel-bar"><h2 id="share-title">Embed what you see</h2><button type="button" class="quiet" @click=${close}>Close</button></div>
        ${isSelfContained(wish) ? nothing : html`<p class="message error">Your file stays on your machine: put it on a web server and write its address in place of ADDRESS-OF.</p>`}
        <div class="fields">
          ${selectField<Show>('share-show', 'Show', shows, sharing.show, (show) => choose({ show }))}
          ${sharing.show === 'attention' || sharing.show === 'lsh' ? segments('share-mechanism', sharing.show === 'lsh' ? 'First on a phone' : 'Weights', [['exact', 'exact'], ['lsh', 'LSH'], ['difference', 'difference']], sharing.mechanism, (mechanism) => choose({ mechanism })) : nothing}
        </div>
        ${segments('share-snippet', 'For', snippets.map(({ id, title }) => [id, title] as const), sharing.snippet, (snippet) => choose({ snippet }))}
        <pre tabindex="0" aria-label=${`Snippet for ${chosen.title}`}><code>${chosen.code}</code></pre>
        <p class="copy-line"><button type="button" class="primary" @click=${() => actions.copyText(chosen.code)}>Copy</button> <span class="hint" role="status">${state.messages.find(({ topic }) => topic === 'link')?.text ?? nothing}</span></p>
        <p class="hint note">${chosen.note}</p>
        ${isSelfContained(wish) ? html`<iframe class="preview" src=${frameAddress(embedding!)} title="Preview" sandbox="allow-scripts allow-popups"></iframe>` : nothing}`}
    </dialog>`;
}

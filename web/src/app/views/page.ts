// The whole page as one template.

import { html, nothing } from 'lit';
import type { TemplateResult } from 'lit';
import readme from '../../../../README.md?url&no-inline';
import type { State } from '../state.ts';
import type { Dispatch } from '../store.ts';
import { fitsInLink } from '../../explore/url-state.ts';
import { controls } from './controls.ts';
import { segments } from '../../element/fields.ts';
import { figures } from './figures.ts';
import { arithmeticFrame, bucketFrame } from './inspector-frames.ts';
import { inputPanel } from './input-panel.ts';
import type { InputActions } from './input-panel.ts';
import { picturesFrame } from './pictures-frame.ts';
import type { PictureActions } from './pictures-frame.ts';
import { sharePanel } from './share-panel.ts';
import type { ShareActions } from './share-panel.ts';
import { tokenStrip } from './tokens.ts';

export interface PageActions extends InputActions, PictureActions, ShareActions {
  copyLink(): void;
}

function messages(state: State, dispatch: Dispatch): TemplateResult {
  return html`
    <div class="messages" role="status" aria-live="polite">
      ${state.messages.map(({ topic, tone, text }) => html`
        <p class="message ${tone}" data-topic=${topic}><span>${text}</span>
          <button type="button" aria-label="Dismiss" @click=${() => dispatch({ type: 'unsay', topic })}>×</button></p>`)}
    </div>`;
}

function linkNote({ wish: { input } }: State): TemplateResult | typeof nothing {
  if (fitsInLink(input)) return nothing;
  return html`<span class="hint">${input?.kind === 'file' ? 'A link cannot hold your file: whoever opens it has to drop the same one.' : 'This text is too long for a link; the link holds the settings only.'}</span>`;
}

export function page(state: State, dispatch: Dispatch, actions: PageActions): TemplateResult {
  const { theme } = state.wish.look;
  return html`
    <a class="skip" href="#pictures" @click=${(event: Event) => { event.preventDefault(); document.getElementById('pictures')!.focus(); }}>Skip to the pictures</a>
    <header class="masthead">
      <div>
        <h1>heed</h1>
        <p>Attention you can run, see and measure: exact on the left, through locality-sensitive hashing on the right, and between them what hashing changed. Everything is computed in this tab.</p>
      </div>
      <div class="masthead-tools">
        ${segments('theme', 'Theme', [['auto', 'auto'], ['light', 'light'], ['dark', 'dark']], theme, (next) => dispatch({ type: 'look', look: { theme: next } }))}
        <button type="button" class="copy" @click=${actions.copyLink}>Copy link</button>
        <button type="button" class="share" @click=${() => dispatch({ type: 'share', sharing: { show: 'lsh', mechanism: state.wish.look.picture, snippet: 'html' } })}>Embed…</button>
        ${linkNote(state)}
      </div>
    </header>
    <div class="layout">
      <div class="side">
        ${inputPanel(state, dispatch, actions)}
        ${controls(state, dispatch)}
      </div>
      <main>
        ${messages(state, dispatch)}
        ${picturesFrame(state, dispatch, actions)}
        ${arithmeticFrame(state, dispatch)}
        ${figures(state)}
        ${bucketFrame(state, dispatch)}
        ${tokenStrip(state, dispatch)}
      </main>
    </div>
    <footer>
      <p>heed is free software under the <a href="https://www.apache.org/licenses/LICENSE-2.0">Apache License 2.0</a>: <a href=${readme}>what it is and how to use it in your own programs</a>. The bundled samples have <a href="samples/NOTICE.md">notices of their own</a>. BPE tokens: gpt-tokenizer (MIT), the o200k encoding.</p>
    </footer>
    ${sharePanel(state, dispatch, actions)}`;
}

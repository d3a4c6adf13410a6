// The frame around the three maps: tools, progress, titles, captions, exports, and the read-out.

import { html, nothing } from 'lit';
import type { TemplateResult } from 'lit';
import type { WeightKind } from '../../core/types.ts';
import { formatNumber, formatWeight } from '../../model/format.ts';
import { pictureKinds, pictureTitles } from '../pictures.ts';
import type { ExportFormat } from '../pictures.ts';
import type { Progress } from '../../explore/problem.ts';
import type { State } from '../state.ts';
import type { Dispatch } from '../store.ts';
import { segments } from './fields.ts';

export interface PictureActions {
  export(kind: WeightKind, format: ExportFormat): void;
  cancel(): void;
  compute(): void;
}

const lookFor: Readonly<Record<WeightKind, string>> = {
  exact: 'Rows are queries, columns keys. A strong column is a key that many attend to, a strong diagonal the neighbourhood.',
  difference: 'Below zero: keys that hashing missed. Above zero: keys it found, which share what the missed ones lost.',
  lsh: 'The same colours as exact. Gaps are keys that never shared a chunk with their query: raise the rounds and watch them fill.',
};

const steps: Readonly<Record<Progress['step'], string>> = { loading: 'Loading', exact: 'Computing exact attention', lsh: 'Computing LSH attention', measuring: 'Measuring' };
const formats: readonly ExportFormat[] = ['png', 'svg', 'csv'];

function progressLine({ progress, problem, results }: State, actions: PictureActions): TemplateResult | typeof nothing {
  if (progress !== null) {
    const percent = Math.round(progress.fraction * 100);
    return html`
      <div class="progress">
        <span>${steps[progress.step]}${progress.fraction > 0 ? ` ${percent} %` : ''}</span>
        ${progress.fraction > 0
          ? html`<progress max="100" .value=${percent} aria-label=${steps[progress.step]}></progress>`
          : html`<progress aria-label=${steps[progress.step]}></progress>`}
        <button type="button" @click=${actions.cancel}>Cancel</button>
      </div>`;
  }
  return problem !== null && results === null ? html`<div class="progress"><button type="button" class="primary" @click=${actions.compute}>Compute</button></div>` : nothing;
}

const hiddenBecause = {
  nothing: '', keyMask: 'hidden position', mask: 'mask', bias: 'bias', causal: 'causal', window: 'window', self: 'its own position',
} as const;

function readOutLine({ readOut, results, problem }: State): TemplateResult {
  if (readOut === null || problem === null || readOut.lshVersion !== results?.lshVersion) {
    return html`<p class="read-out" aria-live="polite"><span class="hint">Point at a cell, or focus a picture and use the arrow keys. Enter or a click shows the arithmetic.</span></p>`;
  }
  const { cell: { row, column }, arithmetic: { exact, lsh, hiddenBy } } = readOut;
  const missed = hiddenBy === 'nothing' && !lsh.candidate ? ' (never met)' : '';
  return html`
    <p class="read-out" aria-live="polite">
      <span class="cell">query <b>${row}</b> <bdi>“${problem.queryTokens[row]}”</bdi> → key <b>${column}</b> <bdi>“${problem.keyTokens[column]}”</bdi></span>
      ${hiddenBy === 'nothing' ? html`
        <span>exact <b data-read="exact">${formatWeight(exact.weight)}</b> <small>rank ${exact.rank}</small></span>
        <span>LSH <b data-read="lsh">${formatWeight(lsh.weight)}</b> <small>${lsh.candidate ? `rank ${lsh.rank}, round ${lsh.round + 1}` : 'never met'}</small></span>
        <span title=${missed}>difference <b data-read="difference">${formatNumber(lsh.weight - exact.weight)}</b></span>`
        : html`<span>not seen: ${hiddenBecause[hiddenBy]}</span>`}
    </p>`;
}

function frame(kind: WeightKind, { results, wish: { look } }: State, actions: PictureActions): TemplateResult {
  return html`
    <figure class="picture ${look.picture === kind ? 'chosen' : ''}" data-kind=${kind}>
      <figcaption>
        <h3>${pictureTitles[kind]}</h3>
        <p class="look-for">${lookFor[kind]}</p>
      </figcaption>
      <div class="map" data-host=${`map-${kind}`}></div>
      <div class="bar" data-host=${`bar-${kind}`}></div>
      <p class="caption" data-host=${`caption-${kind}`}></p>
      <div class="exports" role="group" aria-label=${`Save ${pictureTitles[kind]}`}>
        ${formats.map((format) => html`
          <button type="button" class="quiet" data-export=${`${kind}-${format}`} ?disabled=${results === null}
            aria-label=${`Save ${pictureTitles[kind]} as ${format.toUpperCase()}`} @click=${() => actions.export(kind, format)}>${format.toUpperCase()}</button>`)}
      </div>
    </figure>`;
}

export function picturesFrame(state: State, dispatch: Dispatch, actions: PictureActions): TemplateResult {
  const { problem, results, headResults, wish: { look } } = state;
  const stale = results === null || headResults === null || headResults.lshVersion !== results.lshVersion || headResults.head !== look.head || headResults.batch !== look.batch;
  return html`
    <section class="pictures" id="pictures" tabindex="-1" aria-labelledby="pictures-title" aria-busy=${state.progress !== null || (stale && results !== null) ? 'true' : 'false'} data-stale=${stale ? 'true' : 'false'}>
      <header>
        <h2 id="pictures-title">${problem?.title ?? 'Attention'}${problem !== null && problem.shape.heads > 1 ? html` <small>head ${look.head}</small>` : nothing}</h2>
        <div class="tools">
          ${segments('reduction', 'Coarse cells', [['peak', 'peak'], ['mean', 'mean']], look.reduction, (reduction) => dispatch({ type: 'look', look: { reduction } }))}
          ${segments('transform', 'Colours', [['log', 'log'], ['linear', 'linear']], look.transform, (transform) => dispatch({ type: 'look', look: { transform } }))}
          <button type="button" class="quiet" ?disabled=${look.view === null} @click=${() => dispatch({ type: 'look', look: { view: null } })}>Whole map</button>
        </div>
      </header>
      <div class="status">${progressLine(state, actions)}</div>
      <div class="which">
        ${segments('picture', 'Picture', pictureKinds.map((kind) => [kind, kind === 'exact' ? 'Exact' : kind === 'lsh' ? 'LSH' : 'Difference'] as const), look.picture, (picture) => dispatch({ type: 'look', look: { picture } }))}
      </div>
      <div class="row">${pictureKinds.map((kind) => frame(kind, state, actions))}</div>
      ${readOutLine(state)}
    </section>`;
}

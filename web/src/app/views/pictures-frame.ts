// The frame around the three maps: tools, progress, titles, captions, exports, and the read-out.

import { html, nothing } from 'lit';
import type { TemplateResult } from 'lit';
import type { WeightKind } from '../../core/types.ts';
import { exportFormats, pictureHints, pictureKinds, pictureTitles } from '../../element/picture.ts';
import type { ExportFormat } from '../../element/picture.ts';
import { progressBar } from '../../element/progress.ts';
import { readOutLine } from '../../element/read-out.ts';
import type { State } from '../state.ts';
import type { Dispatch } from '../store.ts';
import { segments } from '../../element/fields.ts';

export interface PictureActions {
  export(kind: WeightKind, format: ExportFormat): void;
  cancel(): void;
  compute(): void;
}

function progressLine({ progress, problem, results }: State, actions: PictureActions): TemplateResult | typeof nothing {
  if (progress !== null) return progressBar(progress, actions.cancel);
  return problem !== null && results === null ? html`<div class="progress"><button type="button" class="primary" @click=${actions.compute}>Compute</button></div>` : nothing;
}

function frame(kind: WeightKind, { results, wish: { look } }: State, actions: PictureActions): TemplateResult {
  return html`
    <figure class="picture ${look.picture === kind ? 'chosen' : ''}" data-kind=${kind}>
      <figcaption>
        <h3>${pictureTitles[kind]}</h3>
        <p class="look-for">${pictureHints[kind]}</p>
      </figcaption>
      <div class="map" data-host=${`map-${kind}`}></div>
      <div class="bar" data-host=${`bar-${kind}`}></div>
      <p class="caption" data-host=${`caption-${kind}`}></p>
      <div class="exports" role="group" aria-label=${`Save ${pictureTitles[kind]}`}>
        ${exportFormats.map((format) => html`
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
      ${readOutLine(state.readOut?.lshVersion === results?.lshVersion ? state.readOut : null, problem)}
    </section>`;
}

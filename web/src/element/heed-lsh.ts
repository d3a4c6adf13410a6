// <heed-lsh>: exact attention, LSH attention and their difference, with what hashing kept and cost. Where
// there is no room for three maps, one of them.

import { html } from 'lit';
import type { TemplateResult } from 'lit';
import type { WeightKind } from '../core/types.ts';
import { figuresOf } from '../explore/figures.ts';
import type { Wish } from '../explore/wish.ts';
import type { Findings } from './exploration.ts';
import { segments } from './fields.ts';
import { figureList } from './figures.ts';
import { pictureKinds } from './picture.ts';
import { PicturesElement } from './pictures-base.ts';
import { lshSentence, mapSummary } from './summary.ts';

const names: Readonly<Record<WeightKind, string>> = { exact: 'Exact', difference: 'Difference', lsh: 'LSH' };

/**
 * Exact attention, LSH attention and their difference, with what hashing kept and cost.
 *
 * @element heed-lsh
 */
export class HeedLsh extends PicturesElement {
  protected override kinds(): readonly WeightKind[] {
    return pictureKinds;
  }

  protected override usesHashing(): boolean {
    return true;
  }

  protected override summary(findings: Findings, { look }: Wish): string {
    return `${mapSummary(findings, { ...look, picture: 'exact' })} ${lshSentence(findings)}`;
  }

  protected override body(findings: Findings, wish: Wish): TemplateResult {
    const choices = pictureKinds.map((kind) => [kind, names[kind]] as const);
    return html`
      <div class="after three">
        <div class="which">${segments('picture', 'Picture', choices, wish.look.picture, (kind) => this.change('picture', kind))}</div>
        ${this.maps(findings, wish)}
        <div class="figures">${figureList(figuresOf(findings.results))}</div>
      </div>`;
  }
}

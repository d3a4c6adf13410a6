// <heed-attention>: one map of attention weights.

import type { TemplateResult } from 'lit';
import type { WeightKind } from '../core/types.ts';
import type { Wish } from '../explore/wish.ts';
import type { Findings } from './exploration.ts';
import { PicturesElement } from './pictures-base.ts';
import { mapSummary } from './summary.ts';

/**
 * One map of attention weights.
 *
 * @element heed-attention
 * @attr {exact|lsh|difference} mechanism - whose weights are shown
 */
export class HeedAttention extends PicturesElement {
  protected override kinds({ look }: Wish): readonly WeightKind[] {
    return [look.picture];
  }

  protected override usesHashing({ look }: Wish): boolean {
    return look.picture !== 'exact';
  }

  protected override summary(findings: Findings, { look }: Wish): string {
    return mapSummary(findings, look);
  }

  protected override body(findings: Findings, wish: Wish): TemplateResult {
    return this.maps(findings, wish);
  }
}

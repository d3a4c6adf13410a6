// <heed-buckets>: how a round of hashing sorts keys into buckets and chunks, and which of them a query
// meets. The query is that of the attribute cell.

import { html } from 'lit';
import type { TemplateResult } from 'lit';
import { HeedError } from '../core/errors.ts';
import type { LshStructure } from '../core/types.ts';
import type { Wish } from '../explore/wish.ts';
import { bucketStrip, windowOf } from '../marks/bucket-strip.ts';
import { toCsv } from '../model/csv.ts';
import type { Findings } from './exploration.ts';
import { numberField, selectField } from './fields.ts';
import { HeedElementBase } from './heed-element.ts';
import type { ExportFormat } from './picture.ts';
import { lshSentence } from './summary.ts';

/**
 * How a round of hashing sorts keys into buckets and chunks, and what a query meets.
 *
 * @element heed-buckets
 */
export class HeedBuckets extends HeedElementBase {
  protected override readonly exports = false;
  #strip: ReturnType<typeof bucketStrip> | null = null;
  #structure: { readonly key: string; readonly structure: LshStructure } | null = null;

  /** CSV alone: position, bucket and place in sorted order of each key. */
  async export(format: ExportFormat): Promise<Blob> {
    const structure = this.#structure?.structure;
    if (structure === undefined || format !== 'csv') {
      throw new HeedError({ code: 'invalid-value', field: 'format', received: format, expected: 'csv, after the event "ready"' });
    }
    const place = new Map(Array.from(structure.keyOrder, (key, at) => [key, at]));
    const rows = Array.from(structure.keyBuckets, (bucket, key) => [key, this.findings!.results.problem.keyTokens[key] ?? '', bucket, place.get(key)!, Math.floor(place.get(key)! / structure.keyChunk)]);
    return new Blob([toCsv(['key', 'token', 'bucket', 'place', 'chunk'], rows)], { type: 'text/csv' });
  }

  protected override usesHashing(): boolean {
    return true;
  }

  protected override body(findings: Findings, { look }: Wish): TemplateResult {
    const { parameters, problem } = findings.results;
    const rounds = Array.from({ length: parameters.rounds }, (_, i) => [String(i), `${i + 1} of ${parameters.rounds}`] as const);
    const query = look.selected?.row ?? null;
    return html`
      <p class="summary" part="summary">${this.#summary(findings, query)}</p>
      <div class="settings" role="group" aria-label="What is shown">
        ${selectField('round', 'Round', rounds, String(Math.min(look.round, parameters.rounds - 1)), (round) => this.change('round', round))}
        ${numberField({ name: 'query', label: 'Query', value: query, min: 0, placeholder: 'none', title: `0 to ${problem.shape.queryLen - 1}`, change: (row) => this.change('cell', row === null ? null : `${row},0`) })}
        <span class="hint">${query === null ? 'Choose a query to see which keys it meets.' : html`<bdi>“${problem.queryTokens[query]}”</bdi> may see what the frame holds, in this round.`}</span>
      </div>
      <div class="scrolls"><div class="host strip"></div></div>`;
  }

  protected override draw(findings: Findings, wish: Wish): void {
    void this.#show(findings, wish);
  }

  protected override clear(): void {
    this.#strip?.dispose();
    [this.#strip, this.#structure] = [null, null];
  }

  async #show({ results }: Findings, { look, settings }: Wish): Promise<void> {
    const { head, batch } = look;
    const round = Math.min(look.round, results.parameters.rounds - 1);
    const key = JSON.stringify([results.lshVersion, head, batch, round]);
    try {
      if (this.#structure?.key !== key) {
        const structure = await this.exploration!.structure({ head, batch, round });
        if (this.findings?.results !== results) return;
        this.#structure = { key, structure };
        this.requestUpdate();
      }
      this.#strip ??= bucketStrip(this.renderRoot.querySelector<HTMLElement>('.strip')!);
      this.#strip.update({
        structure: this.#structure.structure, buckets: results.parameters.buckets, trueBuckets: settings.trueBuckets,
        query: look.selected?.row ?? null, keyLabel: (key) => results.problem.keyTokens[key] ?? '', theme: this.shade,
      });
    } catch (error) {
      this.fail(error);
    }
  }

  #summary(findings: Findings, query: number | null): string {
    const { results: { problem, parameters, settings } } = findings;
    const structure = this.#structure?.structure;
    let met = '';
    if (query !== null && structure !== undefined) {
      const [begin, end] = windowOf({ structure, buckets: parameters.buckets, trueBuckets: settings.trueBuckets }, query);
      met = ` Query ${query} “${problem.queryTokens[query] ?? ''}” meets ${end - begin} keys in this round.`;
    }
    return `${problem.shape.keyLen} keys sorted into ${parameters.buckets} buckets and chunks of ${parameters.chunk}.${met} ${lshSentence(findings)}`;
  }
}

// <heed-cell>: the whole arithmetic of one weight, from the dot product to its share of the context,
// exact beside LSH. Without the attribute cell, that of the strongest weight.

import { html } from 'lit';
import type { TemplateResult } from 'lit';
import { HeedError } from '../core/errors.ts';
import { defaultScale } from '../explore/options.ts';
import type { Wish } from '../explore/wish.ts';
import { cellArithmetic } from '../marks/cell-arithmetic.ts';
import { toCsv } from '../model/csv.ts';
import type { CellIndex } from '../model/view.ts';
import type { Findings } from './exploration.ts';
import { numberField } from './fields.ts';
import { HeedElementBase } from './heed-element.ts';
import type { ExportFormat } from './picture.ts';

function cellOf({ strongest }: Findings, { look }: Wish): CellIndex {
  return look.selected ?? strongest[0] ?? { row: 0, column: 0 };
}

/**
 * The whole arithmetic of one weight.
 *
 * @element heed-cell
 */
export class HeedCell extends HeedElementBase {
  protected override readonly exports = false;

  /** CSV alone: the products of query and key, and the contributions under both mechanisms. */
  async export(format: ExportFormat): Promise<Blob> {
    const { findings, wish, exploration } = this;
    if (format !== 'csv' || findings === null || wish === null || exploration === null) {
      throw new HeedError({ code: 'invalid-value', field: 'format', received: format, expected: 'csv, after the event "ready"' });
    }
    const { row, column } = cellOf(findings, wish);
    const { products, exact, lsh } = await exploration.cell({ head: wish.look.head, batch: wish.look.batch, query: row, key: column });
    const length = Math.max(products.length, exact.contribution.length);
    const rows = Array.from({ length }, (_, i) => [i, products[i] ?? '', exact.contribution[i] ?? '', lsh.contribution[i] ?? '']);
    return new Blob([toCsv(['index', 'query times key', 'exact weight times value', 'LSH weight times value'], rows)], { type: 'text/csv' });
  }

  protected override usesHashing(): boolean {
    return true;
  }

  protected override body(findings: Findings, wish: Wish): TemplateResult {
    const { problem: { shape } } = findings.results;
    const { row, column } = cellOf(findings, wish);
    const field = (name: string, label: string, value: number, last: number, cell: (at: number) => string) =>
      numberField({ name, label, value, min: 0, title: `0 to ${last}`, change: (at) => this.change('cell', at === null ? null : cell(at)) });
    return html`
      <div class="settings" role="group" aria-label="The cell">
        ${field('query', 'Query', row, shape.queryLen - 1, (at) => `${at},${column}`)}
        ${field('key', 'Key', column, shape.keyLen - 1, (at) => `${row},${at}`)}
      </div>
      <div class="scrolls arithmetic host" tabindex="0" role="region" aria-label="The arithmetic of the cell"></div>`;
  }

  protected override draw(findings: Findings, wish: Wish): void {
    void this.#show(findings, wish);
  }

  protected override clear(): void {}

  async #show(findings: Findings, wish: Wish): Promise<void> {
    const { row, column } = cellOf(findings, wish);
    const { head, batch } = wish.look;
    try {
      const arithmetic = await this.exploration!.cell({ head, batch, query: row, key: column });
      const host = this.renderRoot.querySelector<HTMLElement>('.arithmetic');
      if (host === null || this.findings !== findings) return;
      const { problem } = findings.results;
      cellArithmetic(host).update({
        arithmetic, query: row, key: column, queryLabel: problem.queryTokens[row] ?? '', keyLabel: problem.keyTokens[column] ?? '',
        scale: wish.settings.scale ?? defaultScale(problem.shape), softCap: wish.settings.softCap, theme: this.shade,
      });
    } catch (error) {
      this.fail(error);
    }
  }
}

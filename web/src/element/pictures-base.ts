// Elements that show maps: one picture a kind, linked with each other, with a read-out below and the
// arithmetic of a chosen cell over them.

import { html, nothing } from 'lit';
import type { TemplateResult } from 'lit';
import type { CellArithmetic, WeightKind } from '../core/types.ts';
import { defaultScale } from '../explore/options.ts';
import type { Wish } from '../explore/wish.ts';
import { cellArithmetic } from '../marks/cell-arithmetic.ts';
import type { CellIndex, View } from '../model/view.ts';
import type { Findings } from './exploration.ts';
import { HeedElementBase } from './heed-element.ts';
import { Picture, pictureTitles } from './picture.ts';
import type { ExportFormat, PictureState } from './picture.ts';
import { readOutLine } from './read-out.ts';
import { HeedError } from '../core/errors.ts';

export abstract class PicturesElement extends HeedElementBase {
  readonly #pictures = new Map<WeightKind, Picture>();
  #drawn: readonly unknown[] = [];
  #hover: CellIndex | null = null;
  #readOut: { readonly cell: CellIndex; readonly arithmetic: CellArithmetic } | null = null;
  /** Moved by the reader, away from what the attribute says. */
  #view: { readonly of: View | null; readonly moved: View } | null = null;
  #explained: { readonly key: string; readonly arithmetic: CellArithmetic } | null = null;

  /** The kinds in view. */
  protected abstract kinds(wish: Wish): readonly WeightKind[];
  protected abstract summary(findings: Findings, wish: Wish): string;

  export(format: ExportFormat, picture?: WeightKind): Promise<Blob> {
    const found = picture === undefined ? [...this.#pictures.values()][0] : this.#pictures.get(picture);
    if (found === undefined) {
      return Promise.reject(new HeedError({ code: 'invalid-value', field: 'picture', received: picture ?? 'none', expected: [...this.#pictures.keys()].join(', ') || 'a call after the event "ready"' }));
    }
    return found.export(format);
  }

  /** The maps, the read-out, and the arithmetic when a cell is chosen. */
  protected maps(findings: Findings, wish: Wish): TemplateResult {
    const { problem } = findings.results;
    const { selected } = wish.look;
    return html`
      <p class="summary" part="summary">${this.summary(findings, wish)}</p>
      <div class="row">
        ${this.kinds(wish).map((kind) => html`
          <figure class="picture ${kind === wish.look.picture ? 'chosen' : ''}" part="picture" data-kind=${kind}>
            <figcaption class="title">${pictureTitles[kind]}</figcaption>
            <div class="map"></div>
            <div class="bar"></div>
            <p class="caption"></p>
          </figure>`)}
      </div>
      ${readOutLine(this.#readOut, problem)}
      ${selected === null ? nothing : html`
        <div class="over" part="arithmetic" @keydown=${(event: KeyboardEvent) => { if (event.key === 'Escape') this.change('cell', null); }}>
          <div class="over-bar"><p class="title">The arithmetic of a cell</p><button type="button" class="quiet" @click=${() => this.change('cell', null)}>Close</button></div>
          <div class="scrolls arithmetic host"></div>
        </div>`}`;
  }

  protected override draw(findings: Findings, wish: Wish): void {
    const look = { ...wish.look, view: this.#view !== null && this.#view.of === wish.look.view ? this.#view.moved : wish.look.view };
    const wanted = this.kinds(wish);
    for (const [kind, picture] of this.#pictures) {
      if (wanted.includes(kind)) continue;
      picture.dispose();
      this.#pictures.delete(kind);
    }
    const drawn = [findings, wish, this.shade];
    const fresh = drawn.some((value, i) => value !== this.#drawn[i]);
    this.#drawn = drawn;
    for (const kind of wanted) {
      const state: PictureState = {
        ...findings, look, theme: this.shade, hover: this.#hover,
        fetchTile: (request, signal) => this.exploration!.tile(kind, { ...request, batch: look.batch }, signal),
      };
      const picture = this.#pictures.get(kind);
      if (picture === undefined) this.#pictures.set(kind, this.#make(kind, state));
      else if (fresh) picture.update(state);
      else picture.mark(state);
    }
    if (fresh && this.#hover !== null) void this.#read(this.#hover);
    void this.#explain(findings, wish);
  }

  protected override clear(): void {
    for (const picture of this.#pictures.values()) picture.dispose();
    this.#pictures.clear();
    this.#drawn = [];
    [this.#hover, this.#readOut, this.#view, this.#explained] = [null, null, null, null];
  }

  #make(kind: WeightKind, state: PictureState): Picture {
    const figure = this.renderRoot.querySelector(`[data-kind="${kind}"]`)!;
    const host = (name: string) => figure.querySelector<HTMLElement>(`.${name}`)!;
    const picture = new Picture(kind, { map: host('map'), bar: host('bar'), caption: host('caption') }, state);
    picture.map.on('hover', (hover) => {
      this.#hover = hover;
      void this.#read(hover);
      this.requestUpdate();
    });
    picture.map.on('select', ({ row, column }) => this.change('cell', `${row},${column}`));
    picture.map.on('view', (moved) => {
      this.#view = { of: this.wish?.look.view ?? null, moved };
      this.requestUpdate();
    });
    picture.map.on('error', (error) => this.fail(error));
    return picture;
  }

  async #read(cell: CellIndex | null): Promise<void> {
    const { findings, wish } = this;
    try {
      const { head, batch } = wish!.look;
      const arithmetic = cell === null ? null : await this.exploration!.cell({ head, batch, query: cell.row, key: cell.column });
      if (this.#hover !== cell || this.findings !== findings) return;
      this.#readOut = arithmetic === null ? null : { cell: cell!, arithmetic };
      this.requestUpdate();
    } catch (error) {
      this.fail(error);
    }
  }

  async #explain({ results }: Findings, { look: { selected, head, batch }, settings }: Wish): Promise<void> {
    if (selected === null) {
      this.#explained = null;
      return;
    }
    const key = JSON.stringify([results.lshVersion, results.exactVersion, head, batch, selected, this.shade]);
    if (this.#explained?.key === key) return;
    try {
      const arithmetic = await this.exploration!.cell({ head, batch, query: selected.row, key: selected.column });
      const host = this.renderRoot.querySelector<HTMLElement>('.over .arithmetic');
      if (host === null || this.findings?.results !== results) return;
      const opened = this.#explained === null;
      this.#explained = { key, arithmetic };
      const { problem } = results;
      cellArithmetic(host).update({
        arithmetic, query: selected.row, key: selected.column,
        queryLabel: problem.queryTokens[selected.row] ?? '', keyLabel: problem.keyTokens[selected.column] ?? '',
        scale: settings.scale ?? defaultScale(problem.shape), softCap: settings.softCap, theme: this.shade,
      });
      // Only when a reader chose the cell: a page that opens with one keeps its focus.
      if (opened && this.renderRoot instanceof ShadowRoot && this.renderRoot.activeElement !== null) this.renderRoot.querySelector<HTMLElement>('.over button')?.focus();
    } catch (error) {
      this.fail(error);
    }
  }
}

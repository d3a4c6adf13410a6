// One map with its colour bar and caption, drawn into hosts and fed with results.

import type { WeightKind } from '../core/types.ts';
import { isVast, scaleRows } from '../explore/options.ts';
import type { HeadResults, Results } from '../explore/problem.ts';
import { cellCaption, scalesOf } from '../explore/scales.ts';
import type { Look } from '../explore/wish.ts';
import { colorBar } from '../marks/color-bar.ts';
import { heatMap } from '../marks/heat-map.ts';
import type { HeatMap, HeatMapState } from '../marks/heat-map.ts';
import type { Theme } from '../model/color-scale.ts';
import type { FetchTile } from '../model/tile-pyramid.ts';
import type { CellIndex } from '../model/view.ts';

export const pictureKinds: readonly WeightKind[] = ['exact', 'difference', 'lsh'];
export const pictureTitles: Readonly<Record<WeightKind, string>> = { exact: 'Exact attention', difference: 'LSH minus exact', lsh: 'LSH attention' };
/** What the reader should look for. */
export const pictureHints: Readonly<Record<WeightKind, string>> = {
  exact: 'Rows are queries, columns keys. A strong column is a key that many attend to, a strong diagonal the neighbourhood.',
  difference: 'Below zero: keys that hashing missed. Above zero: keys it found, which share what the missed ones lost.',
  lsh: 'The same colours as exact. Gaps are keys that never shared a chunk with their query: raise the rounds and watch them fill.',
};

export type ExportFormat = 'png' | 'svg' | 'csv';
export const exportFormats: readonly ExportFormat[] = ['png', 'svg', 'csv'];

export interface PictureHosts { readonly map: HTMLElement; readonly bar: HTMLElement; readonly caption: HTMLElement }

export interface PictureState {
  readonly results: Results;
  readonly headResults: HeadResults;
  readonly look: Look;
  readonly theme: Theme;
  readonly hover: CellIndex | null;
  readonly fetchTile: FetchTile;
}

export class Picture {
  readonly map: HeatMap;
  readonly #kind: WeightKind;
  readonly #bar: ReturnType<typeof colorBar>;
  readonly #caption: HTMLElement;
  #state: PictureState;

  constructor(kind: WeightKind, hosts: PictureHosts, state: PictureState) {
    this.#kind = kind;
    this.#state = state;
    this.#caption = hosts.caption;
    const initial = this.#mapState();
    this.map = heatMap(hosts.map, pictureTitles[kind], initial);
    this.#bar = colorBar(hosts.bar, initial.scale, initial.theme, '');
    // Which entries a cell covers also changes with the size of the map.
    this.map.on('level', () => this.#describe());
    this.#describe();
  }

  /** New weights, another head, scale or theme. */
  update(state: PictureState): void {
    this.#state = state;
    this.map.update(this.#mapState());
    this.#describe();
  }

  /** Only what is pointed at, selected or looked at. */
  mark(state: PictureState): void {
    const { results: { problem }, look, hover } = state;
    const moved = look.view !== this.#state.look.view;
    this.#state = state;
    this.map.update({ view: viewOf(look, problem.shape), hover, selected: look.selected });
    if (moved) this.#describe();
  }

  async export(format: ExportFormat): Promise<Blob> {
    await this.map.settled();
    if (format === 'png') return this.map.toPng();
    return format === 'svg' ? new Blob([this.map.toSvg()], { type: 'image/svg+xml' }) : new Blob([await this.map.toCsv()], { type: 'text/csv' });
  }

  dispose(): void {
    this.map.dispose();
    this.#bar.dispose();
  }

  #mapState(): HeatMapState {
    const { results, headResults, look, theme, hover, fetchTile } = this.#state;
    const { problem } = results;
    const scales = scalesOf(headResults, problem.shape.keyLen, look.transform);
    const version = this.#kind === 'exact' ? results.exactVersion : results.lshVersion;
    return {
      rows: problem.shape.queryLen,
      columns: problem.shape.keyLen,
      rowLabel: (i) => problem.queryTokens[i] ?? '',
      columnLabel: (j) => problem.keyTokens[j] ?? '',
      view: viewOf(look, problem.shape),
      reduction: look.reduction,
      scale: this.#kind === 'difference' ? scales.difference : scales.weight,
      theme,
      head: look.head,
      version: `${version} batch ${look.batch}`,
      fetchTile, hover, selected: look.selected,
    };
  }

  #describe(): void {
    const { results: { problem }, headResults, look, theme } = this.#state;
    const scales = scalesOf(headResults, problem.shape.keyLen, look.transform);
    const sampled = isVast(problem.shape) ? `; ends as found in ${scaleRows} queries` : '';
    const family = this.#kind === 'difference' ? 'difference' : 'weight';
    this.#bar.update(scales[family], theme, `${family === 'difference' ? 'difference of weights' : 'weight'}${sampled}`);
    this.#caption.textContent = cellCaption(this.map.level(), look.reduction, family);
  }
}

function viewOf({ view }: Look, { queryLen, keyLen }: { readonly queryLen: number; readonly keyLen: number }): HeatMapState['view'] {
  return view ?? { rows: [0, queryLen], columns: [0, keyLen] };
}

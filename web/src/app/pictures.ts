// The three maps on the page: made once, fed from the state, linked through it.

import { HeedError } from '../core/errors.ts';
import type { WeightKind } from '../core/types.ts';
import { colorBar } from '../marks/color-bar.ts';
import { heatMap } from '../marks/heat-map.ts';
import type { HeatMap, HeatMapState } from '../marks/heat-map.ts';
import type { Engine } from '../explore/engine.ts';
import { isVast, scaleRows } from '../explore/options.ts';
import { cellCaption, scalesOf } from '../explore/scales.ts';
import { isDark } from './state.ts';
import type { HeadResults, Results } from '../explore/problem.ts';
import type { State } from './state.ts';
import type { Store } from './store.ts';

export const pictureKinds: readonly WeightKind[] = ['exact', 'difference', 'lsh'];
export const pictureTitles: Readonly<Record<WeightKind, string>> = { exact: 'Exact attention', difference: 'LSH minus exact', lsh: 'LSH attention' };

export type ExportFormat = 'png' | 'svg' | 'csv';

interface Picture { readonly map: HeatMap; readonly bar: ReturnType<typeof colorBar>; readonly caption: HTMLElement }

export class Pictures {
  readonly #store: Store;
  readonly #engine: Engine;
  readonly #hosts: (kind: WeightKind) => { map: HTMLElement; bar: HTMLElement; caption: HTMLElement };
  #pictures: Readonly<Record<WeightKind, Picture>> | null = null;

  constructor(store: Store, engine: Engine, hosts: (kind: WeightKind) => { map: HTMLElement; bar: HTMLElement; caption: HTMLElement }) {
    this.#store = store;
    this.#engine = engine;
    this.#hosts = hosts;
    store.listen((state, previous) => this.#show(state, previous));
  }

  /** Resolves when all visible tiles are drawn. */
  async settled(): Promise<void> {
    if (this.#pictures === null) return;
    await Promise.all(pictureKinds.map((kind) => this.#pictures![kind].map.settled()));
  }

  /** The value drawn where an entry lies; undefined while it is not there yet. */
  valueAt(kind: WeightKind, cell: { row: number; column: number }): number | undefined {
    return this.#pictures?.[kind].map.valueAt(cell);
  }

  level(): ReturnType<HeatMap['level']> | undefined {
    return this.#pictures?.exact.map.level();
  }

  async export(kind: WeightKind, format: ExportFormat): Promise<Blob> {
    const map = this.#pictures?.[kind].map;
    if (map === undefined) throw new Error(`${format}: received no picture, expected a finished computation`);
    await map.settled();
    if (format === 'png') return map.toPng();
    return format === 'svg' ? new Blob([map.toSvg()], { type: 'image/svg+xml' }) : new Blob([await map.toCsv()], { type: 'text/csv' });
  }

  #show(state: State, previous: State): void {
    const { results, headResults } = state;
    const { look } = state.wish;
    // Scales and weights belong together: nothing is drawn until both are of now.
    if (results === null || headResults === null || headResults.lshVersion !== results.lshVersion || headResults.head !== look.head || headResults.batch !== look.batch) return;
    const first = this.#pictures === null;
    this.#pictures ??= this.#make(state, results, headResults);
    const redraw = first || results !== previous.results || headResults !== previous.headResults
      || look.reduction !== previous.wish.look.reduction || look.transform !== previous.wish.look.transform || isDark(state) !== isDark(previous);
    if (redraw) {
      for (const kind of pictureKinds) this.#pictures[kind].map.update(this.#mapState(kind, state, results, headResults));
      this.#caption(state, results, headResults);
    } else if (look !== previous.wish.look || state.hover !== previous.hover) {
      for (const kind of pictureKinds) this.#pictures[kind].map.update({ view: viewOf(state, results), hover: state.hover, selected: look.selected });
      if (look.view !== previous.wish.look.view) this.#caption(state, results, headResults);
    }
  }

  #mapState(kind: WeightKind, state: State, results: Results, headResults: HeadResults): HeatMapState {
    const { problem } = results;
    const { look } = state.wish;
    const scales = scalesOf(headResults, problem.shape.keyLen, look.transform);
    const version = kind === 'exact' ? results.exactVersion : results.lshVersion;
    return {
      rows: problem.shape.queryLen,
      columns: problem.shape.keyLen,
      rowLabel: (i) => problem.queryTokens[i] ?? '',
      columnLabel: (j) => problem.keyTokens[j] ?? '',
      view: viewOf(state, results),
      reduction: look.reduction,
      scale: kind === 'difference' ? scales.difference : scales.weight,
      theme: isDark(state) ? 'dark' : 'light',
      head: look.head,
      version: `${version} batch ${look.batch}`,
      fetchTile: (request, signal) => this.#engine.tile(kind, { ...request, batch: look.batch }, signal),
      hover: state.hover,
      selected: look.selected,
    };
  }

  #make(state: State, results: Results, headResults: HeadResults): Readonly<Record<WeightKind, Picture>> {
    const make = (kind: WeightKind): Picture => {
      const hosts = this.#hosts(kind);
      const initial = this.#mapState(kind, state, results, headResults);
      const map = heatMap(hosts.map, pictureTitles[kind], initial);
      const { dispatch } = this.#store;
      map.on('hover', (hover) => dispatch({ type: 'hover', hover }));
      map.on('select', (selected) => dispatch({ type: 'look', look: { selected } }));
      map.on('view', (view) => dispatch({ type: 'look', look: { view } }));
      map.on('level', () => {
        // Which entries a cell covers also changes with the size of the map.
        const { state: now } = this.#store;
        if (this.#pictures !== null && now.results !== null && now.headResults !== null) this.#caption(now, now.results, now.headResults);
      });
      map.on('error', (error) => {
        // Tiles of weights that have just been replaced.
        if (error instanceof HeedError && error.code === 'aborted') return;
        dispatch({ type: 'say', message: { topic: 'picture', tone: 'error', text: `${error.message}.` } });
      });
      return { map, bar: colorBar(hosts.bar, initial.scale, initial.theme, ''), caption: hosts.caption };
    };
    return { exact: make('exact'), difference: make('difference'), lsh: make('lsh') };
  }

  #caption(state: State, { problem }: Results, headResults: HeadResults): void {
    const { look } = state.wish;
    const scales = scalesOf(headResults, problem.shape.keyLen, look.transform);
    const sampled = isVast(problem.shape) ? `; ends as found in ${scaleRows} queries` : '';
    for (const kind of pictureKinds) {
      const { map, bar, caption } = this.#pictures![kind];
      const family = kind === 'difference' ? 'difference' : 'weight';
      bar.update(scales[family], isDark(state) ? 'dark' : 'light', `${kind === 'difference' ? 'difference of weights' : 'weight'}${sampled}`);
      caption.textContent = cellCaption(map.level(), look.reduction, family);
    }
  }
}

function viewOf(state: State, { problem: { shape } }: Results): HeatMapState['view'] {
  return state.wish.look.view ?? { rows: [0, shape.queryLen], columns: [0, shape.keyLen] };
}

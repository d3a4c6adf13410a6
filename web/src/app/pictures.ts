// The three maps on the page: made once, fed from the state, linked through it.

import { HeedError } from '../core/errors.ts';
import type { WeightKind } from '../core/types.ts';
import { Picture, pictureKinds } from '../element/picture.ts';
import type { ExportFormat, PictureHosts, PictureState } from '../element/picture.ts';
import type { Engine } from '../explore/engine.ts';
import type { HeadResults, Results } from '../explore/problem.ts';
import type { HeatMap } from '../marks/heat-map.ts';
import { isDark } from './state.ts';
import type { State } from './state.ts';
import type { Store } from './store.ts';

export class Pictures {
  readonly #store: Store;
  readonly #engine: Engine;
  readonly #hosts: (kind: WeightKind) => PictureHosts;
  #pictures: Readonly<Record<WeightKind, Picture>> | null = null;

  constructor(store: Store, engine: Engine, hosts: (kind: WeightKind) => PictureHosts) {
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

  export(kind: WeightKind, format: ExportFormat): Promise<Blob> {
    const picture = this.#pictures?.[kind];
    if (picture === undefined) throw new Error(`${format}: received no picture, expected a finished computation`);
    return picture.export(format);
  }

  #show(state: State, previous: State): void {
    const { results, headResults } = state;
    const { look } = state.wish;
    // Scales and weights belong together: nothing is drawn until both are of now.
    if (results === null || headResults === null || headResults.lshVersion !== results.lshVersion || headResults.head !== look.head || headResults.batch !== look.batch) return;
    if (this.#pictures === null) {
      const make = (kind: WeightKind) => this.#make(kind, this.#pictureState(kind, state, results, headResults));
      this.#pictures = { exact: make('exact'), difference: make('difference'), lsh: make('lsh') };
      return;
    }
    const before = previous.wish.look;
    const redraw = results !== previous.results || headResults !== previous.headResults
      || look.reduction !== before.reduction || look.transform !== before.transform || isDark(state) !== isDark(previous);
    if (!redraw && look === before && state.hover === previous.hover) return;
    for (const kind of pictureKinds) {
      const next = this.#pictureState(kind, state, results, headResults);
      if (redraw) this.#pictures[kind].update(next);
      else this.#pictures[kind].mark(next);
    }
  }

  #pictureState(kind: WeightKind, state: State, results: Results, headResults: HeadResults): PictureState {
    const { look } = state.wish;
    return {
      results, headResults, look, theme: isDark(state) ? 'dark' : 'light', hover: state.hover,
      fetchTile: (request, signal) => this.#engine.tile(kind, { ...request, batch: look.batch }, signal),
    };
  }

  #make(kind: WeightKind, state: PictureState): Picture {
    const picture = new Picture(kind, this.#hosts(kind), state);
    const { dispatch } = this.#store;
    picture.map.on('hover', (hover) => dispatch({ type: 'hover', hover }));
    picture.map.on('select', (selected) => dispatch({ type: 'look', look: { selected } }));
    picture.map.on('view', (view) => dispatch({ type: 'look', look: { view } }));
    picture.map.on('error', (error) => {
      // Tiles of weights that have just been replaced.
      if (error instanceof HeedError && error.code === 'aborted') return;
      dispatch({ type: 'say', message: { topic: 'picture', tone: 'error', text: `${error.message}.` } });
    });
    return picture;
  }
}

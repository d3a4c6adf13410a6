// Reacts to the state: loads inputs, computes, looks up what is read. Every piece of work belongs to
// a moment; when the moment has passed, its result is dropped.

import { HeedError } from '../core/errors.ts';
import type { CellIndex } from '../model/view.ts';
import type { Engine } from '../explore/engine.ts';
import { loadProblem } from './load-problem.ts';
import type { Sources } from './load-problem.ts';
import { attentionOptions, isVast, lshOptions, vastCorner } from '../explore/options.ts';
import type { Settings } from '../explore/problem.ts';
import type { Input } from '../explore/wish.ts';
import type { ReadOut, State, Topic } from './state.ts';
import type { Store } from './store.ts';

/** Work of which only the latest counts. */
class Latest {
  #controller = new AbortController();

  begin(): AbortSignal {
    this.stop();
    this.#controller = new AbortController();
    return this.#controller.signal;
  }

  stop(): void {
    this.#controller.abort();
  }
}

export function explainError(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

const same = (a: unknown, b: unknown): boolean => a === b || JSON.stringify(a) === JSON.stringify(b);

export class Controller {
  readonly #store: Store;
  readonly #engine: Engine;
  readonly #sources: Sources;
  readonly #loading = new Latest();
  readonly #running = new Latest();
  readonly #scaling = new Latest();
  /** Settings the core has taken for the current problem. */
  #valid: Settings | null = null;

  constructor(store: Store, engine: Engine, sources: Sources) {
    this.#store = store;
    this.#engine = engine;
    this.#sources = sources;
    store.listen((state, previous) => this.#react(state, previous));
  }

  /** Loads what the wish asks for, again if it is there already; without a wish the first sample. */
  load(): void {
    void this.#load(this.#store.state.wish.input);
  }

  cancel(): void {
    this.#loading.stop();
    this.#running.stop();
    this.#scaling.stop();
    this.#engine.forget();
    this.#store.dispatch({ type: 'results', results: null });
    this.#store.dispatch({ type: 'progress', progress: null });
    this.#store.dispatch({ type: 'say', message: { topic: 'engine', tone: 'note', text: 'Cancelled. Change a control or press Compute to start again.' } });
  }

  compute(): void {
    const { wish } = this.#store.state;
    void this.#compute(wish.settings);
  }

  #react(state: State, previous: State): void {
    const { look, settings, input } = state.wish;
    const before = previous.wish;
    const inputChanged = !same(input, before.input);
    if (inputChanged) void this.#load(input);
    if (state.problem !== null && (state.problem !== previous.problem || (!inputChanged && !same(settings, before.settings)))) {
      void this.#compute(settings);
    }
    const results = state.results;
    if (results === null) return;
    const fresh = results !== previous.results;
    const otherHead = look.head !== before.look.head || look.batch !== before.look.batch;
    if (fresh || otherHead) void this.#scale(state);
    if (fresh || otherHead || look.round !== before.look.round) void this.#lookUpStructure(state);
    if (fresh || otherHead || !same(state.hover, previous.hover)) void this.#read(state.hover, 'read-out');
    if (fresh || otherHead || !same(look.selected, before.look.selected)) void this.#read(look.selected, 'explained');
  }

  async #load(input: Input | null): Promise<void> {
    const signal = this.#loading.begin();
    const { dispatch } = this.#store;
    dispatch({ type: 'progress', progress: { step: 'loading', fraction: 0 } });
    try {
      const problem = await loadProblem(input, this.#sources, this.#engine, signal);
      if (signal.aborted) return;
      const { settings } = this.#store.state.wish;
      const session = await this.#engine.tryOut(problem.inputs, async (candidate) => {
        // Settings that do not suit are told about later; here it is about the inputs.
        await candidate.configure(attentionOptions({ ...settings, hidden: [] }, problem.shape), lshOptions(settings)).catch((error: unknown) => {
          if (error instanceof HeedError && /^(query|key|value|shape)/.test(error.field)) throw error;
        });
      });
      if (signal.aborted) {
        session.dispose();
        return;
      }
      this.#engine.adopt(session);
      this.#valid = null;
      dispatch({ type: 'unsay', topic: 'engine' });
      dispatch({ type: 'problem', problem });
      if (isVast(problem.shape) && this.#store.state.wish.look.view === null) {
        const corner = [0, vastCorner] as const;
        dispatch({ type: 'look', look: { view: { rows: corner, columns: corner } } });
      }
    } catch (error) {
      if (signal.aborted) return;
      dispatch({ type: 'progress', progress: null });
      this.#report('input', error);
    }
  }

  async #compute(settings: Settings): Promise<void> {
    const { problem, results } = this.#store.state;
    if (problem === null) return;
    const signal = this.#running.begin();
    const { dispatch } = this.#store;
    const current = () => !signal.aborted && this.#store.state.problem === problem;
    // What is shown is of the past from here on.
    dispatch({ type: 'progress', progress: { step: 'exact', fraction: 0 } });
    try {
      const parameters = await this.#engine.configure(problem, settings);
      if (!current()) return;
      this.#valid = settings;
      this.#scaling.stop();
      dispatch({ type: 'unsay', topic: 'engine' });
      if (settings === this.#store.state.wish.settings) dispatch({ type: 'unsay', topic: 'settings' });
      dispatch({ type: 'results', results: null });
      const next = await this.#engine.run(problem, settings, parameters, signal, (progress) => {
        if (current()) dispatch({ type: 'progress', progress });
      });
      if (!current()) return;
      dispatch({ type: 'progress', progress: null });
      dispatch({ type: 'results', results: next });
      if (this.#store.state.wish.look.round >= parameters.rounds) dispatch({ type: 'look', look: { round: 0 } });
    } catch (error) {
      if (!current()) return;
      dispatch({ type: 'progress', progress: null });
      this.#report('settings', error, this.#valid === null ? '' : ' The pictures keep the last settings that were right.');
      // A run that these settings interrupted is finished for the settings before them.
      if (results === null && this.#valid !== null && this.#valid !== settings) void this.#compute(this.#valid);
    }
  }

  async #scale({ results, wish: { look } }: State): Promise<void> {
    const signal = this.#scaling.begin();
    try {
      const headResults = await this.#engine.headResults(results!, look.head, look.batch, signal);
      if (!signal.aborted) this.#store.dispatch({ type: 'head-results', headResults });
    } catch (error) {
      if (!signal.aborted && this.#store.state.results === results) this.#report('picture', error);
    }
  }

  async #lookUpStructure({ results, wish: { look } }: State): Promise<void> {
    const { head, batch } = look;
    const round = Math.min(look.round, results!.parameters.rounds - 1);
    try {
      const structure = await this.#engine.structure({ head, batch, round });
      const now = this.#store.state;
      if (now.results !== results || now.wish.look.head !== head || now.wish.look.batch !== batch) return;
      this.#store.dispatch({ type: 'structure', structure: { head, batch, round, lshVersion: results!.lshVersion, structure } });
    } catch (error) {
      if (this.#store.state.results === results) this.#report('picture', error);
    }
  }

  async #read(cell: CellIndex | null, type: 'read-out' | 'explained'): Promise<void> {
    const { results, wish: { look: { head, batch } } } = this.#store.state;
    const tell = (readOut: ReadOut | null) =>
      this.#store.dispatch(type === 'read-out' ? { type, readOut } : { type, explained: readOut });
    if (cell === null || results === null) {
      tell(null);
      return;
    }
    try {
      const arithmetic = await this.#engine.cell({ head, batch, query: cell.row, key: cell.column });
      const now = this.#store.state;
      const wanted = type === 'read-out' ? now.hover : now.wish.look.selected;
      if (now.results !== results || !same(wanted, cell) || now.wish.look.head !== head || now.wish.look.batch !== batch) return;
      tell({ cell, lshVersion: results.lshVersion, arithmetic });
    } catch (error) {
      if (this.#store.state.results === results) this.#report('picture', error);
    }
  }

  #report(topic: Topic, error: unknown, more = ''): void {
    this.#store.dispatch({ type: 'say', message: { topic, tone: 'error', text: `${explainError(error)}.${more}` } });
  }
}

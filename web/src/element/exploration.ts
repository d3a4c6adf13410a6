// What one element computes: loads its source, runs attention over it, and keeps what is shown. Of
// several wishes in a row only the latest counts. No DOM.

import type { HeedClient } from '../client/client.ts';
import { abortedError, HeedError } from '../core/errors.ts';
import type { CellArithmetic, LshStructure, Tile, TileRequest, WeightKind } from '../core/types.ts';
import { Engine } from '../explore/engine.ts';
import { attentionOptions, isVast, lshOptions } from '../explore/options.ts';
import type { HeadResults, Problem, Progress, Results } from '../explore/problem.ts';
import type { Look, Wish } from '../explore/wish.ts';
import type { CellIndex } from '../model/view.ts';
import { loadSource } from './source.ts';
import type { Source } from './source.ts';

/** Everything that belongs to one finished computation and the head in view. */
export interface Findings {
  readonly results: Results;
  readonly headResults: HeadResults;
  /** The largest weights of the head, the largest first; none when the map is too large to be read whole. */
  readonly strongest: readonly (CellIndex & { readonly weight: number })[];
}

/** Entries of a map that is read whole for its summary. */
const mostRead = 1 << 20;
const strongestShown = 3;

let nextProblem = 1;

function below(field: string, value: number, limit: number): void {
  if (value >= limit) throw new HeedError({ code: 'invalid-value', field, received: String(value), expected: `below ${limit}` });
}

/** Throws HeedError when what is looked at is not there. */
function belowSizes({ head, batch, selected }: Look, { heads, batch: batches, queryLen, keyLen }: Problem['shape']): void {
  below('head', head, heads);
  below('batch', batch, batches);
  if (selected === null) return;
  below('cell (query)', selected.row, queryLen);
  below('cell (key)', selected.column, keyLen);
}

export class Exploration {
  readonly #engine: Engine;
  readonly #client: HeedClient;
  #source: Source | null = null;
  #problem: Problem | null = null;
  #running = new AbortController();

  constructor(client: HeedClient) {
    this.#client = client;
    this.#engine = new Engine(client);
  }

  /** Throws HeedError or TensorFileError; "aborted" when another call has come. */
  async look(source: Source, { settings, look }: Wish, baseUri: string, report: (progress: Progress) => void): Promise<Findings> {
    this.#running.abort();
    this.#running = new AbortController();
    const { signal } = this.#running;
    const current = () => { if (signal.aborted) throw abortedError(); };
    report({ step: 'loading', fraction: 0 });
    if (this.#problem === null || !sameSource(this.#source, source)) {
      this.#problem = null;
      const problem: Problem = { id: nextProblem++, ...await loadSource(source, this.#client, baseUri, signal) };
      current();
      const session = await this.#engine.tryOut(problem.inputs, (candidate) => candidate.configure(attentionOptions(settings, problem.shape), lshOptions(settings)));
      if (signal.aborted) session.dispose();
      current();
      this.#engine.adopt(session);
      [this.#source, this.#problem] = [source, problem];
    }
    const problem = this.#problem;
    belowSizes(look, problem.shape);
    const parameters = await this.#engine.configure(problem, settings);
    current();
    const results = await this.#engine.run(problem, settings, parameters, signal, (progress) => { if (!signal.aborted) report(progress); });
    current();
    const headResults = await this.#engine.headResults(results, look.head, look.batch, signal);
    const strongest = await this.#strongest(results, look.head, look.batch, look.picture, signal);
    current();
    return { results, headResults, strongest };
  }

  tile(kind: WeightKind, request: TileRequest, signal: AbortSignal): Promise<Tile> {
    return this.#engine.tile(kind, request, signal);
  }

  cell(request: { head: number; batch: number; query: number; key: number }): Promise<CellArithmetic> {
    return this.#engine.cell(request);
  }

  structure(request: { head: number; batch: number; round: number }): Promise<LshStructure> {
    return this.#engine.structure(request);
  }

  /** Stops the work under way; what was shown stays. */
  cancel(): void {
    this.#running.abort();
    this.#engine.forget();
    this.#problem = null;
  }

  async #strongest({ problem: { shape } }: Results, head: number, batch: number, kind: WeightKind, signal: AbortSignal): Promise<Findings['strongest']> {
    const { queryLen, keyLen } = shape;
    if (isVast(shape) || queryLen * keyLen > mostRead) return [];
    const { peak } = await this.#engine.tile(kind, { head, batch, rows: [0, queryLen], columns: [0, keyLen] }, signal);
    const found: (CellIndex & { weight: number })[] = [];
    for (let at = 0; at < peak.length; at++) {
      const weight = peak[at]!;
      if (weight === 0 || (found.length === strongestShown && Math.abs(weight) <= Math.abs(found.at(-1)!.weight))) continue;
      found.push({ row: Math.floor(at / keyLen), column: at % keyLen, weight });
      found.sort((a, b) => Math.abs(b.weight) - Math.abs(a.weight));
      found.length = Math.min(found.length, strongestShown);
    }
    return found;
  }
}

/** Inputs are compared by identity: a page that changes numbers in place sets the property again. */
function sameSource(a: Source | null, b: Source): boolean {
  if (a === null || a.inputs !== b.inputs || a.queryTokens !== b.queryTokens || a.keyTokens !== b.keyTokens) return false;
  if (a.inputs !== null) return true;
  const rest = ({ src, names, text, textFields }: Source) => JSON.stringify([src, names, text, textFields]);
  return rest(a) === rest(b);
}

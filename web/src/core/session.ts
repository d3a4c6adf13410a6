// One problem held in WebAssembly memory: exact and LSH attention over it, in slices, and the
// weights behind both.

import { checkCount, checkSeed, fullShape, moduleLshOptions, outputSizes, placeOptions, placeProblem } from './arguments.ts';
import type { FullShape } from './arguments.ts';
import { disposedError, HeedError } from './errors.ts';
import type { Session as ModuleSession, Problem, Share, Slice } from './generated/heed.mjs';
import { check, HeapScope, readFloats, readUints } from './heap.ts';
import type { HeedModule } from './heap.ts';
import type {
  AttentionInputs, AttentionOptions, AttentionResult, Candidates, CellArithmetic, CellShare, LshCost, LshOptions,
  LshParameters, LshQuality, LshStructure, Mechanism, Tile, TileRequest, WeightKind,
} from './types.ts';

const KIND = { exact: 0, lsh: 1, difference: 2 } as const;

/** Frees what a session forgot to: a backstop, not a plan. */
const registry = new FinalizationRegistry<() => void>((free) => free());

/** What exact attention depends on beside the inputs. */
interface ExactConfiguration {
  readonly options: AttentionOptions;
  readonly shared: boolean;
}

function sameArray(a: ArrayLike<number> | undefined, b: ArrayLike<number> | undefined): boolean {
  if (a === undefined || b === undefined) return a === b;
  if (a.length !== b.length) return false;
  for (let i = 0; i < a.length; i++) if (a[i] !== b[i]) return false;
  return true;
}

function sameExact(a: ExactConfiguration, b: ExactConfiguration): boolean {
  const scalars = ({ options: { keyMask, mask, bias, ...rest }, shared }: ExactConfiguration) =>
    JSON.stringify([Object.entries(rest).sort(), mask?.shape, bias?.shape, shared]);
  return scalars(a) === scalars(b)
    && sameArray(a.options.keyMask, b.options.keyMask)
    && sameArray(a.options.mask?.data, b.options.mask?.data)
    && sameArray(a.options.bias?.data, b.options.bias?.data);
}

export interface CellRequest {
  readonly batch?: number;
  readonly head: number;
  readonly query: number;
  readonly key: number;
}

export class Session {
  readonly shape: FullShape;
  readonly #module: HeedModule;
  readonly #inputs: HeapScope;
  readonly #problem: Problem;
  readonly #lsh: { readonly context: number; readonly logsumexp: number };
  readonly #handle: ModuleSession;
  // Each mechanism reads its masks from the scope it was prepared with; they may share one.
  #exactOptions: HeapScope;
  #lshOptions: HeapScope;
  #exact: ExactConfiguration | undefined;
  #disposed = false;

  /** Copies the inputs. Throws HeedError on sizes that do not fit. */
  constructor(module: HeedModule, inputs: AttentionInputs) {
    this.shape = fullShape(inputs.shape);
    this.#module = module;
    this.#inputs = new HeapScope(module);
    this.#exactOptions = new HeapScope(module);
    this.#lshOptions = this.#exactOptions;
    try {
      this.#problem = placeProblem(this.#inputs, inputs, this.shape);
      const sizes = outputSizes(this.shape);
      this.#lsh = {
        context: this.#inputs.allocate(sizes.context, 'context'),
        logsumexp: this.#inputs.allocate(sizes.logsumexp, 'logsumexp'),
      };
    } catch (error) {
      this.#inputs.release();
      throw error;
    }
    this.#handle = new module.Session(this.#problem, this.#lsh.context, this.#lsh.logsumexp);
    const [handle, scope] = [this.#handle, this.#inputs];
    registry.register(this, () => { handle.delete(); scope.release(); }, this);
  }

  /**
   * Prepares both mechanisms; call advance() next. Exact attention stays computed when nothing that
   * it depends on has changed. On an error the session keeps what it had before.
   */
  configure(options: AttentionOptions = {}, lsh: LshOptions = {}): LshParameters {
    this.#alive();
    const scope = new HeapScope(this.#module);
    try {
      const placed = placeOptions(scope, options, this.shape);
      check(this.#module, this.#handle.prepareLsh(placed, moduleLshOptions(lsh)));
    } catch (error) {
      scope.release();
      throw error;
    }
    // From here on LSH reads its masks from this scope.
    if (this.#lshOptions !== this.#exactOptions) this.#lshOptions.release();
    this.#lshOptions = scope;
    const exact = structuredClone({ options, shared: lsh.sharedQueryKey ?? false });
    if (this.#exact === undefined || !sameExact(exact, this.#exact)) {
      this.#exact = undefined;
      check(this.#module, this.#handle.prepareExact());
      this.#exactOptions.release();
      this.#exactOptions = scope;
      this.#exact = exact;
    }
    return this.parameters();
  }

  /** Rounds, buckets and chunk in use. */
  parameters(): LshParameters {
    this.#alive();
    return { rounds: this.#handle.rounds(), buckets: this.#handle.buckets(), chunk: this.#handle.chunk() };
  }

  /** Computes about `work` query-key pairs and returns the progress, 0 to 1. */
  advance(kind: Mechanism, work = Number.POSITIVE_INFINITY): number {
    this.#alive();
    check(this.#module, this.#handle.advance(KIND[kind], work));
    return this.#handle.progress(KIND[kind]);
  }

  done(kind: Mechanism): boolean {
    this.#alive();
    return this.#handle.done(KIND[kind]);
  }

  /** Copies of context and logsumexp. */
  result(kind: Mechanism): AttentionResult {
    this.#finished(kind);
    const at = kind === 'exact' ? this.#problem : this.#lsh;
    const sizes = outputSizes(this.shape);
    return {
      context: readFloats(this.#module, at.context, sizes.context),
      logsumexp: readFloats(this.#module, at.logsumexp, sizes.logsumexp),
    };
  }

  tile(kind: WeightKind, request: TileRequest): Tile {
    if (kind !== 'lsh') this.#finished('exact');
    if (kind !== 'exact') this.#finished('lsh');
    const tile = {
      batch: checkCount(request.batch ?? 0, 'tile.batch'),
      head: checkCount(request.head, 'tile.head'),
      rowBegin: checkCount(request.rows[0], 'tile.rows[0]'),
      rowEnd: checkCount(request.rows[1], 'tile.rows[1]'),
      columnBegin: checkCount(request.columns[0], 'tile.columns[0]'),
      columnEnd: checkCount(request.columns[1], 'tile.columns[1]'),
      rowsPerCell: checkCount(request.rowsPerCell ?? 1, 'tile.rowsPerCell', 1),
      columnsPerCell: checkCount(request.columnsPerCell ?? 1, 'tile.columnsPerCell', 1),
    };
    const cellRows = Math.max(0, Math.ceil((tile.rowEnd - tile.rowBegin) / tile.rowsPerCell));
    const cellColumns = Math.max(0, Math.ceil((tile.columnEnd - tile.columnBegin) / tile.columnsPerCell));
    const cells = cellRows * cellColumns;
    const scope = new HeapScope(this.#module);
    try {
      const peak = scope.allocate(cells, 'tile');
      const mean = scope.allocate(cells, 'tile');
      check(this.#module, this.#handle.tile(KIND[kind], tile, peak, mean));
      return { cellRows, cellColumns, peak: readFloats(this.#module, peak, cells), mean: readFloats(this.#module, mean, cells) };
    } finally {
      scope.release();
    }
  }

  /** Weights of one query over all keys, [keyLen]. */
  row(kind: WeightKind, request: { readonly batch?: number; readonly head: number; readonly query: number }): Float32Array<ArrayBuffer> {
    const { query } = request;
    return this.tile(kind, { ...request, rows: [query, query + 1], columns: [0, this.shape.keyLen] }).peak;
  }

  candidates(request: { readonly batch?: number; readonly head: number; readonly query: number }): Candidates {
    this.#finished('lsh');
    const batch = checkCount(request.batch ?? 0, 'batch');
    check(this.#module, this.#handle.findCandidates(batch, checkCount(request.head, 'head'), checkCount(request.query, 'query')));
    return { keys: this.#slice(this.#handle.candidateKeys()), rounds: this.#slice(this.#handle.candidateRounds()) };
  }

  structure(request: { readonly batch?: number; readonly head: number; readonly round: number }): LshStructure {
    this.#finished('lsh');
    const batch = this.#below(request.batch ?? 0, 'batch', this.shape.batch);
    const head = this.#below(request.head, 'head', this.shape.heads);
    const round = this.#below(request.round, 'round', this.#handle.rounds());
    return {
      queryBuckets: this.#slice(this.#handle.queryBuckets(batch, head, round)),
      keyBuckets: this.#slice(this.#handle.keyBuckets(batch, head, round)),
      queryOrder: this.#slice(this.#handle.queryOrder(batch, head, round)),
      keyOrder: this.#slice(this.#handle.keyOrder(batch, head, round)),
      queryChunk: this.#handle.chunk(),
      keyChunk: this.#handle.keyChunk(batch),
    };
  }

  cost(): LshCost {
    this.#finished('lsh');
    return this.#handle.cost();
  }

  /** Against exact attention, over all queries, or over `sample` queries a head drawn from `seed`. */
  quality(options: { readonly sample?: number; readonly seed?: number | bigint } = {}): LshQuality {
    this.#finished('exact');
    this.#finished('lsh');
    check(this.#module, this.#handle.measureQuality(checkCount(options.sample ?? 0, 'sample'), checkSeed(options.seed ?? 0, 'seed')));
    return this.#handle.quality();
  }

  /** The arithmetic of one weight under both mechanisms. */
  cell(request: CellRequest): CellArithmetic {
    this.#finished('exact');
    this.#finished('lsh');
    const batch = checkCount(request.batch ?? 0, 'batch');
    check(this.#module, this.#handle.explain(batch, checkCount(request.head, 'head'), checkCount(request.query, 'query'), checkCount(request.key, 'key')));
    const cell = this.#handle.cell();
    const share = ({ logsumexp, weight, rank, contribution, context }: Share): CellShare => ({
      logsumexp, weight, rank,
      contribution: readFloats(this.#module, contribution, this.shape.valueDim),
      context: readFloats(this.#module, context, this.shape.valueDim),
    });
    return {
      products: readFloats(this.#module, cell.products, this.shape.headDim),
      dot: cell.dot, scaled: cell.scaled, capped: cell.capped, logit: cell.logit,
      hiddenBy: cell.hiddenBy as CellArithmetic['hiddenBy'],
      exact: share(cell.exact),
      lsh: { ...share(cell.lsh), candidate: cell.candidate, round: cell.round },
    };
  }

  workspaceBytes(): { readonly exact: number; readonly lsh: number } {
    this.#alive();
    return { exact: this.#handle.workspaceBytes(KIND.exact), lsh: this.#handle.workspaceBytes(KIND.lsh) };
  }

  /** Frees the memory; further calls throw "disposed", a second dispose() does nothing. */
  dispose(): void {
    if (this.#disposed) return;
    this.#disposed = true;
    registry.unregister(this);
    this.#handle.delete();
    this.#inputs.release();
    this.#exactOptions.release();
    if (this.#lshOptions !== this.#exactOptions) this.#lshOptions.release();
  }

  [Symbol.dispose](): void {
    this.dispose();
  }

  #slice({ address, size }: Slice): Uint32Array<ArrayBuffer> {
    return readUints(this.#module, address, size);
  }

  #alive(): void {
    if (this.#disposed) throw disposedError('session');
  }

  #finished(kind: Mechanism): void {
    this.#alive();
    if (!this.#handle.done(KIND[kind])) {
      throw new HeedError({ code: 'invalid-value', field: kind, received: 'a computation that is not done', expected: 'configure(), then advance() until it returns 1' });
    }
  }

  #below(value: number, field: string, limit: number): number {
    if (checkCount(value, field) >= limit) {
      throw new HeedError({ code: 'invalid-value', field, received: String(value), expected: `below ${limit}` });
    }
    return value;
  }
}

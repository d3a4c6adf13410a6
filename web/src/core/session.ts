// One problem held in WebAssembly memory: exact and LSH attention over it, in slices, and the
// weights behind both.

import {
  checkCount, checkKind, checkObject, checkRange, checkSeed, checkWork, fullShape, moduleLshOptions, outputSizes, placeOptions, placeProblem,
} from './arguments.ts';
import type { FullShape } from './arguments.ts';
import { disposeKey } from './dispose.ts';
import { disposedError, HeedError } from './errors.ts';
import type { Session as ModuleSession, Problem, Share, Slice } from './generated/heed.mjs';
import { check, HeapScope, readFloats, readResult, readUints, scoped } from './heap.ts';
import type { HeedModule } from './heap.ts';
import type {
  AttentionInputs, AttentionOptions, AttentionResult, Candidates, CellArithmetic, CellShare, LshCost, LshOptions,
  LshParameters, LshQuality, LshStructure, Mechanism, Tile, TileRequest, WeightKind,
} from './types.ts';

const MECHANISMS: readonly Mechanism[] = ['exact', 'lsh'];
const WEIGHT_KINDS: readonly WeightKind[] = ['exact', 'lsh', 'difference'];

/** What a session holds in the heap. Each mechanism reads its masks from the scope it was prepared with; they may share one. */
interface Holdings {
  readonly handle: ModuleSession;
  readonly inputs: HeapScope;
  exactOptions: HeapScope;
  lshOptions: HeapScope;
}

function free({ handle, inputs, exactOptions, lshOptions }: Holdings): void {
  handle.delete();
  inputs.release();
  exactOptions.release();
  if (lshOptions !== exactOptions) lshOptions.release();
}

/** Frees what a session forgot to: a backstop, not a plan. */
const registry = new FinalizationRegistry<Holdings>(free);

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

/** One problem held in WebAssembly memory: exact and LSH attention over it in slices, its weights, quality and read-outs. */
export class Session {
  readonly shape: FullShape;
  readonly #module: HeedModule;
  readonly #problem: Problem;
  readonly #lsh: { readonly context: number; readonly logsumexp: number };
  readonly #handle: ModuleSession;
  readonly #held: Holdings;
  readonly #versions = { exact: 0, lsh: 0 };
  #exact: ExactConfiguration | undefined;
  #disposed = false;

  /** Copies the inputs. Throws HeedError on sizes that do not fit. */
  constructor(module: HeedModule, inputs: AttentionInputs) {
    this.shape = fullShape(checkObject(inputs, 'inputs').shape);
    this.#module = module;
    const scope = new HeapScope(module);
    try {
      this.#problem = placeProblem(scope, inputs, this.shape);
      const sizes = outputSizes(this.shape);
      this.#lsh = {
        context: scope.allocate(sizes.context, 'context'),
        logsumexp: scope.allocate(sizes.logsumexp, 'logsumexp'),
      };
    } catch (error) {
      scope.release();
      throw error;
    }
    this.#handle = new module.Session(this.#problem, this.#lsh.context, this.#lsh.logsumexp);
    const noOptions = new HeapScope(module);
    this.#held = { handle: this.#handle, inputs: scope, exactOptions: noOptions, lshOptions: noOptions };
    registry.register(this, this.#held, this);
  }

  /**
   * Prepares both mechanisms; call advance() next. Exact attention stays computed when nothing that
   * it depends on has changed. On an error the session keeps what it had before.
   */
  configure(options: AttentionOptions = {}, lsh: LshOptions = {}): LshParameters {
    const parameters = this.configureLsh(options, lsh);
    const exact = structuredClone({ options, shared: lsh.sharedQueryKey ?? false });
    if (this.#exact === undefined || !sameExact(exact, this.#exact)) {
      // Under sharedQueryKey exact attention reads the keys that LSH has made, and LSH's masks are its own.
      this.#takeExact(exact, this.#held.lshOptions, () => this.#handle.prepareExact());
    }
    return parameters;
  }

  /** Prepares LSH attention alone; exact attention stays as it was. */
  configureLsh(options: AttentionOptions = {}, lsh: LshOptions = {}): LshParameters {
    this.#alive();
    const held = this.#held;
    const hashing = moduleLshOptions(lsh);
    const scope = this.#place(options, (placed) => this.#handle.prepareLsh(placed, hashing));
    if (held.lshOptions !== held.exactOptions) held.lshOptions.release();
    held.lshOptions = scope;
    this.#versions.lsh++;
    return this.parameters();
  }

  /** Prepares exact attention alone; LSH attention stays as it was. */
  configureExact(options: AttentionOptions = {}): void {
    this.#alive();
    const scope = this.#place(options, (placed) => this.#handle.prepareExactAlone(placed));
    this.#takeExact(structuredClone({ options, shared: false }), scope, () => true);
  }

  /** Lays out options and prepares with them; the module reads masks from the scope from then on. */
  #place(options: AttentionOptions, prepare: (placed: ReturnType<typeof placeOptions>) => boolean): HeapScope {
    const scope = new HeapScope(this.#module);
    try {
      check(this.#module, prepare(placeOptions(scope, options, this.shape)));
      return scope;
    } catch (error) {
      scope.release();
      throw error;
    }
  }

  #takeExact(exact: ExactConfiguration, scope: HeapScope, prepare: () => boolean): void {
    const held = this.#held;
    this.#exact = undefined;
    this.#versions.exact++;
    check(this.#module, prepare());
    if (held.exactOptions !== held.lshOptions) held.exactOptions.release();
    held.exactOptions = scope;
    this.#exact = exact;
  }

  /** Rounds, buckets and chunk in use. */
  parameters(): LshParameters {
    this.#alive();
    return { rounds: this.#handle.rounds(), buckets: this.#handle.buckets(), chunk: this.#handle.chunk() };
  }

  /** Changes whenever configure() sets a mechanism to work anew: results of two versions do not mix. */
  version(kind: WeightKind): number {
    this.#alive();
    checkKind(kind, WEIGHT_KINDS);
    return kind === 'difference' ? this.#versions.exact + this.#versions.lsh : this.#versions[kind];
  }

  /** Computes about `work` query-key pairs and returns the progress, 0 to 1. */
  advance(kind: Mechanism, work = Number.POSITIVE_INFINITY): number {
    this.#alive();
    const which = checkKind(kind, MECHANISMS);
    check(this.#module, this.#handle.advance(which, checkWork(work)));
    return this.#handle.progress(which);
  }

  done(kind: Mechanism): boolean {
    this.#alive();
    return this.#handle.done(checkKind(kind, MECHANISMS));
  }

  /** Copies of context and logsumexp. */
  result(kind: Mechanism): AttentionResult {
    this.#finished(kind);
    const at = kind === 'exact' ? this.#problem : this.#lsh;
    return readResult(this.#module, at, outputSizes(this.shape));
  }

  tile(kind: WeightKind, request: TileRequest): Tile {
    const which = checkKind(kind, WEIGHT_KINDS);
    if (kind !== 'lsh') this.#finished('exact');
    if (kind !== 'exact') this.#finished('lsh');
    const [rowBegin, rowEnd] = checkRange(checkObject(request, 'tile').rows, 'tile.rows');
    const [columnBegin, columnEnd] = checkRange(request.columns, 'tile.columns');
    // A cell that outgrows its range is the whole range; the module's 32-bit sizes would wrap around.
    const perCell = (count: unknown, size: number, field: string) => Math.min(checkCount(count, field, 1), Math.max(1, size));
    const tile = {
      batch: checkCount(request.batch ?? 0, 'tile.batch'),
      head: checkCount(request.head, 'tile.head'),
      rowBegin, rowEnd, columnBegin, columnEnd,
      rowsPerCell: perCell(request.rowsPerCell ?? 1, rowEnd - rowBegin, 'tile.rowsPerCell'),
      columnsPerCell: perCell(request.columnsPerCell ?? 1, columnEnd - columnBegin, 'tile.columnsPerCell'),
    };
    const cellRows = Math.max(0, Math.ceil((rowEnd - rowBegin) / tile.rowsPerCell));
    const cellColumns = Math.max(0, Math.ceil((columnEnd - columnBegin) / tile.columnsPerCell));
    const cells = cellRows * cellColumns;
    return scoped(this.#module, (scope) => {
      const peak = scope.allocate(cells, 'tile');
      const mean = scope.allocate(cells, 'tile');
      check(this.#module, this.#handle.tile(which, tile, peak, mean));
      return { cellRows, cellColumns, peak: readFloats(this.#module, peak, cells), mean: readFloats(this.#module, mean, cells) };
    });
  }

  /** Weights of one query over all keys, [keyLen]. */
  row(kind: WeightKind, request: { readonly batch?: number; readonly head: number; readonly query: number }): Float32Array<ArrayBuffer> {
    const { query } = checkObject(request, 'row');
    return this.tile(kind, { ...request, rows: [query, query + 1], columns: [0, this.shape.keyLen] }).peak;
  }

  candidates(request: { readonly batch?: number; readonly head: number; readonly query: number }): Candidates {
    this.#finished('lsh');
    const batch = checkCount(checkObject(request, 'candidates').batch ?? 0, 'batch');
    check(this.#module, this.#handle.findCandidates(batch, checkCount(request.head, 'head'), checkCount(request.query, 'query')));
    return { keys: this.#slice(this.#handle.candidateKeys()), rounds: this.#slice(this.#handle.candidateRounds()) };
  }

  structure(request: { readonly batch?: number; readonly head: number; readonly round: number }): LshStructure {
    this.#finished('lsh');
    const batch = this.#below(checkObject(request, 'structure').batch ?? 0, 'batch', this.shape.batch);
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
    const batch = checkCount(checkObject(request, 'cell').batch ?? 0, 'batch');
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
    const bytes = (kind: Mechanism) => this.#handle.workspaceBytes(checkKind(kind, MECHANISMS));
    return { exact: bytes('exact'), lsh: bytes('lsh') };
  }

  /** Frees the memory; further calls throw "disposed", a second dispose() does nothing. */
  dispose(): void {
    if (this.#disposed) return;
    this.#disposed = true;
    registry.unregister(this);
    free(this.#held);
  }

  [disposeKey](): void {
    this.dispose();
  }

  #slice({ address, size }: Slice): Uint32Array<ArrayBuffer> {
    return readUints(this.#module, address, size);
  }

  #alive(): void {
    if (this.#disposed) throw disposedError('session');
  }

  #finished(kind: Mechanism): void {
    if (!this.done(kind)) {
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

// The facade over one instance of the WebAssembly module: typed arguments in, copies out.

import { checkArray, checkCount, checkObject, checkSeed, fullShape, isHadamard, moduleLshOptions, outputSizes, placeOptions, placeProblem } from './arguments.ts';
import { HeedError } from './errors.ts';
import { check, readFloats, readResult, readUints, scoped } from './heap.ts';
import type { HeapScope, HeedModule, LaboratoryModule } from './heap.ts';
import { KeyValueCache } from './key-value-cache.ts';
import type { PrincipalComponents, TuneOptions, TuneResult } from './lab-types.ts';
import { Session } from './session.ts';
import { Tuner } from './tuner.ts';
import type {
  AttentionInputs, AttentionOptions, AttentionResult, CacheShape, HashOptions, Linear, LshOptions, LshResult, MultiHeadInputs, MultiHeadResult,
} from './types.ts';

/** The module, started: attention computed in the caller's thread. Made by init(). */
export class Heed {
  readonly #module: HeedModule | LaboratoryModule;

  constructor(module: HeedModule | LaboratoryModule) {
    this.#module = module;
  }

  /** "wasm-simd128" or "wasm-relaxed". */
  get instructionSet(): string {
    return this.#module.instructionSet() as string;
  }

  /** Bytes of WebAssembly memory; it grows and never shrinks. */
  memoryBytes(): number {
    return this.#module.HEAPU8.byteLength;
  }

  /** Exact scaled dot-product attention (Vaswani et al. 2017, eq. 1). Throws HeedError. */
  attention(inputs: AttentionInputs, options: AttentionOptions = {}): AttentionResult {
    const shape = fullShape(checkObject(inputs, 'inputs').shape);
    return scoped(this.#module, (scope) => {
      const problem = placeProblem(scope, inputs, shape);
      check(this.#module, this.#module.attend(problem, placeOptions(scope, options, shape)));
      return readResult(this.#module, problem, outputSizes(shape));
    });
  }

  /** LSH attention as in the Reformer (Kitaev et al. 2020): exact softmax over the candidates. Throws HeedError. */
  lshAttention(inputs: AttentionInputs, options: AttentionOptions = {}, lsh: LshOptions = {}): LshResult {
    const shape = fullShape(checkObject(inputs, 'inputs').shape);
    const hashing = moduleLshOptions(lsh);
    return scoped(this.#module, (scope) => {
      const problem = placeProblem(scope, inputs, shape, hashing.sharedQueryKey);
      const handle = new this.#module.Session(problem, problem.context, problem.logsumexp);
      try {
        check(this.#module, handle.prepareLsh(placeOptions(scope, options, shape), hashing));
        check(this.#module, handle.advance(1, Number.POSITIVE_INFINITY));
        return {
          ...readResult(this.#module, problem, outputSizes(shape)),
          parameters: { rounds: handle.rounds(), buckets: handle.buckets(), chunk: handle.chunk() },
          cost: handle.cost(),
        };
      } finally {
        handle.delete();
      }
    });
  }

  /** Multi-head attention with its projections (Vaswani et al. 2017, section 3.2.2). Throws HeedError. */
  multiHeadAttention(inputs: MultiHeadInputs, options: AttentionOptions = {}): MultiHeadResult {
    const given = checkObject(inputs, 'inputs').shape;
    const weights = checkObject(inputs.weights, 'weights');
    const attention = fullShape(given);
    const s = {
      ...attention,
      modelDim: checkCount(given.modelDim, 'shape.modelDim', 1),
      memoryDim: checkCount(given.memoryDim ?? given.modelDim, 'shape.memoryDim', 1),
      outputDim: checkCount(given.outputDim ?? given.modelDim, 'shape.outputDim', 1),
    };
    return scoped(this.#module, (scope) => {
      const layer = (name: keyof MultiHeadInputs['weights'], inFeatures: number, outFeatures: number) =>
        this.#placeLinear(scope, weights[name], inFeatures, outFeatures, `weights.${name}`);
      const source = checkArray(inputs.querySource, Float32Array, s.batch * s.queryLen * s.modelDim, 'querySource', 'batch * queryLen * modelDim');
      const querySource = scope.floats(source, 'querySource');
      const memory = inputs.memory === undefined ? 0
        : scope.floats(checkArray(inputs.memory, Float32Array, s.batch * s.keyLen * s.memoryDim, 'memory', 'batch * keyLen * memoryDim'), 'memory');
      if (memory === 0 && (s.keyLen !== s.queryLen || s.memoryDim !== s.modelDim)) {
        throw new HeedError({ code: 'invalid-value', field: 'memory', received: 'none', expected: 'a memory, since keyLen or memoryDim differ from queryLen or modelDim' });
      }
      const sizes = outputSizes(s);
      const resultSize = s.batch * s.queryLen * s.outputDim;
      const { batch, queryLen, keyLen, modelDim, memoryDim, heads, kvHeads, headDim, valueDim, outputDim } = s;
      const call = {
        shape: { batch, queryLen, keyLen, modelDim, memoryDim, heads, kvHeads, headDim, valueDim, outputDim },
        query: layer('query', modelDim, heads * headDim),
        key: layer('key', memoryDim, kvHeads * headDim),
        value: layer('value', memoryDim, kvHeads * valueDim),
        output: layer('output', heads * valueDim, outputDim),
        querySource, memory,
        result: scope.allocate(resultSize, 'output'),
        context: scope.allocate(sizes.context, 'context'),
        logsumexp: scope.allocate(sizes.logsumexp, 'logsumexp'),
      };
      check(this.#module, this.#module.attendMultiHead(call, placeOptions(scope, options, s)));
      return { output: readFloats(this.#module, call.result, resultSize), ...readResult(this.#module, call, sizes) };
    });
  }

  /** y = x W^T + b for x [rows, inFeatures]; returns y [rows, outFeatures]. Throws HeedError. */
  linear(x: Float32Array, layer: Linear, sizes: { readonly rows: number; readonly inFeatures: number; readonly outFeatures: number }): Float32Array<ArrayBuffer> {
    const rows = checkCount(checkObject(sizes, 'sizes').rows, 'rows');
    const inFeatures = checkCount(sizes.inFeatures, 'inFeatures', 1);
    const outFeatures = checkCount(sizes.outFeatures, 'outFeatures', 1);
    return scoped(this.#module, (scope) => {
      const placed = this.#placeLinear(scope, layer, inFeatures, outFeatures, 'layer');
      const source = scope.floats(checkArray(x, Float32Array, rows * inFeatures, 'x', 'rows * inFeatures'), 'x');
      const result = scope.allocate(rows * outFeatures, 'y');
      check(this.#module, this.#module.project(placed, rows, inFeatures, outFeatures, source, result));
      return readFloats(this.#module, result, rows * outFeatures);
    });
  }

  /** Bucket of each row of x [rows, dim] in one round: argmax([xR; -xR]) (Kitaev et al. 2020, section 2). */
  hash(x: Float32Array, dim: number, options: HashOptions): Uint32Array<ArrayBuffer> {
    checkCount(dim, 'dim', 1);
    checkObject(options, 'options');
    const rows = Math.floor(checkObject(x, 'x').length / dim);
    checkArray(x, Float32Array, rows * dim, 'x', 'a multiple of dim');
    return scoped(this.#module, (scope) => {
      const source = scope.floats(x, 'x');
      const result = scope.allocate(rows, 'buckets');
      const seed = checkSeed(options.seed ?? 0, 'seed');
      check(this.#module, this.#module.hash(source, rows, dim, checkCount(options.buckets, 'buckets'), seed, checkCount(options.round ?? 0, 'round'), isHadamard(options.rotation), result));
      return readUints(this.#module, result, rows);
    });
  }

  /** Holds the inputs for repeated work: slices, weights, quality, read-outs. Throws HeedError. */
  session(inputs: AttentionInputs): Session {
    return new Session(this.#module, inputs);
  }

  /** Keys and values that grow, for decoding: each step costs its own rows. Throws HeedError. */
  keyValueCache(shape: CacheShape): KeyValueCache {
    return new KeyValueCache(this.#module, shape);
  }

  /**
   * Which rounds, buckets and chunk suit these inputs, or that exact attention suits them better: every setting of a
   * grid is hashed in full and measured on sampled queries. Needs init({ laboratory: true }). Throws HeedError.
   */
  autoTune(inputs: AttentionInputs, options: AttentionOptions = {}, tune: TuneOptions = {}): TuneResult {
    const tuner = this.tuner(inputs, options, tune);
    try {
      tuner.advance();
      return tuner.result();
    } finally {
      tuner.dispose();
    }
  }

  /** autoTune() in slices. Needs init({ laboratory: true }). Throws HeedError. */
  tuner(inputs: AttentionInputs, options: AttentionOptions = {}, tune: TuneOptions = {}): Tuner {
    return new Tuner(this.#laboratory(), inputs, options, tune);
  }

  /** Directions of greatest variance of rows x [rows, dim]: `components` of them, at most dim. Needs init({ laboratory: true }). Throws HeedError. */
  principalComponents(x: Float32Array, dim: number, components: number): PrincipalComponents {
    const module = this.#laboratory();
    checkCount(dim, 'dim', 1);
    checkCount(components, 'components', 1);
    const rows = Math.floor(checkObject(x, 'x').length / dim);
    checkArray(x, Float32Array, rows * dim, 'x', 'a multiple of dim');
    return scoped(module, (scope) => {
      const source = scope.floats(x, 'x');
      // More than dim is for the module to refuse; room for that many is not asked for.
      const room = Math.min(components, dim);
      const at = { mean: scope.allocate(dim, 'mean'), axes: scope.allocate(room * dim, 'components'), explained: scope.allocate(room, 'explained') };
      check(module, module.principalComponents(source, rows, dim, components, at.mean, at.axes, at.explained));
      return { mean: readFloats(module, at.mean, dim), components: readFloats(module, at.axes, components * dim), explained: readFloats(module, at.explained, components) };
    });
  }

  #laboratory(): LaboratoryModule {
    if ('Tuner' in this.#module) return this.#module;
    throw new HeedError({ code: 'invalid-value', field: 'laboratory', received: 'a module without the laboratory', expected: 'init({ laboratory: true })' });
  }

  #placeLinear(scope: HeapScope, layer: Linear, inFeatures: number, outFeatures: number, field: string): { weight: number; bias: number } {
    const weight = checkArray(checkObject(layer, field).weight, Float32Array, inFeatures * outFeatures, `${field}.weight`, 'outFeatures * inFeatures');
    const bias = layer.bias === undefined ? 0
      : scope.floats(checkArray(layer.bias, Float32Array, outFeatures, `${field}.bias`, 'outFeatures'), `${field}.bias`);
    return { weight: scope.floats(weight, `${field}.weight`), bias };
  }
}

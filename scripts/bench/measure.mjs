// Measures implementations of attention on the same data, in Node or in a browser page. Knows no
// platform: everything it needs is passed in.
import { nameOf, operationsOf } from './workloads.mjs';

/** Each call is repeated for about so long, at least so often; the best counts. */
const budgetMs = 700;
const leastRuns = 3;

function makeData({ heads, length, headDim }) {
  let state = 1;
  const uniform = () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return state / 2 ** 31 - 1;
  };
  const tensor = () => Float32Array.from({ length: heads * length * headDim }, () => 1.7 * uniform());
  return { query: tensor(), key: tensor(), value: tensor() };
}

/** Largest difference of three rows of the first and the last head from float64. */
function errorOf(context, { query, key, value }, { heads, length, headDim, causal }) {
  let worst = 0;
  for (const h of [0, heads - 1]) {
    for (const i of [0, length >> 1, length - 1]) {
      const visible = causal ? i + 1 : length;
      const weights = new Float64Array(visible);
      let sum = 0;
      for (let j = 0; j < visible; j++) {
        let dot = 0;
        for (let t = 0; t < headDim; t++) dot += query[(h * length + i) * headDim + t] * key[(h * length + j) * headDim + t];
        weights[j] = Math.exp(dot / Math.sqrt(headDim));
        sum += weights[j];
      }
      for (let t = 0; t < headDim; t++) {
        let expected = 0;
        for (let j = 0; j < visible; j++) expected += weights[j] * value[(h * length + j) * headDim + t];
        worst = Math.max(worst, Math.abs(expected / sum - context[(h * length + i) * headDim + t]));
      }
    }
  }
  return worst;
}

/** Browsers round their clock to 0.1 ms, so short calls are timed many at a time. */
const leastTimedMs = 5;

async function bestSeconds(call) {
  let calls = 1;
  const timeCalls = async () => {
    const before = performance.now();
    for (let n = 0; n < calls; n++) await call();
    return performance.now() - before;
  };
  let best = await timeCalls();
  while (best < leastTimedMs) {
    calls *= 2;
    best = await timeCalls();
  }
  const start = performance.now();
  for (let run = 1; run < leastRuns || performance.now() - start < budgetMs; run++) {
    best = Math.min(best, await timeCalls());
    if (best > 4 * budgetMs) break;
  }
  return best / calls / 1000;
}

/** GFLOP/s of the ceiling: a WebAssembly module that multiplies and adds in registers. */
export async function ceilingGflops(bytes) {
  const nothing = new Proxy({}, { get: () => () => 0 });
  const { instance } = await WebAssembly.instantiate(bytes, { env: nothing, wasi_snapshot_preview1: nothing });
  const run = instance.exports.heed_multiply_adds;
  // Short calls first, until the engine has optimised the function.
  for (let call = 0; call < 500; call++) run(1000);
  let best = 0;
  for (let call = 0; call < 12; call++) {
    const before = performance.now();
    const operations = run(5_000_000);
    best = Math.max(best, operations / (performance.now() - before) / 1e6);
  }
  return best;
}

/**
 * peers: { name, ceiling?, prepare(workload, data) -> (() => Promise<Float32Array> | Float32Array) | undefined }.
 * Returns one record a workload and peer; a wrong result is not timed.
 */
export async function measure(workloads, peers, report) {
  const records = [];
  for (const workload of workloads) {
    const data = makeData(workload);
    for (const { name, ceiling, prepare } of peers) {
      const call = await prepare(workload, data);
      if (call === undefined) continue;
      const record = { workload: nameOf(workload), peer: name };
      const context = await Promise.resolve().then(call).catch((failure) => { record.failure = String(failure).slice(0, 200); });
      const error = context === undefined ? Infinity : errorOf(context, data, workload);
      record.error = context === undefined ? undefined : error;
      if (error < 1e-4) {
        const seconds = await bestSeconds(call);
        record.milliseconds = seconds * 1000;
        record.gflops = operationsOf(workload) / seconds / 1e9;
        if (ceiling !== undefined) record.ofCeiling = record.gflops / ceiling;
      }
      records.push(record);
      report(record);
    }
  }
  return records;
}

/** Attention in plain JavaScript: what a reader would write first. */
export const plainJavaScript = {
  name: 'plain JavaScript',
  prepare({ heads, length, headDim, causal }, { query, key, value }) {
    if (heads * length ** 2 > 2 ** 22) return undefined; // seconds, and nothing learnt
    return () => {
      const context = new Float32Array(query.length);
      const weights = new Float64Array(length);
      for (let h = 0; h < heads; h++) {
        for (let i = 0; i < length; i++) {
          const visible = causal ? i + 1 : length;
          let maximum = -Infinity, sum = 0;
          for (let j = 0; j < visible; j++) {
            let dot = 0;
            for (let t = 0; t < headDim; t++) dot += query[(h * length + i) * headDim + t] * key[(h * length + j) * headDim + t];
            weights[j] = dot / Math.sqrt(headDim);
            maximum = Math.max(maximum, weights[j]);
          }
          for (let j = 0; j < visible; j++) sum += weights[j] = Math.exp(weights[j] - maximum);
          for (let j = 0; j < visible; j++) {
            for (let t = 0; t < headDim; t++) context[(h * length + i) * headDim + t] += (weights[j] / sum) * value[(h * length + j) * headDim + t];
          }
        }
      }
      return context;
    };
  },
};

/** One binary of heed. */
export function heedPeer(name, heed, ceiling) {
  return {
    name,
    ceiling,
    prepare({ heads, length, headDim, causal }, data) {
      const inputs = { ...data, shape: { heads, queryLen: length, headDim } };
      return () => heed.attention(inputs, { causal: causal ?? false }).context;
    },
  };
}

/** onnxruntime's opset-23 Attention; modelOf gives the bytes of a model for a workload. */
export function onnxPeer(name, ort, modelOf) {
  return {
    name,
    async prepare(workload, { query, key, value }) {
      const { heads, length, headDim } = workload;
      const session = await ort.InferenceSession.create(modelOf(workload), { executionProviders: ['wasm'] });
      const tensor = (values) => new ort.Tensor('float32', values, [1, heads, length, headDim]);
      const feeds = { query: tensor(query), key: tensor(key), value: tensor(value) };
      return async () => (await session.run(feeds)).context.data;
    },
  };
}

// Measures implementations of attention on the same data, in Node or in a browser page. Knows no
// platform: everything it needs is passed in.
import { nameOf, operationsOf } from './workloads.mjs';

/** A browser's clock has steps of 0.1 ms, so short calls are timed many at a time. */
const leastTimedMs = 5;

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
        const difference = Math.abs(expected / sum - context[(h * length + i) * headDim + t]);
        if (!(difference <= worst)) worst = difference; // NaN too
      }
    }
  }
  return worst;
}

/** Best seconds of a call that is repeated for about so long. */
async function bestSeconds(call, budgetMs) {
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
  // Twice at the least: a first call may come before the engine has optimised.
  for (let spent = 0, run = 0; run < 2 || spent < budgetMs; run++) {
    const ms = await timeCalls();
    // A virtual machine's clock may stand still for a moment; nothing takes no time.
    if (ms > 0) best = Math.min(best, ms);
    spent += Math.max(ms, 1);
  }
  return best / calls / 1000;
}

/** GFLOP/s of the ceiling: a WebAssembly module that multiplies and adds in registers. */
export async function ceilingGflops(bytes) {
  const exports = await instantiate(bytes);
  // Short calls first, until the engine has optimised the function.
  for (let call = 0; call < 500; call++) exports.heed_multiply_adds(1000);
  return bestRate(() => exports.heed_multiply_adds(5_000_000)) / 1e9;
}

/** Bytes a second that the ceiling module reads from memory, 64 MB at a time. */
export async function readBandwidth(bytes) {
  const exports = await instantiate(bytes);
  exports.heed_read_floats();
  return bestRate(() => 4 * exports.heed_read_floats());
}

async function instantiate(bytes) {
  const nothing = new Proxy({}, { get: () => () => 0 });
  return (await WebAssembly.instantiate(bytes, { env: nothing, wasi_snapshot_preview1: nothing })).instance.exports;
}

function bestRate(run) {
  let best = 0;
  for (let call = 0; call < 10; call++) {
    const before = performance.now();
    const amount = run();
    best = Math.max(best, (1000 * amount) / (performance.now() - before));
  }
  return best;
}

/** Beyond, a result is wrong and not worth timing. */
const tolerance = 1e-4;

/** The record of one variant; a wrong result is not timed. */
async function measureVariant({ variant, call, memoryBytes }, data, workload, budgetMs) {
  let error;
  try {
    error = errorOf(await call(), data, workload);
  } catch (failure) {
    return { variant, failure: String(failure).slice(0, 200) };
  }
  if (!(error < tolerance)) return { variant, error };
  const seconds = await bestSeconds(call, budgetMs);
  return { variant, error, seconds, gflops: operationsOf(workload) / seconds / 1e9, memoryBytes: memoryBytes?.() };
}

/**
 * peers: { name, ceiling?, prepare(workload, data) }, where prepare gives the variants of that peer for
 * that workload: { variant?, call, release?, memoryBytes? }, none when it has nothing to show. Returns
 * a record a workload and peer, that of its fastest variant.
 */
export async function measure(workloads, peers, { budgetMs = 700, report = () => undefined } = {}) {
  const records = [];
  for (const workload of workloads) {
    const data = makeData(workload);
    for (const { name, ceiling, prepare } of peers) {
      const tried = [];
      try {
        for (const variant of await prepare(workload, data)) {
          tried.push(await measureVariant(variant, data, workload, budgetMs));
          await variant.release?.();
        }
      } catch (failure) {
        tried.push({ failure: String(failure).slice(0, 200) });
      }
      if (tried.length === 0) continue;
      const best = tried.reduce((a, b) => ((b.gflops ?? 0) > (a.gflops ?? 0) ? b : a));
      const record = { workload: nameOf(workload), peer: name, ...best };
      if (ceiling !== undefined && best.gflops !== undefined) record.ofCeiling = best.gflops / ceiling;
      records.push(record);
      report(record);
    }
  }
  return records;
}

/** One query against a long cache: bytes of keys and values read a second. */
export async function decodeBandwidth(heed, { length, headDim }) {
  const { query, key, value } = makeData({ heads: 1, length, headDim });
  const cache = heed.keyValueCache({ headDim, capacity: length });
  cache.append(key, value);
  const request = { query: query.subarray(0, headDim) };
  const seconds = await bestSeconds(() => cache.attend(request), 500);
  cache.dispose();
  return (2 * 4 * length * headDim) / seconds;
}

/** Seconds of a call with next to nothing to compute. */
export async function callSeconds(heed) {
  const one = new Float32Array(4);
  const inputs = { query: one, key: one, value: one, shape: { queryLen: 1, headDim: 4 } };
  return bestSeconds(() => heed.attention(inputs), 300);
}

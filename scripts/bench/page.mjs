// The browser's side of the benchmark: scripts/bench.mjs opens this page and calls runBenchmark().
import * as litert from '@litertjs/core';
import * as ort from 'onnxruntime-web/wasm';
import * as ruvector from 'ruvector-attention-wasm/ruvector_attention_wasm.js';
import * as tf from '@tensorflow/tfjs-core';
import { setWasmPaths, setThreadsCount } from '@tensorflow/tfjs-backend-wasm';
import { createClient } from '../../dist/client/index.js';
import { init } from '../../dist/index.js';
import { litertModel } from './litert-model.mjs';
import { callSeconds, ceilingGflops, decodeBandwidth, measure, readBandwidth } from './measure.mjs';
import { heedClientPeer, heedPeer } from './peers/heed.mjs';
import { litertPeer } from './peers/litert.mjs';
import { onnxPeer } from './peers/onnxruntime.mjs';
import { plainJavaScript } from './peers/plain-javascript.mjs';
import { ruvectorPeer } from './peers/ruvector.mjs';
import { tfjsPeer } from './peers/tfjs.mjs';
import { nameOf } from './workloads.mjs';

const file = (path) => `${location.origin}/scripts/bench/node_modules/${path}`;

async function peersOf(threads, ceilings, models) {
  ort.env.wasm.wasmPaths = file('onnxruntime-web/dist/');
  ort.env.wasm.numThreads = threads;
  const onnx = onnxPeer('onnxruntime-web', ort, (workload) => Object.fromEntries(Object.entries(models[nameOf(workload)]).map(([variant, bytes]) => [variant, Uint8Array.from(bytes)])), { executionProviders: ['wasm'] });
  const wasm = file('@litertjs/core/wasm/');
  if (threads > 1) {
    return [
      heedClientPeer('heed relaxed, workers', await createClient({ workers: threads, simd: 'relaxed' }), threads * ceilings.relaxed),
      litertPeer('LiteRT.js', litert, `${wasm}litert_wasm_threaded_internal.js`, litertModel, { load: { threads: true }, compile: { numThreads: threads } }),
      onnx,
    ];
  }
  await ruvector.default(file('ruvector-attention-wasm/ruvector_attention_wasm_bg.wasm'));
  ruvector.init();
  setWasmPaths(file('@tensorflow/tfjs-backend-wasm/dist/'));
  setThreadsCount(1);
  await tf.setBackend('wasm');
  return [
    heedPeer('heed relaxed', await init({ simd: 'relaxed' }), ceilings.relaxed),
    heedPeer('heed simd128', await init({ simd: 'simd128' }), ceilings.simd128),
    litertPeer('LiteRT.js', litert, `${wasm}litert_wasm_internal.js`, litertModel),
    litertPeer('LiteRT.js, not relaxed', litert, `${wasm}litert_wasm_compat_internal.js`, litertModel),
    onnx, tfjsPeer(tf), ruvectorPeer(ruvector), plainJavaScript,
  ];
}

/** models: bytes by workload name and variant; ceilings: bytes of the two ceiling modules. */
globalThis.runBenchmark = async ({ workloads, models, ceilings: modules, threads, peers, budgetMs }) => {
  const ceilings = {};
  for (const [simd, bytes] of Object.entries(modules)) ceilings[simd] = await ceilingGflops(Uint8Array.from(bytes));
  const wanted = (await peersOf(threads, ceilings, models)).filter(({ name }) => new RegExp(peers).test(name));
  const records = await measure(workloads, wanted, { budgetMs, report: (record) => console.log(JSON.stringify(record)) });
  if (threads > 1) return { ceilings, records };
  const heed = await init({ simd: 'relaxed' });
  const bandwidth = await readBandwidth(Uint8Array.from(modules.relaxed));
  const decode = await decodeBandwidth(heed, { length: 16384, headDim: 64 });
  return { ceilings, records, decode: { bytesPerSecond: decode, ofRead: decode / bandwidth }, callMicroseconds: 1e6 * (await callSeconds(heed)) };
};

// The browser's side of the benchmark: scripts/bench.mjs opens this page and calls runBenchmark().
import * as ort from 'onnxruntime-web/wasm';
import { init } from '../../dist/index.js';
import { ceilingGflops, heedPeer, measure, onnxPeer, plainJavaScript } from './measure.mjs';
import { nameOf } from './workloads.mjs';

ort.env.wasm.numThreads = 1;
ort.env.wasm.wasmPaths = '/node_modules/onnxruntime-web/dist/';

/** models: bytes by workload name; ceilings: bytes of the two ceiling modules. */
globalThis.runBenchmark = async (workloads, models, ceilings) => {
  const [simd128, relaxed] = [await ceilingGflops(Uint8Array.from(ceilings.simd128)), await ceilingGflops(Uint8Array.from(ceilings.relaxed))];
  const peers = [
    heedPeer('heed relaxed', await init({ simd: 'relaxed' }), relaxed),
    heedPeer('heed simd128', await init({ simd: 'simd128' }), simd128),
    onnxPeer('onnxruntime-web', ort, (workload) => Uint8Array.from(models[nameOf(workload)])),
    plainJavaScript,
  ];
  const records = await measure(workloads, peers, (record) => console.log(JSON.stringify(record)));
  return { ceilings: { simd128, relaxed }, records };
};

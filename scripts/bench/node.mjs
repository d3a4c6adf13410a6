// The package in Node, one thread, beside what an engineer would import there instead.
import { join } from 'node:path';
import { setFlagsFromString } from 'node:v8';
import { buildCeilings } from './ceilings.mjs';
import { callSeconds, ceilingGflops, decodeBandwidth, measure, readBandwidth } from './measure.mjs';
import { attentionModels } from './onnx-model.mjs';
import { heedPeer } from './peers/heed.mjs';
import { onnxPeer } from './peers/onnxruntime.mjs';
import { plainJavaScript } from './peers/plain-javascript.mjs';

export async function inNode(root, { workloads, peers, budgetMs, report }) {
  // Node 20 knows relaxed SIMD behind a flag; later ones have it on.
  setFlagsFromString('--experimental-wasm-relaxed-simd');
  const { init } = await import(join(root, 'dist/index-node.js'));
  const ort = await import('onnxruntime-web');
  ort.env.wasm.numThreads = 1;
  const modules = buildCeilings(root);
  const ceilings = {};
  for (const [simd, bytes] of Object.entries(modules)) ceilings[simd] = await ceilingGflops(bytes);
  const all = [
    heedPeer('heed relaxed', await init({ simd: 'relaxed' }), ceilings.relaxed),
    heedPeer('heed simd128', await init({ simd: 'simd128' }), ceilings.simd128),
    onnxPeer('onnxruntime-web', ort, attentionModels, { executionProviders: ['wasm'] }),
    plainJavaScript,
  ];
  const records = await measure(workloads, all.filter(({ name }) => new RegExp(peers).test(name)), { budgetMs, report });
  const heed = await init({ simd: 'relaxed' });
  const decode = await decodeBandwidth(heed, { length: 16384, headDim: 64 });
  return {
    ceilings, records, version: `Node ${process.version}`,
    decode: { bytesPerSecond: decode, ofRead: decode / (await readBandwidth(modules.relaxed)) },
    callMicroseconds: 1e6 * (await callSeconds(heed)),
  };
}

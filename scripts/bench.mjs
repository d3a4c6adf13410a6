// Benchmarks exact attention in WebAssembly against its peers and against the machine's own ceiling,
// one thread, in Node and in Chromium.
//
//   usage: node scripts/bench.mjs [node|chromium]       after scripts/build-package
//
// Prints the records, and writes them to build/bench/bench.json with a table in build/bench/bench.md.
// Ratios within one run are what counts; run it on an idle machine.
import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { cpus } from 'node:os';
import { join } from 'node:path';
import { attentionModel } from './bench/onnx-model.mjs';
import { ceilingGflops, heedPeer, measure, onnxPeer, plainJavaScript } from './bench/measure.mjs';
import { nameOf, workloads } from './bench/workloads.mjs';

const root = join(import.meta.dirname, '..');

/** The ceiling modules, built from cpp/bench with the presets of the library. */
function buildCeilings() {
  const build = (preset) => {
    execFileSync('cmake', ['--preset', preset, '-DHEED_BUILD_BENCH=ON'], { cwd: root, stdio: 'ignore' });
    execFileSync('cmake', ['--build', '--preset', preset, '--target', 'heed_ceiling'], { cwd: root, stdio: 'ignore' });
    return readFileSync(join(root, `build/${preset}/cpp/bench/heed_ceiling.wasm`));
  };
  return { simd128: build('wasm'), relaxed: build('wasm-relaxed') };
}

const show = ({ workload, peer, milliseconds, gflops, ofCeiling, error, failure }) => console.log(
  workload.padEnd(18), peer.padEnd(18), failure ?? '', milliseconds === undefined ? 'no result' : `${milliseconds.toFixed(3)} ms  ${gflops.toFixed(1)} GFLOP/s`,
  ofCeiling === undefined ? '' : `${(100 * ofCeiling).toFixed(0)} % of the ceiling`, error === undefined ? '' : ` error ${error.toExponential(1)}`);

async function inNode(ceilings) {
  const { init } = await import(join(root, 'dist/index-node.js'));
  const ort = await import('onnxruntime-web');
  ort.env.wasm.numThreads = 1;
  const peers = [];
  const measured = {};
  for (const simd of ['relaxed', 'simd128']) {
    // Node 20 has relaxed SIMD behind --experimental-wasm-relaxed-simd.
    const heed = await init({ simd }).catch(() => undefined);
    if (heed === undefined) continue;
    measured[simd] = await ceilingGflops(ceilings[simd]);
    peers.push(heedPeer(`heed ${simd}`, heed, measured[simd]));
  }
  peers.push(onnxPeer('onnxruntime-web', ort, attentionModel), plainJavaScript);
  return { ceilings: measured, records: await measure(workloads, peers, show) };
}

async function inChromium(ceilings) {
  const { chromium } = await import('@playwright/test');
  const { createServer } = await import('vite');
  const server = await createServer({ root, configFile: false, logLevel: 'error', optimizeDeps: { exclude: ['onnxruntime-web'] }, server: { port: 0 } });
  await server.listen();
  const browser = await chromium.launch({ executablePath: process.env.HEED_CHROMIUM ?? '/usr/bin/chromium', args: ['--no-sandbox', '--disable-gpu'] });
  const page = await browser.newPage();
  page.on('console', (message) => { if (message.text().startsWith('{')) show(JSON.parse(message.text())); });
  await page.goto(`${server.resolvedUrls.local[0]}scripts/bench/page.html`);
  await page.waitForFunction(() => globalThis.runBenchmark !== undefined);
  const models = Object.fromEntries(workloads.map((workload) => [nameOf(workload), [...attentionModel(workload)]]));
  const bytes = { simd128: [...ceilings.simd128], relaxed: [...ceilings.relaxed] };
  const result = await page.evaluate(([w, m, c]) => globalThis.runBenchmark(w, m, c), [workloads, models, bytes]);
  await browser.close();
  await server.close();
  return result;
}

function table(host, { ceilings, records }) {
  const peers = [...new Set(records.map(({ peer }) => peer))];
  const cell = (workload, peer) => {
    const record = records.find((r) => r.workload === workload && r.peer === peer);
    if (record === undefined) return '';
    if (record.gflops === undefined) return record.failure === undefined ? 'wrong' : 'fails';
    return `${record.gflops.toFixed(1)}${record.ofCeiling === undefined ? '' : ` (${(100 * record.ofCeiling).toFixed(0)} %)`}`;
  };
  return [
    `## ${host}`, '',
    `GFLOP/s = 4 heads length² head_dim / time, causal counted as half; in brackets the fraction of the ceiling: ${Object.entries(ceilings).map(([simd, gflops]) => `${simd} ${gflops.toFixed(1)}`).join(', ')} GFLOP/s.`, '',
    `| | ${peers.join(' | ')} |`, `|---|${peers.map(() => '---|').join('')}`,
    ...[...new Set(records.map(({ workload }) => workload))].map((workload) => `| ${workload} | ${peers.map((peer) => cell(workload, peer)).join(' | ')} |`), '',
  ].join('\n');
}

const hosts = process.argv[2] === undefined ? ['node', 'chromium'] : [process.argv[2]];
const ceilings = buildCeilings();
const results = {};
for (const host of hosts) {
  console.log(`== ${host}`);
  results[host] = await (host === 'node' ? inNode(ceilings) : inChromium(ceilings));
}
const folder = join(root, 'build/bench');
mkdirSync(folder, { recursive: true });
writeFileSync(join(folder, 'bench.json'), `${JSON.stringify({ machine: cpus()[0]?.model, date: new Date().toISOString(), results }, null, 2)}\n`);
writeFileSync(join(folder, 'bench.md'), Object.entries(results).map(([host, result]) => table(host, result)).join('\n'));

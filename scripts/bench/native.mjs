// heed's native benchmark beside onnxruntime-node, with one and two threads.
import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { measure } from './measure.mjs';
import { attentionModels } from './onnx-model.mjs';
import { onnxPeer } from './peers/onnxruntime.mjs';
import { nameOf } from './workloads.mjs';

/** Records of cpp/bench, best instruction set, by workload and threads. */
function heedRecords(root, workloads, quick) {
  execFileSync('cmake', ['--preset', 'native', '-DHEED_BUILD_BENCH=ON'], { cwd: root, stdio: 'ignore' });
  execFileSync('cmake', ['--build', '--preset', 'native', '--target', 'heed_bench'], { cwd: root, stdio: 'ignore' });
  const output = execFileSync(join(root, 'build/native/cpp/bench/heed_bench'), [
    '--benchmark_filter=attention|decode', '--benchmark_format=json', `--benchmark_min_time=${quick ? 0.01 : 0.7}`,
  ], { cwd: root, encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'], maxBuffer: 2 ** 26 });
  const { context, benchmarks } = JSON.parse(output);
  const sets = Object.keys(context).filter((key) => key.startsWith('peak_gflops_')).map((key) => [key.slice('peak_gflops_'.length), Number(context[key])]);
  const [best, peak] = sets.reduce((a, b) => (b[1] > a[1] || b[0] === 'avx2' ? b : a));
  const names = new Map(workloads.map((workload) => [nameOf(workload).replace(' ', '/'), nameOf(workload)]));
  const records = benchmarks.flatMap(({ name, 'GFLOP/s': gflops, of_peak: ofCeiling, error }) => {
    const [, set, workload, threads] = /^attention\/(\w+)\/(.*)\/threads:(\d)/.exec(name) ?? [];
    if (set !== best || !names.has(workload)) return [];
    return [{ workload: names.get(workload), peer: `heed ${set}, ${threads} thread${threads === '1' ? '' : 's'}`, gflops, ofCeiling, error }];
  });
  const decode = benchmarks.find(({ name }) => name.startsWith('decode/1x'));
  return { records, ceilings: { [best]: peak }, decode: { bytesPerSecond: 1e9 * decode['GB/s'], ofRead: decode.of_read } };
}

export async function inNative(root, { workloads, peers, budgetMs, report }) {
  const ort = await import('onnxruntime-node');
  const onnx = [1, 2].map((threads) => onnxPeer(`onnxruntime-node, ${threads} thread${threads === 1 ? '' : 's'}`, ort, attentionModels, { intraOpNumThreads: threads }));
  const heed = heedRecords(root, workloads, budgetMs < 100);
  heed.records.forEach(report);
  const records = await measure(workloads, onnx.filter(({ name }) => new RegExp(peers).test(name)), { budgetMs, report });
  return { ...heed, records: [...heed.records, ...records], version: 'native' };
}

// Benchmarks exact attention against its peers and against the machine's own ceiling, in the same run.
//
//   usage: npm run bench -- [HOST...] [--only=REGEX] [--peers=REGEX] [--quick] [--write-docs]
//
//   HOST          chromium (one thread), chromium-2 (two workers or threads, cross-origin isolated),
//                 node (the package in Node, one thread), native (cpp/bench beside onnxruntime-node);
//                 all of them when none is given
//   --only        workloads whose name matches, for instance 8x1024x64
//   --peers       peers whose name matches
//   --quick       short timings, to see that all works
//   --write-docs  puts the tables into web/docs/benchmarks.md
//
// Prints the records, and writes them to build/bench/bench.json with tables in build/bench/bench.md.
// Ratios within one run are what counts; run it on an idle machine. The peers are the dependencies of
// scripts/bench/package.json and are installed when missing.
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { cpus } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { inChromium } from './bench/chromium.mjs';
import { inNative } from './bench/native.mjs';
import { inNode } from './bench/node.mjs';
import { line, summary, table } from './bench/report.mjs';
import { nameOf, workloads } from './bench/workloads.mjs';

const root = join(import.meta.dirname, '..');
const hosts = {
  chromium: (run) => inChromium(root, 1, run),
  'chromium-2': (run) => inChromium(root, 2, run),
  node: (run) => inNode(root, run),
  native: (run) => inNative(root, run),
};

const { values: options, positionals } = parseArgs({
  allowPositionals: true,
  options: { only: { type: 'string', default: '' }, peers: { type: 'string', default: '' }, quick: { type: 'boolean', default: false }, 'write-docs': { type: 'boolean', default: false } },
});
const unknown = positionals.find((host) => !(host in hosts));
if (unknown !== undefined) throw new Error(`unknown host "${unknown}"; known are ${Object.keys(hosts).join(', ')}`);

const run = {
  workloads: workloads.filter((workload) => new RegExp(options.only).test(nameOf(workload))),
  peers: options.peers,
  budgetMs: options.quick ? 1 : 700,
  report: (record) => console.log(line(record)),
};
const results = {};
for (const host of positionals.length > 0 ? positionals : Object.keys(hosts)) {
  console.log(`== ${host}`);
  results[host] = await hosts[host](run);
  console.log(summary(results[host]));
}

const folder = join(root, 'build/bench');
mkdirSync(folder, { recursive: true });
writeFileSync(join(folder, 'bench.json'), `${JSON.stringify({ machine: cpus()[0]?.model, date: new Date().toISOString(), results }, null, 2)}\n`);
const machine = `Measured on ${cpus().length} cores of: ${cpus()[0]?.model}, on ${new Date().toISOString().slice(0, 10)}.\n\n`;
const tables = machine + Object.entries(results).map(([host, result]) => table(host, result)).join('\n');
writeFileSync(join(folder, 'bench.md'), tables);
if (options['write-docs']) {
  const path = join(root, 'web/docs/benchmarks.md');
  const [before, after] = [/^[\s\S]*<!-- tables -->\n/, /<!-- end of tables -->[\s\S]*$/].map((part) => part.exec(readFileSync(path, 'utf8'))[0]);
  writeFileSync(path, `${before}\n${tables}\n${after}`);
}

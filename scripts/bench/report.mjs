// Records as lines, tables and ratios.

const percent = (fraction) => `${(100 * fraction).toFixed(0)} %`;

export function line({ workload, peer, variant, gflops, ofCeiling, error, failure, memoryBytes }) {
  const rate = gflops !== undefined ? `${gflops.toFixed(1)} GFLOP/s` : failure !== undefined ? `fails: ${failure}` : 'wrong result';
  return [
    workload.padEnd(18), peer.padEnd(26), rate, variant !== undefined && `(${variant})`, ofCeiling !== undefined && `${percent(ofCeiling)} of the ceiling`,
    error !== undefined && `error ${error.toExponential(1)}`, memoryBytes !== undefined && `${(memoryBytes / 2 ** 20).toFixed(1)} MB`,
  ].filter(Boolean).join('  ');
}

/** The first peer, heed's own fastest, over another: by workload. */
function ratios(records, own, peer) {
  const rate = (workload, name) => records.find((r) => r.workload === workload && r.peer === name)?.gflops;
  return records.filter((r) => r.peer === peer && r.gflops !== undefined && rate(r.workload, own) !== undefined)
    .map((r) => ({ workload: r.workload, ratio: rate(r.workload, own) / r.gflops }));
}

/** The smallest ratio of heed to each peer, full and causal apart. */
export function summary({ records, decode, callMicroseconds }) {
  const peers = [...new Set(records.map(({ peer }) => peer))];
  const lines = peers.filter((peer) => !peer.startsWith('heed')).flatMap((peer) => {
    // With one thread against one, with two against two.
    const own = peers.find((name) => name.startsWith('heed') && (!/\d thread/.test(peer) || name.includes(/\d thread/.exec(peer)[0])));
    return [false, true].flatMap((causal) => {
      const found = ratios(records, own, peer).filter(({ workload }) => workload.endsWith('causal') === causal);
      if (found.length === 0) return [];
      const least = found.reduce((a, b) => (b.ratio < a.ratio ? b : a)), most = found.reduce((a, b) => (b.ratio > a.ratio ? b : a));
      return [`${own} is ${least.ratio.toFixed(2)} (${least.workload}) to ${most.ratio.toFixed(2)} (${most.workload}) times ${peer}${causal ? ', causal' : ''}`];
    });
  });
  if (decode !== undefined) lines.push(`decoding, one query against 16384 keys: ${(decode.bytesPerSecond / 1e9).toFixed(1)} GB/s, ${percent(decode.ofRead)} of reading memory (8 MB of keys and values, which a large cache may hold)`);
  if (callMicroseconds !== undefined) lines.push(`a call with one query and one key: ${callMicroseconds.toFixed(1)} microseconds`);
  return lines.join('\n');
}

export function table(host, result) {
  const { ceilings, records, version } = result;
  const peers = [...new Set(records.map(({ peer }) => peer))];
  const cell = (workload, peer) => {
    const record = records.find((r) => r.workload === workload && r.peer === peer);
    if (record === undefined) return '';
    if (record.gflops === undefined) return record.failure === undefined ? 'wrong' : 'fails';
    return `${record.gflops.toFixed(1)}${record.ofCeiling === undefined ? '' : ` (${percent(record.ofCeiling)})`}`;
  };
  const memory = records.filter(({ memoryBytes }) => memoryBytes !== undefined);
  const most = memory.reduce((a, b) => Math.max(a, b.memoryBytes), 0);
  return [
    `## ${host} (${version})`, '',
    `GFLOP/s = 4 heads length² head_dim / time, causal counted as half; in brackets the fraction of the ceiling: ${Object.entries(ceilings).map(([simd, gflops]) => `${simd} ${gflops.toFixed(1)} GFLOP/s`).join(', ')} a thread.`, '',
    `| | ${peers.join(' | ')} |`, `|---|${peers.map(() => '---|').join('')}`,
    ...[...new Set(records.map(({ workload }) => workload))].map((workload) => `| ${workload} | ${peers.map((peer) => cell(workload, peer)).join(' | ')} |`), '',
    ...summary(result).split('\n').map((text) => `- ${text}`),
    ...(most > 0 ? [`- WebAssembly memory of heed after the largest of these: ${(most / 2 ** 20).toFixed(0)} MB, inputs and outputs included`] : []), '',
  ].join('\n');
}

// What a client does while its worker is busy, aborted, ended or killed.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { launch, serve, siteWith, titleOf } from './support.mjs';

let browser;
before(async () => { browser = await launch(); });
after(() => browser.close());

/** In a page: what a client's calls do while its worker is busy, aborted, ended or killed. */
const useOfWorker = `
  const data = (size, seed) => Float32Array.from({ length: size }, (_, n) => Math.sin(n * seed));
  const problem = (length, dim) => ({ query: data(length * dim, 1.3), key: data(length * dim, 1.7), value: data(length * dim, 2.1), shape: { queryLen: length, headDim: dim } });
  const codeOf = (promise) => promise.then(() => 'none', (failure) => failure.code);
  const timed = async (call) => { const start = performance.now(); await call(); return performance.now() - start; };
  const client = await createClient();
  const large = await client.open(problem(12000, 64));
  const small = await client.open(problem(64, 8));
  await Promise.all([large.configure(), small.configure()]);
  await small.run('exact');

  // Ask for something else once the large run has begun; then abort it.
  const tileTimes = [], abortTimes = [], codes = [];
  let largeEndedFirst = false;
  for (let n = 0; n < 5; n++) {
    const controller = new AbortController();
    let begun;
    const first = new Promise((resolve) => { begun = resolve; });
    const code = codeOf(large.run('exact', { signal: controller.signal, onProgress: begun }).then(() => { largeEndedFirst = true; }));
    await first;
    tileTimes.push(await timed(() => small.tile('exact', { head: 0, rows: [0, 64], columns: [0, 64] })));
    controller.abort();
    // The worker answers something when it has let go of the run.
    abortTimes.push(await timed(() => client.memoryBytes()));
    codes.push(await code);
    large.configure({ scale: 0.1 + n });
  }

  const fractions = [];
  const middle = await client.open(problem(3000, 64));
  await middle.configure();
  const { milliseconds } = await middle.run('exact', { onProgress: (fraction) => fractions.push(fraction) });
  const stale = codeOf(large.run('exact'));
  await large.configure({ scale: 7 });

  const refused = await client.attention({ ...problem(4, 4), key: new Float32Array(3) }).catch((failure) => ({
    typed: failure instanceof HeedError, code: failure.code, field: failure.field, received: failure.received, expected: failure.expected, message: failure.message,
  }));
  small.dispose();
  const disposed = await codeOf(small.cost());
  const pending = codeOf(large.run('exact'));
  client.dispose();

  const killed = await createClient({ worker: () => new Worker('./mortal-worker.js', { type: 'module' }) });
  const dying = await killed.open(problem(12000, 64));
  await dying.configure();
  const death = codeOf(dying.run('exact'));
  // The call that kills; it may be answered before.
  codeOf(killed.memoryBytes());
  const results = {
    tileTimes, abortTimes, codes, largeEndedFirst, fractions, milliseconds, stale: await stale, refused, disposed, pending: await pending,
    death: await death, afterDeath: await codeOf(killed.memoryBytes()),
    noScript: await codeOf(createClient({ worker: () => new Worker('./nowhere.js', { type: 'module' }) })),
  };
  document.title = JSON.stringify(results);
`;

test('a worker reports progress, serves other calls meanwhile, lets go within 100 ms, and its death is heard of', async (t) => {
  const folder = siteWith('worker', {
    'mortal-worker.js': `import './heed/worker/worker.js';
    addEventListener('message', ({ data }) => { if (data.method === 'memoryBytes') throw new Error('killed by the test'); });`,
    'worker.html': `<!doctype html><title>x</title><script type="module">
    import { createClient, HeedError } from './heed/client/index.js';
    try { ${useOfWorker} } catch (failure) { document.title = JSON.stringify({ failure: String(failure) }); }</script>`,
  });
  const site = await serve(folder);
  const seen = await titleOf(browser, `${site.origin}/worker.html`);
  site.close();
  assert.equal(seen.failure, undefined);
  // The middle one of five: a busy machine may delay one or two.
  const median = (times) => [...times].sort((a, b) => a - b)[2];
  t.diagnostic(`ms for a tile beside a run: ${seen.tileTimes}; from abort to the next answer: ${seen.abortTimes}`);
  assert.ok(median(seen.tileTimes) < 100, `a tile took ${seen.tileTimes} ms beside a run`);
  assert.ok(median(seen.abortTimes) < 100, `the worker was busy for ${seen.abortTimes} ms after an abort`);
  assert.deepEqual(seen.codes, Array(5).fill('aborted'));
  assert.equal(seen.largeEndedFirst, false);
  assert.ok(seen.fractions.length > 2 && seen.fractions.every((f, n) => f > 0 && f <= 1 && f >= (seen.fractions[n - 1] ?? 0)), `progress ${seen.fractions}`);
  assert.equal(seen.fractions.at(-1), 1);
  assert.ok(seen.milliseconds > 0);
  assert.equal(seen.stale, 'aborted');
  assert.deepEqual(seen.refused, {
    typed: true, code: 'invalid-shape', field: 'key', received: '3 elements', expected: '16 (batch * kvHeads * keyLen * headDim)',
    message: 'key: received 3 elements, expected 16 (batch * kvHeads * keyLen * headDim)',
  });
  assert.equal(seen.disposed, 'disposed');
  assert.equal(seen.pending, 'disposed');
  assert.deepEqual([seen.death, seen.afterDeath, seen.noScript], Array(3).fill('worker-died'));
});

// Tests the packed npm package as its users meet it: imported by Node, built by Vite, and loaded by a
// plain <script type="module"> from a static server, the last two in Chromium.
//
//   usage: node tests/package/run.mjs        (after scripts/build-package)
import { chromium } from '@playwright/test';
import { execFileSync } from 'node:child_process';
import { createReadStream, cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { extname, join } from 'node:path';
import { test, after, before } from 'node:test';
import assert from 'node:assert/strict';

const root = join(import.meta.dirname, '../..');
const project = mkdtempSync(join(tmpdir(), 'heed-package-'));
const mimeTypes = { '.html': 'text/html', '.js': 'text/javascript', '.mjs': 'text/javascript', '.wasm': 'application/wasm' };

/** Runs in every host: attention through the facade and through a worker, against a plain loop. */
const useOfPackage = `
  const [queryLen, keyLen, headDim] = [5, 7, 4];
  const data = (size, phase) => Float32Array.from({ length: size }, (_, n) => Math.sin(n * 1.7 + phase));
  const inputs = { query: data(20, 0), key: data(28, 1), value: data(28, 2), shape: { queryLen, keyLen, headDim } };
  const expected = [];
  for (let i = 0; i < queryLen; i++) {
    const weights = [];
    for (let j = 0; j < keyLen; j++) {
      let dot = 0;
      for (let t = 0; t < headDim; t++) dot += inputs.query[i * headDim + t] * inputs.key[j * headDim + t];
      weights.push(Math.exp(dot / 2));
    }
    const sum = weights.reduce((a, b) => a + b);
    for (let t = 0; t < headDim; t++) expected.push(weights.reduce((acc, w, j) => acc + w / sum * inputs.value[j * headDim + t], 0));
  }
  const error = (context) => Math.max(...expected.map((x, n) => Math.abs(x - context[n])));
`;
const useInPage = `
  ${useOfPackage}
  try {
    const heed = await init();
    const inThread = error(heed.attention(inputs).context);
    const client = await createClient();
    const inWorker = error((await client.attention(inputs)).context);
    client.dispose();
    const several = await createClient({ workers: 2 });
    const long = { shape: { queryLen: 900, headDim: 32 } };
    for (const [phase, name] of ['query', 'key', 'value'].entries()) long[name] = data(900 * 32, phase);
    const whole = heed.attention(long).context;
    const inWorkers = Math.max(...(await several.attention(long)).context.map((x, n) => Math.abs(x - whole[n])));
    several.dispose();
    document.title = JSON.stringify({ inThread, inWorker, inWorkers, instructionSet: heed.instructionSet, worker: client.instructionSet });
  } catch (failure) {
    document.title = JSON.stringify({ failure: String(failure), cause: String(failure.cause) });
  }
`;

const run = (command, args, cwd = project) => execFileSync(command, args, { cwd, encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] });

/** A static server; `mimeOf` may lie. */
async function serve(folder, mimeOf = (path) => mimeTypes[extname(path)] ?? 'application/octet-stream') {
  const server = createServer((request, response) => {
    const path = join(folder, new URL(request.url, 'http://localhost').pathname);
    if (!existsSync(path) || path.endsWith('/')) {
      response.writeHead(404, { 'content-type': 'text/html' }).end('<!doctype html><title>404</title>');
      return;
    }
    response.writeHead(200, { 'content-type': mimeOf(path) });
    createReadStream(path).pipe(response);
  });
  await new Promise((resolve) => server.listen(0, resolve));
  return { origin: `http://localhost:${server.address().port}`, close: () => server.close() };
}

let browser;

/** Opens a page and returns what it wrote into its title as JSON. */
async function titleOf(url) {
  const page = await browser.newPage();
  const messages = [];
  page.on('console', (message) => messages.push(message.text()));
  page.on('pageerror', (failure) => messages.push(String(failure)));
  await page.goto(url);
  await page.waitForFunction(() => document.title.startsWith('{'), undefined, { timeout: 30_000 })
    .catch(() => assert.fail(`the page said nothing; its console: ${messages.join('\n')}`));
  const title = JSON.parse(await page.title());
  await page.close();
  return title;
}

function assertWorks(title) {
  assert.equal(title.failure, undefined, `${title.failure} (${title.cause})`);
  assert.ok(title.inThread < 1e-6, `error in the page's thread: ${title.inThread}`);
  assert.ok(title.inWorker < 1e-6, `error in the worker: ${title.inWorker}`);
  assert.ok(title.inWorkers < 1e-6, `difference of two workers: ${title.inWorkers}`);
  assert.equal(title.instructionSet, 'wasm-relaxed');
  assert.equal(title.worker, 'wasm-relaxed');
}

before(async () => {
  const [{ filename }] = JSON.parse(run('npm', ['pack', '--json', '--pack-destination', project], root));
  writeFileSync(join(project, 'package.json'), JSON.stringify({ name: 'user', private: true, type: 'module' }));
  run('npm', ['install', '--no-audit', '--no-fund', join(project, filename)]);
  browser = await chromium.launch({
    executablePath: process.env.HEED_CHROMIUM ?? '/usr/bin/chromium',
    args: ['--headless=new', '--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', '--disable-background-networking', '--disable-component-update', '--disable-sync'],
  });
});

after(async () => {
  await browser?.close();
  rmSync(project, { recursive: true, force: true });
});

test('the tarball holds the built modules, their types and binaries, and nothing else', () => {
  const files = run('find', ['.', '-type', 'f'], join(project, 'node_modules/heed')).trim().split('\n').map((f) => f.slice(2));
  const unexpected = files.filter((f) => !/^(dist\/.*\.(js|mjs|d\.ts|d\.mts|wasm)|package\.json|README\.md|LICENSE)$/.test(f));
  assert.deepEqual(unexpected, []);
  for (const file of ['dist/index.js', 'dist/index-node.js', 'dist/client/index.js', 'dist/worker/worker.js', 'dist/core/generated/heed.wasm', 'dist/core/generated/heed-relaxed.wasm']) {
    assert.ok(files.includes(file), `${file} is missing`);
  }
});

test('no module for the browser needs eval, Node or another package', () => {
  const folder = join(project, 'node_modules/heed/dist');
  for (const file of run('find', ['.', '-name', '*.js', '-o', '-name', '*.mjs'], folder).trim().split('\n')) {
    const text = readFileSync(join(folder, file), 'utf8');
    assert.doesNotMatch(text, /new Function|\beval\(/, file);
    if (file !== './core/node.js') assert.doesNotMatch(text, /(from|import\()\s*['"](?!\.)/, file);
  }
});

test('Node imports it and computes', () => {
  writeFileSync(join(project, 'use.mjs'), `
    import { init, HeedError } from 'heed';
    ${useOfPackage}
    const heed = await init();
    let field = '';
    try { heed.attention({ ...inputs, query: new Float32Array(3) }); } catch (failure) { if (failure instanceof HeedError) field = failure.field; }
    console.log(JSON.stringify({ error: error(heed.attention(inputs).context), field, set: heed.instructionSet }));
  `);
  const result = JSON.parse(run('node', ['use.mjs']));
  assert.ok(result.error < 1e-6, `error ${result.error}`);
  assert.equal(result.field, 'query');
  assert.match(result.set, /^wasm-/);
});

test('CommonJS reaches it through import()', () => {
  writeFileSync(join(project, 'use.cjs'), `import('heed').then(({ init }) => init()).then((heed) => console.log(heed.instructionSet));`);
  assert.match(run('node', ['use.cjs']), /^wasm-/);
});

test('TypeScript finds its types', () => {
  writeFileSync(join(project, 'use.ts'), `
    import { init, type AttentionResult } from 'heed';
    import { createClient } from 'heed/client';
    export async function use(x: Float32Array): Promise<AttentionResult> {
      const heed = await init();
      using client = await createClient();
      await client.attention({ query: x, key: x, value: x, shape: { queryLen: 4, headDim: 4 } }, { causal: true });
      return heed.attention({ query: x, key: x, value: x, shape: { queryLen: 4, headDim: 4 } });
    }
  `);
  run(join(root, 'node_modules/.bin/tsc'), ['--noEmit', '--strict', '--target', 'esnext', '--module', 'esnext', '--moduleResolution', 'bundler', '--lib', 'esnext,dom', 'use.ts']);
});

test('a Vite build runs in Chromium, in the page and in the worker', async () => {
  writeFileSync(join(project, 'index.html'), '<!doctype html><title>x</title><script type="module" src="/main.js"></script>');
  writeFileSync(join(project, 'main.js'), `import { init } from 'heed';\nimport { createClient } from 'heed/client';\n${useInPage}`);
  run(join(root, 'node_modules/.bin/vite'), ['build', '--target', 'esnext', '--outDir', 'built']);
  const site = await serve(join(project, 'built'));
  assertWorks(await titleOf(`${site.origin}/index.html`));
  site.close();
});

const typedAs = (type) => (path) => (path.endsWith('.wasm') ? type : mimeTypes[extname(path)]);
for (const [name, mimeOf] of [['the right MIME types', undefined], ['wasm as text/plain', typedAs('text/plain')], ['a charset behind the MIME type', typedAs('application/wasm; charset=utf-8')]]) {
  test(`a plain module script runs from a static server with ${name}`, async () => {
    const folder = join(project, 'plain');
    mkdirSync(folder, { recursive: true });
    cpSync(join(project, 'node_modules/heed/dist'), join(folder, 'heed'), { recursive: true });
    writeFileSync(join(folder, 'plain.html'), `<!doctype html><title>x</title><script type="module">
      import { init } from './heed/index.js';
      import { createClient } from './heed/client/index.js';
      ${useInPage}</script>`);
    const site = await serve(folder, mimeOf);
    assertWorks(await titleOf(`${site.origin}/plain.html`));
    site.close();
  });
}

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
  const folder = join(project, 'worker');
  cpSync(join(project, 'node_modules/heed/dist'), join(folder, 'heed'), { recursive: true });
  writeFileSync(join(folder, 'mortal-worker.js'), `import './heed/worker/worker.js';
    addEventListener('message', ({ data }) => { if (data.method === 'memoryBytes') throw new Error('killed by the test'); });`);
  writeFileSync(join(folder, 'worker.html'), `<!doctype html><title>x</title><script type="module">
    import { createClient, HeedError } from './heed/client/index.js';
    try { ${useOfWorker} } catch (failure) { document.title = JSON.stringify({ failure: String(failure) }); }</script>`);
  const site = await serve(folder);
  const seen = await titleOf(`${site.origin}/worker.html`);
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

test('a missing wasm file is a clear error', async () => {
  const folder = join(project, 'missing');
  cpSync(join(project, 'node_modules/heed/dist'), join(folder, 'heed'), { recursive: true });
  rmSync(join(folder, 'heed/core/generated/heed-relaxed.wasm'));
  writeFileSync(join(folder, 'missing.html'), `<!doctype html><title>x</title><script type="module">
    import { init } from './heed/index.js';
    const failure = await init().catch((e) => e);
    document.title = JSON.stringify({ code: failure.code, received: failure.received });</script>`);
  const site = await serve(folder);
  const title = await titleOf(`${site.origin}/missing.html`);
  assert.equal(title.code, 'wasm-unavailable');
  assert.match(title.received, /404/);
  site.close();
});

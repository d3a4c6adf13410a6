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
    document.title = JSON.stringify({ inThread, inWorker, instructionSet: heed.instructionSet, worker: client.instructionSet });
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

for (const [name, mimeOf] of [['the right MIME types', undefined], ['wasm as text/plain', (path) => (path.endsWith('.wasm') ? 'text/plain' : mimeTypes[extname(path)])]]) {
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

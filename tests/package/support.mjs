// What the tests of the packed tarball share: the user's project, static servers, browsers.
import { chromium } from '@playwright/test';
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { cpSync, createReadStream, existsSync, mkdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { dirname, extname, join } from 'node:path';

export const root = join(import.meta.dirname, '../..');
/** Outside of the checkout, so that nothing of it is found by accident. */
export const project = join(tmpdir(), 'heed-package');
export const installed = join(project, 'node_modules/heed');
export const binary = (name) => join(root, 'node_modules/.bin', name);

export const mimeTypes = {
  '.html': 'text/html', '.js': 'text/javascript', '.mjs': 'text/javascript', '.wasm': 'application/wasm', '.json': 'application/json',
  '.css': 'text/css', '.png': 'image/png', '.safetensors': 'application/octet-stream',
};

export function run(command, args, cwd = project, env = {}) {
  try {
    return execFileSync(command, args, { cwd, encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'], env: { ...process.env, ...env } });
  } catch (failure) {
    throw new Error(`${command} ${args.join(' ')}\n${failure.stdout}${failure.stderr}`);
  }
}

/** A new folder of the project with files by name; it finds the installed package. */
export function folderOf(name, files = {}) {
  const folder = join(project, name);
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  for (const [file, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, file)), { recursive: true });
    writeFileSync(join(folder, file), text);
  }
  return folder;
}

/** A folder as a site has it: the package's files under heed/. */
export function siteWith(name, files = {}) {
  const folder = folderOf(name, files);
  cpSync(join(installed, 'dist'), join(folder, 'heed'), { recursive: true });
  return folder;
}

/** A static server. `mimeOf` may lie; `headers` go with every answer; `missing` is what answers for a file that is not there. */
export async function serve(folder, { mimeOf, headers = {}, missing = [404, '<!doctype html><title>404</title>'], on } = {}) {
  const server = createServer((request, response) => {
    const { pathname } = new URL(request.url, 'http://localhost');
    if (on?.(request, response, pathname)) return;
    const path = join(folder, decodeURIComponent(pathname.endsWith('/') ? `${pathname}index.html` : pathname));
    if (!existsSync(path) || !statSync(path).isFile()) {
      response.writeHead(missing[0], { 'content-type': 'text/html', ...headers }).end(missing[1]);
      return;
    }
    response.writeHead(200, { 'content-type': mimeOf?.(path) ?? mimeTypes[extname(path)] ?? 'application/octet-stream', ...headers });
    createReadStream(path).pipe(response);
  });
  await new Promise((resolve) => { server.listen(0, resolve); });
  return { origin: `http://localhost:${server.address().port}`, close() { server.close(); server.closeAllConnections(); } };
}

export const launch = (args = []) => chromium.launch({
  executablePath: process.env.HEED_CHROMIUM ?? '/usr/bin/chromium',
  args: ['--headless=new', '--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', '--disable-background-networking', '--disable-component-update', '--disable-sync', ...args],
});

/** Opens a page and returns what it wrote into its title as JSON. */
export async function titleOf(browser, url) {
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

/** Runs in every host: attention against a plain loop. */
export const useOfPackage = `
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

/** In a page: the facade, a worker, two workers; the result goes to `tell(result)`, into the title unless said otherwise. */
export const useInPage = (tell = '(result) => { document.title = JSON.stringify(result); }') => `
  ${useOfPackage}
  const tell = ${tell};
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
    tell({ inThread, inWorker, inWorkers, instructionSet: heed.instructionSet, worker: client.instructionSet });
  } catch (failure) {
    tell({ failure: String(failure), cause: String(failure.cause) });
  }
`;

export function assertWorks(result, instructionSet = 'wasm-relaxed') {
  assert.equal(result.failure, undefined, `${result.failure} (${result.cause})`);
  assert.ok(result.inThread < 1e-6, `error in the page's thread: ${result.inThread}`);
  assert.ok(result.inWorker < 1e-6, `error in the worker: ${result.inWorker}`);
  assert.ok(result.inWorkers < 1e-6, `difference of two workers: ${result.inWorkers}`);
  assert.equal(result.instructionSet, instructionSet);
  assert.equal(result.worker, instructionSet);
}

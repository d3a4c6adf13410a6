// The packed tarball through the bundlers that people use, without configuration where one can do without.
import assert from 'node:assert/strict';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { assertWorks, binary, folderOf, launch, project, root, run, serve, titleOf, useInPage } from './support.mjs';

let browser;
before(async () => { browser = await launch(); });
after(() => browser.close());

const page = '<!doctype html><meta charset="utf-8"><title>x</title><script type="module" src="./main.js"></script>';
const useOf = (inline = false) => `${inline ? "import { init, createClient } from 'heed/inline';" : "import { init } from 'heed';\nimport { createClient } from 'heed/client';"}\n${useInPage()}`;
const elementPage = '<!doctype html><meta charset="utf-8"><title>x</title><script type="module" src="./main.js"></script><heed-attention text="a b a" loading="eager"></heed-attention>';
const useOfElement = `import 'heed/element';
  const element = document.querySelector('heed-attention');
  element.addEventListener('error', ({ detail }) => { document.title = JSON.stringify({ failure: detail.message }); });
  element.addEventListener('ready', ({ detail }) => { document.title = JSON.stringify({ queryLen: detail.queryLen }); });`;

async function runIn(folder, file = 'index.html') {
  const site = await serve(folder);
  try {
    return await titleOf(browser, `${site.origin}/${file}`);
  } finally {
    site.close();
  }
}

test('a Vite build, and the element in it', async () => {
  const folder = folderOf('vite', { 'index.html': page, 'main.js': useOf() });
  run(binary('vite'), ['build', '--outDir', 'built', '--target', 'esnext'], folder);
  assertWorks(await runIn(join(folder, 'built')));
  const element = folderOf('vite-element', { 'index.html': elementPage, 'main.js': useOfElement });
  run(binary('vite'), ['build', '--outDir', 'built', '--target', 'esnext'], element);
  assert.deepEqual(await runIn(join(element, 'built')), { queryLen: 3 });
});

test('the Vite development server', async () => {
  const { createServer } = await import('vite');
  const folder = folderOf('vite-dev', { 'index.html': page, 'main.js': useOf(), 'element.html': elementPage.replace('main.js', 'element.js'), 'element.js': useOfElement });
  const server = await createServer({ root: folder, configFile: false, logLevel: 'error', server: { port: 0, fs: { allow: [project] } } });
  await server.listen();
  try {
    const [origin] = server.resolvedUrls.local;
    assertWorks(await titleOf(browser, `${origin}index.html`));
    assert.deepEqual(await titleOf(browser, `${origin}element.html`), { queryLen: 3 });
  } finally {
    await server.close();
  }
});

test('webpack 5 without configuration', async () => {
  const folder = folderOf('webpack', { 'index.html': page, 'src/index.js': useOf(), 'package.json': '{"type":"module"}' });
  const webpack = createRequire(join(root, 'package.json'))('webpack');
  const stats = await new Promise((resolve, reject) => {
    webpack({ context: folder, mode: 'production', entry: './src/index.js', output: { path: folder } }, (failure, result) => (failure ? reject(failure) : resolve(result)));
  });
  assert.deepEqual(stats.toJson({ errors: true, warnings: true }).errors, []);
  assertWorks(await runIn(folder));
});

test('esbuild, with heed/inline', async () => {
  const folder = folderOf('esbuild', { 'index.html': page.replace('main.js', 'built.js'), 'main.js': useOf(true) });
  run(binary('esbuild'), ['main.js', '--bundle', '--format=esm', '--outfile=built.js'], folder);
  assertWorks(await runIn(folder));
});

test('Rollup, with heed/inline', async () => {
  const folder = folderOf('rollup', { 'index.html': page.replace('main.js', 'built.js'), 'main.js': useOf(true) });
  const { rollup } = await import('rollup');
  // Rollup resolves no packages by itself; this is what its node-resolve plugin would find.
  const resolve = { name: 'resolve', resolveId: (id) => (id === 'heed/inline' ? join(project, 'node_modules/heed/dist/inline/index.js') : null) };
  const bundle = await rollup({ input: join(folder, 'main.js'), plugins: [resolve] });
  await bundle.write({ file: join(folder, 'built.js'), format: 'esm' });
  assertWorks(await runIn(folder));
});

test('what is not used is shaken off', () => {
  const folder = folderOf('shaken', { 'main.js': "import { HeedError } from 'heed'; import { createClient } from 'heed/client'; console.log(HeedError.name);" });
  run(binary('esbuild'), ['main.js', '--bundle', '--format=esm', '--minify', '--tree-shaking=true', '--outfile=built.js'], folder);
  const { length } = run('cat', ['built.js'], folder);
  assert.ok(length < 4000, `${length} characters remain of an import of the error class`);
});

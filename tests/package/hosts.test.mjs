// The packed tarball in the hosts that run it without a bundler: Node, and pages of every kind of server.
import assert from 'node:assert/strict';
import { rmSync } from 'node:fs';
import { extname, join } from 'node:path';
import { after, before, test } from 'node:test';
import { assertWorks, binary, folderOf, launch, mimeTypes, run, serve, siteWith, titleOf, useInPage, useOfPackage } from './support.mjs';

let browser;
before(async () => { browser = await launch(); });
after(() => browser.close());

const pageOf = (from, script = useInPage()) => `<!doctype html><meta charset="utf-8"><title>x</title><script type="module">
  import { init } from '${from}/index.js';
  import { createClient } from '${from}/client/index.js';
  ${script}</script>`;

test('Node imports it and computes', () => {
  const folder = folderOf('node', {
    'use.mjs': `
      import { init, HeedError } from 'heed';
      ${useOfPackage}
      const heed = await init();
      let field = '';
      try { heed.attention({ ...inputs, query: new Float32Array(3) }); } catch (failure) { if (failure instanceof HeedError) field = failure.field; }
      console.log(JSON.stringify({ error: error(heed.attention(inputs).context), field, set: heed.instructionSet }));`,
  });
  const result = JSON.parse(run('node', ['use.mjs'], folder));
  assert.ok(result.error < 1e-6, `error ${result.error}`);
  assert.equal(result.field, 'query');
  assert.match(result.set, /^wasm-/);
});

test('CommonJS reaches it through import() and through require()', () => {
  const folder = folderOf('commonjs', {
    'import.cjs': "import('heed').then(({ init }) => init()).then((heed) => console.log(heed.instructionSet));",
    'require.cjs': "require('heed').init().then((heed) => console.log(heed.instructionSet));",
  });
  assert.match(run('node', ['import.cjs'], folder), /^wasm-/);
  assert.match(run('node', ['require.cjs'], folder), /^wasm-/);
});

test('heed/inline computes in Node with no file to read, and says that there are no workers', () => {
  const folder = folderOf('node-inline', {
    'use.mjs': `
      import { init, createClient } from 'heed/inline';
      ${useOfPackage}
      console.log(JSON.stringify({ error: error((await init()).attention(inputs).context), refused: await createClient().catch((e) => e.message) }));`,
  });
  const result = JSON.parse(run('node', ['use.mjs'], folder));
  assert.ok(result.error < 1e-6);
  assert.match(result.refused, /^worker: received a host without workers/);
});

test('importing runs nothing, and a server-side render may import the elements', () => {
  const folder = folderOf('ssr', {
    'render.mjs': `
      const before = Object.keys(globalThis);
      globalThis.fetch = () => { throw new Error('fetched on import'); };
      await import('heed'); await import('heed/client'); await import('heed/inline');
      const { HeedAttention } = await import('heed/element');
      console.log(JSON.stringify({ html: '<heed-attention text="a b"></heed-attention>', named: typeof HeedAttention, added: Object.keys(globalThis).filter((k) => !before.includes(k)) }));`,
  });
  assert.deepEqual(JSON.parse(run('node', ['render.mjs'], folder)), { html: '<heed-attention text="a b"></heed-attention>', named: 'function', added: [] });
});

test('TypeScript finds its types, strictly and without skipping libraries', () => {
  const folder = folderOf('types', {
    'use.ts': `
      import { init, type AttentionResult } from 'heed';
      import { createClient } from 'heed/client';
      import { init as initInline } from 'heed/inline';
      import { HeedLsh, type HeedLshElement } from 'heed/element';
      export async function use(x: Float32Array): Promise<AttentionResult> {
        const heed = await init();
        await initInline();
        using client = await createClient();
        await client.attention({ query: x, key: x, value: x, shape: { queryLen: 4, headDim: 4 } }, { causal: true });
        return heed.attention({ query: x, key: x, value: x, shape: { queryLen: 4, headDim: 4 } });
      }
      const element: HeedLshElement = document.createElement('heed-lsh');
      element.rounds = 2;
      element.addEventListener('ready', ({ detail }) => detail.quality.capturedMass.toFixed(2));
      document.body.append(element, new HeedLsh());`,
  });
  run(binary('tsc'), ['--noEmit', '--strict', '--target', 'esnext', '--module', 'esnext', '--moduleResolution', 'bundler', '--lib', 'esnext,dom', 'use.ts'], folder);
});

const typedAs = (type) => (path) => (path.endsWith('.wasm') ? type : mimeTypes[extname(path)]);
for (const [name, options] of [
  ['the right MIME types and no cross-origin isolation', {}],
  ['wasm as text/plain', { mimeOf: typedAs('text/plain') }],
  ['a charset behind the MIME type', { mimeOf: typedAs('application/wasm; charset=utf-8') }],
  ['a policy of \'self\' and wasm-unsafe-eval', { headers: { 'content-security-policy': "default-src 'self'; script-src 'self' 'wasm-unsafe-eval'" } }],
]) {
  test(`a plain module script runs from a static server with ${name}`, async () => {
    const script = pageOf('./heed').replace(/<script type="module">[\s\S]*/, '<script type="module" src="main.js"></script>');
    const site = await serve(siteWith('plain', { 'index.html': script, 'main.js': `import { init } from './heed/index.js';\nimport { createClient } from './heed/client/index.js';\n${useInPage()}` }), options);
    assertWorks(await titleOf(browser, `${site.origin}/index.html`));
    site.close();
  });
}

test('a script of another origin works, its worker too', async () => {
  const packages = await serve(siteWith('cdn'), { headers: { 'access-control-allow-origin': '*' } });
  const site = await serve(folderOf('other-origin', { 'index.html': pageOf(`${packages.origin}/heed`) }));
  assertWorks(await titleOf(browser, `${site.origin}/index.html`));
  site.close();
  packages.close();
});

test('without relaxed SIMD the baseline runs', async () => {
  const plain = await launch(['--js-flags=--no-experimental-wasm-relaxed-simd']);
  const site = await serve(siteWith('baseline', { 'index.html': pageOf('./heed', `const validate = WebAssembly.validate; WebAssembly.validate = (bytes) => bytes.length > 100 && validate(bytes); ${useInPage('(r) => { document.title = JSON.stringify({ ...r, worker: r.instructionSet }); }')}`) }));
  assertWorks(await titleOf(plain, `${site.origin}/index.html`), 'wasm-simd128');
  site.close();
  await plain.close();
});

test('a module worker of the page\'s own imports the facade', async () => {
  const site = await serve(siteWith('own-worker', {
    'own.js': `import { init } from './heed/index.js'; ${useOfPackage} postMessage(error((await init()).attention(inputs).context));`,
    'index.html': `<!doctype html><title>x</title><script type="module">
      new Worker('./own.js', { type: 'module' }).onmessage = ({ data }) => { document.title = JSON.stringify({ error: data }); };</script>`,
  }));
  assert.ok((await titleOf(browser, `${site.origin}/index.html`)).error < 1e-6);
  site.close();
});

for (const [name, missing, says] of [
  ['a missing wasm file', [404, 'no'], /404/],
  ['a page in place of the wasm file', [200, '<!doctype html><title>404</title>'], /^bytes that start with "<!do" from/],
]) {
  test(`${name} is a clear error, in the page and in a worker, and a later call tries again`, async () => {
    const folder = siteWith('missing', {
      'index.html': pageOf('./heed', `
        const facade = await init().catch((e) => e);
        const worker = await createClient().catch((e) => e);
        const again = await init().catch((e) => e);
        document.title = JSON.stringify({ code: facade.code, received: facade.received, worker: worker.code, again: again.code, same: again === facade });`),
    });
    rmSync(join(folder, 'heed/core/generated/heed-relaxed.wasm'));
    const site = await serve(folder, { missing });
    const title = await titleOf(browser, `${site.origin}/index.html`);
    assert.match(title.received, says);
    assert.deepEqual([title.code, title.worker, title.again, title.same], ['wasm-unavailable', 'wasm-unavailable', 'wasm-unavailable', false]);
    site.close();
  });
}

test('two inits at once give one instance, and ten thousand caches leave the heap as it was', async () => {
  const site = await serve(siteWith('heap', {
    'index.html': pageOf('./heed', `
      ${useOfPackage}
      const [a, b] = await Promise.all([init(), init()]);
      const early = a.attention(inputs).context;
      const before = a.memoryBytes();
      for (let n = 0; n < 10_000; n++) a.keyValueCache({ headDim: 64, capacity: 16 }).dispose();
      const after = a.memoryBytes();
      const big = new Float32Array(8 * 2 ** 20);
      a.attention({ query: big, key: big.subarray(0, 64), value: big.subarray(0, 64), shape: { queryLen: 2 ** 17, keyLen: 1, headDim: 64 } });
      document.title = JSON.stringify({ one: a === b, grown: after - before, larger: a.memoryBytes() > after, early: error(early) });`),
  }));
  const title = await titleOf(browser, `${site.origin}/index.html`);
  assert.deepEqual({ ...title, early: title.early < 1e-6 }, { one: true, grown: 0, larger: true, early: true });
  site.close();
});

// Every snippet of the page's panel, pasted where it belongs and run in a browser.
import assert from 'node:assert/strict';
import { build } from 'esbuild';
import { marked } from 'marked';
import { execFileSync } from 'node:child_process';
import { cpSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { binary, folderOf, launch, root, run, serve, siteWith } from './support.mjs';

let browser, site, snippets, hugoShortcode, folder;
const text = 'a "b" <c> & d\nthe cat sat on the cat (ὀξύς) $& ``` {{ x }}';

before(async () => {
  browser = await launch();
  folder = siteWith('snippets');
  cpSync(join(root, 'public/samples'), join(folder, 'samples'), { recursive: true });
  // What a frame without an origin fetches needs permission, as static hosts give it.
  site = await serve(folder, { headers: { 'access-control-allow-origin': '*' } });
  const bundled = join(folder, 'snippets.mjs');
  await build({ entryPoints: { snippets: join(root, 'web/src/explore/snippets.ts'), wish: join(root, 'web/src/explore/wish.ts'), problem: join(root, 'web/src/explore/problem.ts') }, bundle: true, format: 'esm', outdir: folder, outExtension: { '.js': '.mjs' } });
  const { snippetsOf, hugoShortcode: shortcode } = await import(bundled);
  const { defaultLook, defaultText } = await import(join(folder, 'wish.mjs'));
  const { defaultSettings } = await import(join(folder, 'problem.mjs'));
  hugoShortcode = shortcode;
  const wish = { input: { ...defaultText, text, split: 'words', heads: 2 }, settings: { ...defaultSettings, rounds: 2, causal: true, trueBuckets: true }, look: { ...defaultLook, head: 1 } };
  const base = { site: `${site.origin}/`, mechanism: 'exact', title: 'a [title] "with" <signs>' };
  const list = snippetsOf({ ...base, show: 'lsh', wish, src: '' });
  const sample = snippetsOf({ ...base, show: 'attention', mechanism: 'difference', wish: { ...wish, input: { kind: 'sample', id: 'clustered' }, settings: defaultSettings }, src: `${site.origin}/samples/clustered.safetensors` });
  snippets = { text: Object.fromEntries(list.map(({ id, code }) => [id, code])), sample: Object.fromEntries(sample.map(({ id, code }) => [id, code])) };
});
after(async () => {
  await browser.close();
  site.close();
});

/** Opens a page; the element in it, or in its frame, must show the state that the snippet was made of. */
async function shows(html, { name = 'page.html', served = folderOf('snippet-page'), sample = false } = {}) {
  cpSync(folderOf('snippet-source', { [name]: html }), served, { recursive: true });
  const host = await serve(served);
  const page = await browser.newPage();
  page.setDefaultTimeout(15_000);
  const problems = [];
  page.on('pageerror', (error) => problems.push(String(error)));
  try {
    await page.goto(`${host.origin}/${name}`);
    const frame = page.frames()[1] ?? page.mainFrame();
    const tag = sample ? 'heed-attention' : 'heed-lsh';
    await frame.locator(tag).scrollIntoViewIfNeeded();
    const seen = await frame.waitForFunction((t) => {
      const element = document.querySelector(t);
      return element?.results && { results: element.results, text: element.text, rounds: element.rounds, causal: element.causal, trueBuckets: element.trueBuckets, head: element.head, mechanism: element.mechanism };
    }, tag).then((handle) => handle.jsonValue(), (failure) => { throw new Error(`${failure}; ${problems.join('; ')}`); });
    if (sample) assert.deepEqual([seen.results.queryLen, seen.mechanism, seen.head], [512, 'difference', 1]);
    else assert.deepEqual([seen.text, seen.rounds, seen.causal, seen.trueBuckets, seen.head, seen.results.heads], [text, 2, true, true, 1, 2]);
  } finally {
    await page.close();
    host.close();
  }
}
const pageOf = (body) => `<!doctype html><html lang="en"><meta charset="utf-8"><title>x</title><body>${body}</body></html>`;

test('HTML', async () => {
  await shows(pageOf(snippets.text.html));
  await shows(pageOf(snippets.sample.html), { sample: true });
});

test('a frame', async () => {
  await shows(pageOf(snippets.text.iframe));
  await shows(pageOf(snippets.sample.iframe), { sample: true });
});

test('Markdown', async () => {
  await shows(pageOf(await marked.parse(`# Title\n\nBefore.\n\n${snippets.text.markdown}\nAfter.\n`)));
});

test('a poster is a picture with a link', async () => {
  const page = await browser.newPage();
  await page.setContent(await marked.parse(snippets.text.poster));
  const [href, alt] = await page.evaluate(() => [document.querySelector('a').href, document.querySelector('a img').alt]);
  assert.equal(alt, 'heed: a [title] "with" <signs>');
  assert.equal(new URLSearchParams(new URL(href).hash.slice(1)).get('text'), text);
  await page.close();
});

test('React', async () => {
  const app = folderOf('react', { 'snippet.jsx': snippets.text.react, 'main.jsx': "import { createRoot } from 'react-dom/client'; import Attention from './snippet.jsx'; createRoot(document.getElementById('app')).render(<Attention />);" });
  // heed as an address, for esbuild copies no files; a bundler of a React site does.
  const heed = { name: 'heed', setup: ({ onResolve }) => onResolve({ filter: /^heed\/element$/ }, () => ({ path: `${site.origin}/heed/element/index.js`, external: true })) };
  await build({ entryPoints: [join(app, 'main.jsx')], bundle: true, format: 'esm', jsx: 'automatic', outfile: join(app, 'built.js'), plugins: [heed], nodePaths: [join(root, 'node_modules')], define: { 'process.env.NODE_ENV': '"production"' } });
  await shows(pageOf('<div id="app"></div><script type="module" src="built.js"></script>'), { served: app });
});

test('Vue', async () => {
  const app = folderOf('vue', {
    'Snippet.vue': snippets.text.vue, 'main.js': "import { createApp } from 'vue'; import Snippet from './Snippet.vue'; createApp(Snippet).mount('#app');",
    'index.html': pageOf('<div id="app"></div><script type="module" src="./main.js"></script>'),
    'vite.config.mjs': `import vue from ${JSON.stringify(join(root, 'node_modules/@vitejs/plugin-vue/dist/index.mjs'))};
      export default { plugins: [vue({ template: { compilerOptions: { isCustomElement: (tag) => tag.startsWith('heed-') } } })], resolve: { alias: { vue: ${JSON.stringify(join(root, 'node_modules/vue'))} } }, build: { outDir: 'built', target: 'esnext' } };`,
  });
  run(binary('vite'), ['build', '--logLevel', 'error'], app);
  await shows(readFileSync(join(app, 'built/index.html'), 'utf8'), { served: join(app, 'built') });
});

test('an Observable cell', async () => {
  await shows(pageOf(`<script type="module">const cell = async () => ${snippets.text.observable.trim()}; document.body.append(await cell());</script>`));
});

test('Jupyter: Python takes it, and anywidget\'s render() shows it', async () => {
  const python = `import sys, types, json\nfake = types.ModuleType("anywidget")\nclass AnyWidget: pass\nfake.AnyWidget = AnyWidget\nsys.modules["anywidget"] = fake\nspace = {}\nexec(sys.stdin.read(), space)\nsys.stdout.write(space["Heed"]._esm)`;
  const script = execFileSync('python3', ['-c', python], { input: snippets.text.jupyter, encoding: 'utf8' });
  await shows(pageOf('<div id="cell"></div><script type="module">import widget from "./widget.js"; widget.render({ el: document.getElementById("cell") });</script>'), { served: folderOf('jupyter', { 'widget.js': script }) });
});

test('a Hugo shortcode', async () => {
  const app = folderOf('hugo', {
    'config.toml': 'baseURL = "/"\ntitle = "x"\ndisableKinds = ["taxonomy", "term", "RSS", "sitemap"]\n', 'layouts/_default/single.html': '<!doctype html><meta charset="utf-8"><title>x</title>{{ .Content }}', 'layouts/index.html': '<title>x</title>',
    'layouts/shortcodes/heed.html': hugoShortcode(`${site.origin}/heed/element/index.js`), 'content/post.md': `---\ntitle: x\n---\nBefore.\n\n${snippets.text.hugo}\nAfter.\n`,
  });
  run('hugo', ['--destination', 'built'], app);
  await shows(readFileSync(join(app, 'built/post/index.html'), 'utf8'));
});

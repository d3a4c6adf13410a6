// The elements of the packed tarball in a plain page: life, attributes, properties, events, errors.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { launch, root, serve, siteWith } from './support.mjs';
import { cpSync } from 'node:fs';
import { join } from 'node:path';

let browser, site;
const requests = [];
const html = (body) => `<!doctype html><html lang="en"><meta charset="utf-8"><title>x</title><style>heed-attention, heed-lsh, heed-buckets, heed-cell { display: block; height: 30rem; }</style><script type="module" src="heed/element/index.js"></script><body>${body}</body></html>`;
const text = 'the cat sat on the mat the dog sat on the cat';
const pages = {
  'one.html': html(`<heed-attention id="a" text="${text}"><p>fallback</p></heed-attention>`),
  'four.html': html(['attention', 'lsh', 'buckets', 'cell'].map((name) => `<heed-${name} text="${text}" loading="eager" controls cell="1,1"></heed-${name}>`).join('')),
  'far.html': html(`<div style="height:300vh"></div><heed-lsh id="a" text="${text}"></heed-lsh>`),
  'empty.html': html(''),
  'early.html': `<!doctype html><title>x</title><heed-attention id="a" loading="eager"></heed-attention><script>document.getElementById('a').text = 'a b'; document.getElementById('a').causal = true;</script><script type="module" src="heed/element/index.js"></script>`,
  'twice.html': html(`<heed-attention id="a" text="${text}" loading="eager"></heed-attention>`).replace('<body>', '<script type="module" src="copy/element/index.js"></script><body>'),
};

before(async () => {
  browser = await launch();
  const folder = siteWith('elements', pages);
  cpSync(join(folder, 'heed'), join(folder, 'copy'), { recursive: true });
  cpSync(join(root, 'public/samples'), join(folder, 'samples'), { recursive: true });
  site = await serve(folder, { on: (request) => { requests.push(request.url); } });
});
after(async () => {
  await browser.close();
  site.close();
});

/** A page with an initial script that keeps every event of the elements. */
async function open(path, options = {}) {
  const page = await browser.newPage(options);
  page.setDefaultTimeout(20_000);
  await page.addInitScript(() => {
    globalThis.events = [];
    for (const type of ['ready', 'change', 'error']) {
      addEventListener(type, (event) => { if (event instanceof CustomEvent) events.push({ type, tag: event.target.localName, detail: structuredClone(event.detail) }); });
    }
  });
  requests.length = 0;
  await page.goto(`${site.origin}/${path}`);
  return page;
}
const waitFor = (page, type, count = 1) => page.waitForFunction(([t, n]) => globalThis.events.filter((e) => e.type === t).length >= n, [type, count]);

test('an element shows its fallback, then its picture, and says so', async () => {
  const page = await open('one.html');
  await waitFor(page, 'ready');
  const [{ detail }] = await page.evaluate(() => events);
  assert.equal(detail.queryLen, 12);
  assert.equal(detail.heads, 4);
  assert.ok(detail.quality.capturedMass > 0 && detail.exactMs >= 0);
  assert.equal(await page.getByText('fallback').isVisible(), false);
  const summary = await page.locator('.summary').innerText();
  assert.match(summary, /^Exact attention of 12 queries to 12 keys, head 0 of 0 to 3\. Largest weights: query \d+ “\w+” to key \d+ “\w+”, 0\.\d+;/);
  await page.close();
});

test('all four elements share one worker and one wasm file', async () => {
  const page = await open('four.html');
  await waitFor(page, 'ready', 4);
  assert.equal(requests.filter((url) => url.endsWith('.wasm')).length, 1);
  assert.equal(requests.filter((url) => url.endsWith('worker.js')).length, 1);
  assert.deepEqual((await page.evaluate(() => events.map((e) => e.tag))).sort(), ['heed-attention', 'heed-buckets', 'heed-cell', 'heed-lsh']);
  assert.match(await page.locator('heed-cell').getByText(/How query 1/).innerText(), /attends to key 1/);
  assert.match(await page.locator('heed-buckets svg').getAttribute('aria-label'), /12 keys in \d+ buckets; query 1 meets \d+/);
  assert.match(await page.locator('heed-lsh [data-figure="mass"]').innerText(), /%/);
  await page.close();
});

test('nothing is loaded before the element comes near, and nothing moves when it does', async () => {
  const page = await open('far.html');
  await page.waitForFunction(() => customElements.get('heed-lsh') !== undefined);
  await page.waitForTimeout(500);
  assert.deepEqual(requests.filter((url) => /wasm|worker/.test(url)), []);
  await page.evaluate(() => { globalThis.shift = 0; new PerformanceObserver((list) => { for (const e of list.getEntries()) globalThis.shift += e.value; }).observe({ type: 'layout-shift', buffered: true }); });
  await page.locator('#a').scrollIntoViewIfNeeded();
  await waitFor(page, 'ready');
  await page.waitForTimeout(300);
  assert.equal(await page.evaluate(() => globalThis.shift), 0);
  await page.close();
});

test('attributes and properties are one, and a change computes again', async () => {
  const page = await open('one.html');
  await waitFor(page, 'ready');
  const seen = await page.evaluate(async () => {
    const a = document.getElementById('a');
    const changed = () => new Promise((done) => { a.addEventListener('change', (e) => done(e.detail), { once: true }); });
    a.rounds = 1;
    const one = await changed();
    a.setAttribute('causal', '');
    const causal = await changed();
    a.mechanism = 'difference';
    await changed();
    return { attribute: a.getAttribute('rounds'), rounds: one.parameters.rounds, pairs: [one.cost.exactPairs, causal.cost.exactPairs], causal: a.causal, trueBuckets: a.trueBuckets, none: a.buckets, title: a.shadowRoot.querySelector('.title').textContent };
  });
  assert.deepEqual(seen, { attribute: '1', rounds: 1, pairs: [4 * 144, 4 * 78], causal: true, trueBuckets: false, none: null, title: 'LSH minus exact' });
  await page.close();
});

test('properties set before the script are taken', async () => {
  const page = await open('early.html');
  await waitFor(page, 'ready');
  assert.deepEqual(await page.evaluate(() => [document.getElementById('a').getAttribute('text'), document.getElementById('a').results.cost.exactPairs]), ['a b', 4 * 3]);
  await page.close();
});

test('tensors of the page\'s own are shown, with their tokens, and right', async () => {
  const page = await open('empty.html');
  const [got, expected] = await page.evaluate(async () => {
    const element = document.createElement('heed-attention');
    element.loading = 'eager';
    const query = Float32Array.of(1, 0, 0, 1), key = Float32Array.of(1, 0, 0, 1, 1, 1);
    element.inputs = { query, key, value: key, shape: { queryLen: 2, keyLen: 3, headDim: 2 } };
    element.keyTokens = ['x', 'y', 'z'];
    document.body.append(element);
    await new Promise((done) => { element.addEventListener('ready', done); });
    const csv = await (await element.export('csv')).text();
    const row = [1, 0, 1].map((dot) => Math.exp(dot / Math.SQRT2));
    const sum = row.reduce((a, b) => a + b);
    return [csv.trim().split('\r\n').slice(0, 4), row.map((w) => w / sum)];
  });
  assert.match(got[0], /key/);
  for (const [i, line] of got.slice(1).entries()) {
    assert.match(line, new RegExp('xyz'[i]));
    assert.ok(line.split(',').some((field) => Math.abs(Number(field) - expected[i]) < 1e-6), `${line} holds ${expected[i]}`);
  }
  await page.close();
});

test('a file and a data: address are loaded; every export is what it says', async () => {
  const page = await open('empty.html');
  const seen = await page.evaluate(async () => {
    const show = async (src) => {
      const element = document.createElement('heed-lsh');
      element.loading = 'eager';
      element.src = src;
      document.body.append(element);
      await new Promise((done, failed) => { element.addEventListener('ready', done); element.addEventListener('error', (e) => failed(new Error(e.detail.message))); });
      return element;
    };
    const file = await show('samples/clustered.safetensors');
    const data = await show('data:text/plain,one%20two%20three');
    const png = new Uint8Array(await (await file.export('png', 'lsh')).arrayBuffer());
    return { file: file.results.queryLen, data: data.results.queryLen, png: [...png.subarray(1, 4)], svg: (await (await file.export('svg')).text()).slice(0, 4), wrong: await file.export('png', 'nothing').catch((e) => e.field) };
  });
  assert.deepEqual(seen, { file: 512, data: 3, png: [80, 78, 71], svg: '<svg', wrong: 'picture' });
  await page.close();
});

test('errors name the field, keep what was shown, and the next change works', async () => {
  const page = await open('one.html');
  await waitFor(page, 'ready');
  const cases = [['rounds', 'many', 'rounds'], ['head', '99', 'head'], ['buckets', '3', /buckets/], ['mechanism', 'magic', 'mechanism'], ['text', '', 'text'], ['src', 'nowhere.npz', 'src'], ['cell', '1,99', /cell/]];
  for (const [name, value, field] of cases) {
    const before = await page.evaluate(() => events.length);
    const was = await page.evaluate((n) => document.getElementById('a').getAttribute(n), name);
    await page.evaluate(([n, v]) => document.getElementById('a').setAttribute(n, v), [name, value]);
    await page.waitForFunction((n) => events.length > n, before);
    const event = await page.evaluate((n) => events[n], before);
    assert.equal(event.type, 'error', `${name}="${value}"`);
    assert.match(event.detail.field, field instanceof RegExp ? field : new RegExp(`^${field}$`));
    assert.ok(event.detail.message.includes('expected'));
    assert.equal(await page.locator('[role="alert"]').count(), 1);
    await page.evaluate(([n, v]) => { const a = document.getElementById('a'); if (v === null) a.removeAttribute(n); else a.setAttribute(n, v); }, [name, was]);
    await page.waitForFunction((n) => events.length > n, before + 1);
    assert.equal(await page.evaluate(() => events.at(-1).type), 'change', `after ${name}`);
    assert.equal(await page.locator('[role="alert"]').count(), 0);
  }
  await page.close();
});

test('an element that fails from the start shows its fallback and the reason', async () => {
  const page = await open('empty.html');
  await page.evaluate(() => { document.body.innerHTML = '<heed-attention loading="eager"><p>fallback</p></heed-attention>'; });
  await waitFor(page, 'error');
  assert.ok(await page.getByText('fallback').isVisible());
  assert.match(await page.locator('[role="alert"]').innerText(), /^text: received none, expected an attribute text or src, or the property inputs\.$/);
  await page.close();
});

test('removed, moved and attached again; many times, and the worker ends when all are gone', async () => {
  const page = await open('one.html');
  await waitFor(page, 'ready');
  await page.evaluate(async () => {
    const a = document.getElementById('a');
    const inside = document.createElement('div');
    document.body.append(inside);
    inside.append(a);
    await new Promise((done) => { setTimeout(done, 100); });
    if (a.results === null) throw new Error('a move made it start again');
    for (let n = 0; n < 20; n++) {
      a.remove();
      await Promise.resolve();
      document.body.append(a);
    }
    await new Promise((done) => { a.addEventListener('ready', done, { once: true }); });
    a.remove();
  });
  assert.equal(page.workers().length, 1);
  await page.waitForTimeout(11_000);
  assert.equal(page.workers().length, 0);
  await page.evaluate(() => { document.body.innerHTML = '<heed-cell text="a b" loading="eager"></heed-cell>'; });
  await waitFor(page, 'ready', 3);
  await page.close();
});

test('the script may be there twice', async () => {
  const page = await open('twice.html');
  await waitFor(page, 'ready');
  assert.equal(await page.evaluate(() => events.length), 1);
  await page.close();
});

test('cells are reached by keys, the arithmetic opens, and Escape closes it', async () => {
  const page = await open('one.html');
  await waitFor(page, 'ready');
  await page.locator('heed-attention [role="application"]').focus();
  await page.keyboard.press('ArrowDown');
  await page.keyboard.press('ArrowRight');
  await page.locator('.read-out', { hasText: /query \d+ “/ }).waitFor();
  await page.keyboard.press('Enter');
  await page.getByText(/How query/).waitFor();
  assert.match(await page.evaluate(() => document.getElementById('a').cell), /^\d+,\d+$/);
  await page.keyboard.press('Escape');
  await page.waitForFunction(() => document.getElementById('a').cell === null);
  await page.close();
});

test('colours follow the system while the page is open, unless the author chose', async () => {
  const page = await open('one.html', { colorScheme: 'light' });
  await waitFor(page, 'ready');
  const shade = () => page.evaluate(() => document.getElementById('a').shadowRoot.querySelector('.heed').dataset.theme);
  assert.equal(await shade(), 'light');
  await page.emulateMedia({ colorScheme: 'dark' });
  await page.waitForFunction(() => document.getElementById('a').shadowRoot.querySelector('.heed').dataset.theme === 'dark');
  await page.evaluate(() => { document.getElementById('a').theme = 'light'; });
  await page.waitForFunction(() => document.getElementById('a').shadowRoot.querySelector('.heed').dataset.theme === 'light');
  await page.close();
});

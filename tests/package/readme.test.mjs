// What the README tells users to write, run as it stands there. Its C++ is compiled by cmake-consumer.
import assert from 'node:assert/strict';
import { cpSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { folderOf, installed, launch, root, run, serve, siteWith } from './support.mjs';

const readme = readFileSync(join(root, 'README.md'), 'utf8');
const blocks = (language) => [...readme.matchAll(new RegExp(`^\`\`\`${language}\\n([^]*?)^\`\`\``, 'gm'))].map(([, code]) => code);
const tensors = "const [query, key, value] = [1, 2, 3].map((phase) => Float32Array.from({ length: 8 * 1024 * 64 }, (_, n) => Math.sin(n * 0.37 + phase)));\n";
const sum = (name) => `\nconsole.log('${name}', context.length, context.every(Number.isFinite));`;

let browser, site;
before(async () => {
  browser = await launch();
  const folder = siteWith('readme');
  cpSync(join(root, 'public/samples'), join(folder, 'samples'), { recursive: true });
  // The frame has no origin of its own; static hosts allow what it fetches.
  site = await serve(folder, { headers: { 'access-control-allow-origin': '*' } });
});
after(async () => {
  await browser.close();
  site.close();
});

test('the facade and the workers', async () => {
  const [facade, workers, tuning, ...others] = blocks('js');
  assert.deepEqual(others, []);
  const folder = folderOf('readme-node', { 'facade.mjs': `${tensors}${facade}${sum('facade')}\nconsole.log(lsh.context.length);` });
  assert.match(run('node', ['facade.mjs'], folder), /^facade 524288 true\n524288/);
  const tuner = folderOf('readme-tuning', { 'tuning.mjs': `${tensors}${tuning}${sum('tuning')}\nconsole.log(verdict, points.length > 10);` });
  assert.match(run('node', ['tuning.mjs'], tuner), /^tuning 524288 true\n(lsh|exact) true/);
  const page = await browser.newPage();
  page.setDefaultTimeout(60_000);
  const lines = [];
  page.on('console', (entry) => lines.push(entry.text()));
  page.on('pageerror', (error) => lines.push(String(error)));
  cpSync(folderOf('readme-page', { 'workers.html': `<!doctype html><title>x</title><script type="importmap">{ "imports": { "heed/client": "./heed/client/index.js" } }</script><script type="module">${tensors}${workers}${sum('workers')}\ndocument.title = 'done';</script>` }), join(installed, '../../readme'), { recursive: true });
  await page.goto(`${site.origin}/workers.html`);
  await page.waitForFunction(() => document.title === 'done').catch(() => assert.fail(lines.join('\n')));
  assert.ok(lines.includes('workers 524288 true'), lines.join('\n'));
  assert.equal(lines.filter((line) => /^(0\.\d+|1)$/.test(line)).length > 0, true, 'no progress was told');
  await page.close();
});

test('the elements and the frame', async () => {
  const [elements, frame, ...others] = blocks('html');
  assert.deepEqual(others, []);
  const html = `<!doctype html><html lang="en"><meta charset="utf-8"><title>x</title><body>${elements}${frame}`.replaceAll('https://your.site', site.origin);
  const host = await serve(folderOf('readme-post', { 'index.html': html }));
  const page = await browser.newPage();
  page.setDefaultTimeout(20_000);
  await page.goto(`${host.origin}/`);
  for (const [tag, length] of [['heed-attention', 14], ['heed-lsh', 512]]) {
    await page.locator(tag).scrollIntoViewIfNeeded();
    await page.waitForFunction(([name, queryLen]) => document.querySelector(name).results?.queryLen === queryLen, [tag, length]);
  }
  await page.locator('iframe').scrollIntoViewIfNeeded();
  await page.frames()[1].waitForFunction(() => document.querySelector('heed-lsh')?.results?.queryLen === 4);
  await page.close();
  host.close();
});

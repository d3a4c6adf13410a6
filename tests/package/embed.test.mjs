// The self-contained page for iframes: from a file, offline, sandboxed, and what it tells the page around.
import assert from 'node:assert/strict';
import { cpSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { after, before, test } from 'node:test';
import { binary, folderOf, installed, launch, root, run, serve } from './support.mjs';

let browser, folder;
before(async () => {
  browser = await launch();
  folder = folderOf('embed', {
    'frame.html': '<!doctype html><html lang="en"><title>x</title><script>onmessage = ({ data }) => { if (data.type === "heed-height") document.title = JSON.stringify(data); };</script><iframe title="x" style="width:800px;height:600px" sandbox="allow-scripts" src="embed.html#show=lsh&text=a+b+a+c&controls=true"></iframe>',
  });
  cpSync(join(installed, 'dist/embed.html'), join(folder, 'embed.html'));
});
after(() => browser.close());

const picture = (frame) => frame.locator('heed-attention .caption, heed-lsh [data-figure="mass"] strong').first();

test('it works from a file, with no network at all, and from its address alone', async () => {
  const context = await browser.newContext({ offline: true });
  const page = await context.newPage();
  page.setDefaultTimeout(10_000);
  await page.goto(`${pathToFileURL(join(folder, 'embed.html'))}#text=one+two+three&theme=dark&causal=1`);
  await page.waitForFunction(() => document.querySelector('heed-attention')?.results?.queryLen === 3);
  assert.match(await picture(page).innerText(), /^Each cell/);
  assert.equal(await page.title(), 'heed: one two three');
  await page.evaluate(() => { location.hash = 'show=buckets&text=a+b'; });
  await page.waitForFunction(() => document.querySelector('heed-buckets')?.results?.queryLen === 2);
  await page.evaluate(() => { location.hash = 'show=nothing'; });
  await page.getByText('show: received "nothing", expected attention, lsh, buckets, cell.').waitFor();
  await context.close();
});

test('it works in a sandbox that allows scripts alone, and tells its height', async () => {
  const site = await serve(folder);
  const page = await browser.newPage();
  page.setDefaultTimeout(10_000);
  await page.goto(`${site.origin}/frame.html`);
  const frame = page.frames()[1];
  await frame.waitForFunction(() => document.querySelector('heed-lsh')?.results?.queryLen === 4);
  assert.match(await picture(frame).innerText(), /%/);
  await page.waitForFunction(() => document.title.startsWith('{'));
  assert.ok(JSON.parse(await page.title()).height >= 352);
  await page.close();
  site.close();
});

test('BPE tokens need a file beside it, and say so', async () => {
  const page = await browser.newPage();
  page.setDefaultTimeout(10_000);
  await page.goto(`${pathToFileURL(join(folder, 'embed.html'))}#text=a&split=bpe`);
  await page.getByRole('alert').waitFor();
  await page.close();
});

test('a site that knows its address answers oEmbed, and its frame works', async () => {
  const built = folderOf('oembed');
  const site = await serve(built);
  run(binary('vite'), ['build', '--outDir', built, '--logLevel', 'error'], root, { HEED_SITE_URL: `${site.origin}/` });
  const page = await browser.newPage();
  page.setDefaultTimeout(20_000);
  await page.goto(`${site.origin}/`);
  const href = await page.locator('link[type="application/json+oembed"]').getAttribute('href');
  assert.equal(href, `${site.origin}/oembed.json`);
  const answer = await (await fetch(href)).json();
  assert.deepEqual([answer.version, answer.type, typeof answer.width, typeof answer.height], ['1.0', 'rich', 'number', 'number']);
  assert.equal((await fetch(answer.thumbnail_url)).status, 200);
  await page.setContent(answer.html);
  await page.frames()[1].waitForFunction(() => document.querySelector('heed-lsh')?.results?.queryLen > 10);
  await page.close();
  site.close();
});

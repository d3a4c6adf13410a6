// Takes the posters of the example post: what its elements show, as the elements export it.
//
//   usage: scripts/build-package && npm run build && node scripts/make-posters.mjs        writes public/post/*.png
import { chromium } from '@playwright/test';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { preview } from 'vite';

const root = join(import.meta.dirname, '..');
const posters = { 'heed-attention': ['attention.png', 'exact'], 'heed-lsh': ['lsh.png', 'lsh'] };
const server = await preview({ root: join(root, 'web'), configFile: join(root, 'vite.config.ts'), preview: { port: 0 } });
const browser = await chromium.launch({ executablePath: process.env.HEED_CHROMIUM ?? '/usr/bin/chromium', args: ['--no-sandbox', '--disable-gpu'] });
const page = await browser.newPage({ viewport: { width: 800, height: 900 } });
await page.goto(`${server.resolvedUrls.local[0]}post/index.html`);
for (const [tag, [name, picture]] of Object.entries(posters)) {
  const element = page.locator(tag);
  await element.scrollIntoViewIfNeeded();
  await page.waitForFunction((t) => document.querySelector(t).results !== null, tag);
  if (picture !== 'exact') await element.evaluate((e, shown) => new Promise((done) => { e.addEventListener('change', done, { once: true }); e.setAttribute('picture', shown); }), picture);
  const bytes = await element.evaluate(async (e, shown) => [...new Uint8Array(await (await e.export('png', shown)).arrayBuffer())], picture);
  writeFileSync(join(root, 'public/post', name), Buffer.from(bytes));
}
await browser.close();
await server.close();

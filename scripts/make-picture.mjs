// Takes README's picture: the built demo page with a cell explained, in Chromium.
//
//   usage: npm run build && node scripts/make-picture.mjs        writes public/images/page.png
import { chromium } from '@playwright/test';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { preview } from 'vite';

const root = join(import.meta.dirname, '..');
const folder = join(root, 'public/images');
mkdirSync(folder, { recursive: true });
const server = await preview({ root: join(root, 'web'), configFile: join(root, 'vite.config.ts'), preview: { port: 0 } });
const browser = await chromium.launch({ executablePath: process.env.HEED_CHROMIUM ?? '/usr/bin/chromium', args: ['--no-sandbox', '--disable-gpu'] });
const page = await browser.newPage({ viewport: { width: 1400, height: 1010 } });
await page.goto(`${server.resolvedUrls.local[0]}#sample=clustered&cell=267%2C267`);
await page.locator('.pictures[data-stale="false"]').waitFor();
await page.waitForLoadState('networkidle');
// The last tiles are drawn in the frame after they arrive.
await page.waitForTimeout(1500);
await page.screenshot({ path: join(folder, 'page.png') });
await browser.close();
await server.close();

// Runs the benchmark's page in Chromium, served by Vite from the checkout.
import { join } from 'node:path';
import { buildCeilings } from './ceilings.mjs';
import { attentionModels } from './onnx-model.mjs';
import { nameOf } from './workloads.mjs';

/** Sharing out pays from here on. */
const severalThreads = /^(8x(1024|2048)x64|1x(8192|16384)x64)/;

export async function inChromium(root, threads, { workloads, peers, budgetMs, report }) {
  const { chromium } = await import('@playwright/test');
  const { createServer } = await import('vite');
  const wanted = threads === 1 ? workloads : workloads.filter((workload) => severalThreads.test(nameOf(workload)));
  const isolation = { 'Cross-Origin-Opener-Policy': 'same-origin', 'Cross-Origin-Embedder-Policy': 'require-corp' };
  const server = await createServer({
    root, configFile: false, logLevel: 'error', cacheDir: join(root, 'build/bench/vite'),
    optimizeDeps: { entries: 'scripts/bench/page.html', exclude: ['onnxruntime-web', 'ruvector-attention-wasm'] },
    server: { port: 0, headers: threads > 1 ? isolation : {} },
  });
  await server.listen();
  const browser = await chromium.launch({ executablePath: process.env.HEED_CHROMIUM ?? '/usr/bin/chromium', args: ['--no-sandbox', '--disable-gpu'] });
  try {
    const page = await browser.newPage();
    page.on('console', (message) => { if (message.text().startsWith('{')) report(JSON.parse(message.text())); });
    page.on('response', (response) => { if (response.status() >= 400) console.error(response.status(), response.url()); });
    page.on('pageerror', (failure) => console.error(String(failure)));
    await page.goto(`${server.resolvedUrls.local[0]}scripts/bench/page.html`);
    await page.waitForFunction(() => globalThis.runBenchmark !== undefined);
    const bytes = (object) => Object.fromEntries(Object.entries(object).map(([name, array]) => [name, [...array]]));
    const models = Object.fromEntries(wanted.map((workload) => [nameOf(workload), bytes(attentionModels(workload))]));
    const result = await page.evaluate((run) => globalThis.runBenchmark(run), { workloads: wanted, models, ceilings: bytes(buildCeilings(root)), threads, peers, budgetMs });
    return { ...result, threads, version: `Chromium ${browser.version()}` };
  } finally {
    await browser.close();
    await server.close();
  }
}

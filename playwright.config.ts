// Tests of the built page in Chromium: `npm run test:e2e` builds it, serves it and drives it.
import { existsSync } from 'node:fs';
import { defineConfig } from '@playwright/test';

// Debian's Chromium where it is installed, else the one that Playwright brings.
const chromium = '/usr/bin/chromium';
const port = 4178;

export default defineConfig({
  testDir: 'tests/e2e',
  outputDir: 'test-results',
  // Times are measured in the page, so nothing else runs beside a test.
  workers: 1,
  timeout: 60_000,
  expect: { timeout: 20_000 },
  forbidOnly: process.env['CI'] !== undefined,
  reporter: [['list']],
  use: {
    baseURL: `http://127.0.0.1:${port}/`,
    viewport: { width: 1440, height: 1000 },
    permissions: ['clipboard-read', 'clipboard-write'],
    launchOptions: {
      ...(existsSync(chromium) && { executablePath: chromium }),
      args: ['--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', '--disable-background-networking', '--disable-component-update', '--disable-sync'],
    },
  },
  webServer: {
    // Beside a server that a developer has open.
    command: `scripts/build-package && npm run --silent build -- --logLevel warn --bypass-lock && npm run --silent preview -- --host 127.0.0.1 --port ${port} --strictPort --bypass-lock`,
    url: `http://127.0.0.1:${port}/`,
    reuseExistingServer: false,
    timeout: 120_000,
  },
});

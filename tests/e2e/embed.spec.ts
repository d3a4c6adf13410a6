// The example post and the panel that writes snippets: as readers and authors meet them.

import AxeBuilder from '@axe-core/playwright';
import { expect, test } from '@playwright/test';
import type { Page } from '@playwright/test';
import { openPage } from './support/page.ts';

/** Scrolls through the post until every element has its picture. */
async function readThrough(page: Page): Promise<void> {
  await page.goto('post/index.html');
  for (const tag of ['heed-attention', 'heed-lsh', 'heed-buckets']) {
    await page.locator(tag).scrollIntoViewIfNeeded();
    await page.waitForFunction((name) => (document.querySelector(name) as unknown as { results: object | null }).results !== null, tag);
  }
  await page.waitForTimeout(300);
}

for (const [name, options, viewport] of [
  ['light', { colorScheme: 'light' }, { width: 1200, height: 900 }],
  ['dark on a phone', { colorScheme: 'dark' }, { width: 375, height: 740 }],
  ['reduced motion', { reducedMotion: 'reduce' }, { width: 800, height: 900 }],
] as const) {
  test(`the example post, ${name}: no accessibility violation, no error, nothing too wide`, async ({ page }, info) => {
    const errors: string[] = [];
    page.on('pageerror', (error) => errors.push(error.message));
    page.on('console', (entry) => { if (entry.type() === 'error') errors.push(entry.text()); });
    await page.setViewportSize(viewport);
    await page.emulateMedia(options);
    await readThrough(page);
    expect((await new AxeBuilder({ page }).analyze()).violations.map(({ id, nodes }) => `${id}: ${nodes.map((node) => node.html).join(' ')}`)).toEqual([]);
    expect(errors).toEqual([]);
    expect(await page.evaluate(() => document.documentElement.scrollWidth - innerWidth)).toBeLessThanOrEqual(0);
    await page.screenshot({ path: info.outputPath('post.png'), fullPage: true });
  });
}

test('the example post without JavaScript shows its pictures and says what is missing', async ({ browser, baseURL }, info) => {
  const context = await browser.newContext({ javaScriptEnabled: false });
  const page = await context.newPage();
  await page.goto(`${baseURL}post/index.html`);
  await expect(page.getByAltText(/^A map of attention weights/)).toBeVisible();
  await expect(page.getByText('for which it needs JavaScript').first()).toBeVisible();
  await page.screenshot({ path: info.outputPath('post.png'), fullPage: true });
  await context.close();
});

test('the panel writes a snippet of what is seen, copies it, and shows it', async ({ page }) => {
  await openPage(page, 'text=one+two+one&split=words&rounds=3&causal=1');
  await page.getByRole('button', { name: 'Embed…' }).click();
  const panel = page.getByRole('dialog');
  await expect(panel.locator('pre')).toContainText('<heed-lsh text="one two one" ');
  await expect(panel.locator('pre')).toContainText('causal="true"');
  await panel.getByText('React').click();
  await expect(panel.locator('pre')).toContainText("import 'heed/element';");
  await panel.getByLabel('Show').selectOption('attention');
  await panel.getByText('difference', { exact: true }).click();
  await expect(panel.locator('pre')).toContainText('mechanism={"difference"}');
  await panel.getByRole('button', { name: 'Copy' }).click();
  expect(await page.evaluate(() => navigator.clipboard.readText())).toBe(await panel.locator('pre').textContent());
  await expect(panel.getByRole('status')).toHaveText('The snippet is copied.');
  await expect(panel.frameLocator('iframe').locator('heed-attention .caption')).toHaveText('Each cell: one difference');
  expect((await new AxeBuilder({ page }).analyze()).violations.map(({ id }) => id)).toEqual([]);
  await page.keyboard.press('Escape');
  await expect(panel).toBeHidden();
});

test('a sample is embedded by the address of its file', async ({ page, baseURL }) => {
  await openPage(page, 'sample=clustered&head=1');
  await page.getByRole('button', { name: 'Embed…' }).click();
  await expect(page.getByRole('dialog').locator('pre')).toContainText(`src="${baseURL}samples/clustered.safetensors"`);
  await page.getByRole('button', { name: 'Close' }).click();
  await expect(page.getByRole('dialog')).toBeHidden();
});

// What the page shows against a float64 oracle, under every control.

import { expect, test } from '@playwright/test';
import { attentionRow } from './support/oracle.ts';
import type { OracleOptions } from './support/oracle.ts';
import { figure, goToCell, map, openPage, parseNumber, readCell, ready, sampleInputs, set, shownCell } from './support/page.ts';

// float32 dot products of some 32 terms and a float32 softmax: relative 1e-5 is some 80 units in the last place.
const close = (shown: number, expected: number) => expect(Math.abs(shown - expected)).toBeLessThanOrEqual(1e-5 * Math.abs(expected) + 1e-7);

test('shows the weights of a trained model as the oracle computes them', async ({ page }) => {
  await openPage(page, 'sample=ocr-block-1&head=3');
  const inputs = sampleInputs('ocr-block-1');
  for (const [row, column] of [[0, 0], [12, 25], [101, 99]] as const) {
    const shown = await readCell(page, 'exact', row, column);
    close(shown.exact, attentionRow(inputs, 3, row)[column]!);
  }
});

const cases: readonly (readonly [name: string, fields: Readonly<Record<string, string>>, options: OracleOptions])[] = [
  ['scale', { scale: '0.5' }, { scale: 0.5 }],
  ['temperature', { temperature: '0.5' }, { scale: 2 / Math.sqrt(32) }],
  ['soft cap', { softCap: '1.5' }, { softCap: 1.5 }],
  ['windows', { windowLeft: '6', windowRight: '3' }, { window: [6, 3] }],
  ['hidden positions', { hidden: '0, 3-5' }, { hidden: [0, 3, 4, 5] }],
];
for (const [name, fields, options] of cases) {
  test(`computes with ${name}`, async ({ page }) => {
    await openPage(page, 'sample=clustered');
    for (const [field, value] of Object.entries(fields)) await set(page, field, value);
    await ready(page);
    const shown = await readCell(page, 'exact', 7, 9);
    close(shown.exact, attentionRow(sampleInputs('clustered'), 0, 7, options)[9]!);
  });
}

test('computes causally and names what hides a cell', async ({ page }) => {
  await openPage(page, 'sample=clustered');
  await page.locator('[name="causal"]').check();
  await ready(page);
  const shown = await readCell(page, 'exact', 9, 7);
  close(shown.exact, attentionRow(sampleInputs('clustered'), 0, 9, { causal: true })[7]!);
  await page.keyboard.press('End');
  await expect(page.locator('.read-out')).toContainText('not seen: causal');
});

test('reads the same cell under the mouse as with the keyboard, with both weights and their difference', async ({ page }) => {
  await openPage(page, 'sample=clustered');
  const box = (await map(page, 'lsh').locator('canvas').boundingBox())!;
  await page.mouse.move(box.x + box.width * 0.41, box.y + box.height * 0.23);
  await expect(page.locator('.read-out .cell b')).toHaveCount(2);
  const pointed = await shownCell(page);
  expect(Math.abs(pointed.row - 0.23 * 512)).toBeLessThan(2);
  expect(Math.abs(pointed.column - 0.41 * 512)).toBeLessThan(2);
  expect(await readCell(page, 'exact', pointed.row, pointed.column)).toEqual(pointed);
  close(pointed.exact, attentionRow(sampleInputs('clustered'), 0, pointed.row)[pointed.column]!);
  const difference = parseNumber(await page.locator('[data-read="difference"]').innerText());
  expect(Math.abs(difference - (pointed.lsh - pointed.exact))).toBeLessThan(1e-4 * Math.abs(difference) + 1e-7);
});

test('LSH weights are exact weights over the keys that met, scaled to sum to one', async ({ page }) => {
  await openPage(page, 'sample=clustered&rounds=1');
  const exact = attentionRow(sampleInputs('clustered'), 0, 20);
  const heaviest = Array.from(exact.keys()).sort((a, b) => exact[b]! - exact[a]!).slice(0, 12);
  const ratios: number[] = [];
  for (const column of heaviest) {
    const shown = await readCell(page, 'lsh', 20, column);
    if (shown.lsh > 0) ratios.push(shown.lsh / exact[column]!);
    else await expect(page.locator('.read-out')).toContainText('never met');
  }
  expect(ratios.length).toBeGreaterThan(1);
  for (const ratio of ratios) expect(Math.abs(ratio / ratios[0]! - 1)).toBeLessThan(1e-3);
  expect(ratios[0]).toBeGreaterThanOrEqual(1);
});

test('every hashing control changes the figures, and exact attention stays', async ({ page }) => {
  await openPage(page, 'sample=gaussian');
  const pairs = () => figure(page, 'pairs').innerText();
  const share = async () => parseNumber(await pairs());
  const start = await share();
  await set(page, 'rounds', '8');
  await ready(page);
  const more = await share();
  expect(more).toBeGreaterThan(start);
  await set(page, 'buckets', '64');
  await ready(page);
  expect(await share()).toBeLessThan(more);
  await set(page, 'chunk', '64');
  await ready(page);
  expect(await share()).toBeGreaterThan(more * 0.9);
  const mass = await figure(page, 'mass').innerText();
  await page.getByRole('button', { name: 'Next seed' }).click();
  await ready(page);
  expect(await figure(page, 'mass').innerText()).not.toBe(mass);
  await expect(page.locator('[name="seed"]').first()).toHaveValue('1');
  const beforeTrue = await pairs();
  await page.locator('[name="trueBuckets"]').check();
  await ready(page);
  expect(await pairs()).not.toBe(beforeTrue);
  const shown = await readCell(page, 'exact', 3, 4);
  close(shown.exact, attentionRow(sampleInputs('gaussian'), 0, 3)[4]!);
  await page.locator('[name="shared"]').check();
  await ready(page);
  await goToCell(page, 'exact', 4, 4);
  await expect(page.locator('.read-out')).toContainText('its own position');
  await page.getByRole('button', { name: 'Back to the defaults' }).click();
  await ready(page);
  expect(await share()).toBe(start);
});

test('the error never exceeds its proven bound, and many rounds bring it to nothing', async ({ page }) => {
  await openPage(page, 'sample=clustered&rounds=2');
  const note = page.locator('[data-figure="error"] span:not(.share)');
  const bound = parseNumber((await note.innerText()).replace(/^\D+/, ''));
  expect(parseNumber(await figure(page, 'error').innerText())).toBeLessThanOrEqual(bound);
  await set(page, 'buckets', '2');
  await set(page, 'chunk', '512');
  await ready(page);
  await expect(figure(page, 'mass')).toHaveText(/^(> 99\.999|100) %$/);
  await expect(figure(page, 'error')).toHaveText(/^(< 0\.001|0) %$/);
});

test('shows another head, and the arithmetic of a cell on Enter', async ({ page }) => {
  await openPage(page, 'sample=ocr-block-2');
  await page.locator('[name="head"]').selectOption('5');
  await ready(page);
  const shown = await readCell(page, 'exact', 30, 31);
  close(shown.exact, attentionRow(sampleInputs('ocr-block-2'), 5, 30)[31]!);
  await page.keyboard.press('Enter');
  await expect(page.locator('.arithmetic')).toContainText('query 30');
  await expect(page.locator('.arithmetic')).toContainText('key 31');
  await expect(page).toHaveURL(/cell=30%2C31/);
});

test('hides a key by its label and shows it again', async ({ page }) => {
  await openPage(page, 'sample=clustered');
  await page.locator('[data-key="4"]').click();
  await ready(page);
  await expect(page.locator('[name="hidden"]')).toHaveValue('4');
  const inputs = sampleInputs('clustered');
  close((await readCell(page, 'exact', 2, 5)).exact, attentionRow(inputs, 0, 2, { hidden: [4] })[5]!);
  await page.locator('[data-key="4"]').click();
  await ready(page);
  close((await readCell(page, 'exact', 2, 5)).exact, attentionRow(inputs, 0, 2)[5]!);
});

// Ways in: text and files, right ones and hostile ones; the page stays usable.

import { expect, test } from '@playwright/test';
import { writeNpy, writeSafetensors } from '../../web/src/tensor-file/index.ts';
import { attentionRow } from './support/oracle.ts';
import { dropFile, figure, message, openPage, openPanel, readCell, ready, sampleInputs } from './support/page.ts';
import type { DroppedFile } from './support/page.ts';

const waves = (length: number, speed: number) => Float32Array.from({ length }, (_, i) => Math.sin(i * speed) * 2);

test('attends to a text split by BPE, characters and words', async ({ page }) => {
  await openPage(page);
  await openPanel(page, 'Text');
  await page.locator('[name="text"]').fill('hello hello world');
  await expect(page.locator('.tokens [data-key]')).toHaveCount(3);
  await ready(page);
  await expect(page.locator('.input .hint')).toContainText('Untrained');
  await page.getByText('characters', { exact: true }).click();
  await expect(page.locator('.tokens [data-key]')).toHaveCount(17);
  await page.getByText('words', { exact: true }).click();
  await expect(page.locator('.tokens [data-key]')).toHaveCount(3);
  await ready(page);
  // Equal tokens have equal embeddings, so both occurrences get the same weight.
  const [first, second] = [await readCell(page, 'exact', 2, 0), await readCell(page, 'exact', 2, 1)];
  expect(first.exact).toBe(second.exact);
  expect(first.exact).toBeGreaterThan(0);
});

test('positions make equal tokens differ, and heads and widths are those asked for', async ({ page }) => {
  await openPage(page, 'text=a+a+a&split=words&heads=2&dim=8&positions=1');
  const [first, second] = [await readCell(page, 'exact', 2, 0), await readCell(page, 'exact', 2, 1)];
  expect(first.exact).not.toBe(second.exact);
  await expect(page.locator('[name="head"] option')).toHaveCount(2);
});

for (const [name, text, count] of [
  ['one token', 'x', 1], ['emoji joined of several', '👨‍👩‍👧‍👦🏳️‍🌈', 2], ['combining characters', 'e\u0301o\u0302\u0323', 2], ['Arabic', 'السؤال', 6], ['Chinese', '注意力', 3],
] as const) {
  test(`attends to ${name}`, async ({ page }) => {
    await openPage(page, new URLSearchParams({ text, split: 'characters' }).toString());
    await expect(page.locator('.tokens [data-key]')).toHaveCount(count);
    const shown = await readCell(page, 'exact', count - 1, 0);
    expect(shown.exact).toBeGreaterThan(0);
    if (count === 1) expect(shown.exact).toBe(1);
  });
}

test('says that an empty text has no token, and keeps what it had', async ({ page }) => {
  await openPage(page, 'text=one+two&split=words');
  await page.locator('[name="text"]').fill('');
  await expect(message(page, 'input')).toContainText('text: received no token, expected at least one');
  await expect(page.locator('.tokens [data-key]')).toHaveCount(2);
  await page.locator('[name="text"]').fill('one two three');
  await expect(page.locator('.tokens [data-key]')).toHaveCount(3);
  await expect(message(page, 'input')).toHaveCount(0);
});

test('opens a .safetensors with half precision and grouped heads, and guesses its tensors', async ({ page }) => {
  await openPage(page);
  const [query, key, value] = [waves(4 * 6 * 8, 0.7), waves(2 * 6 * 8, 1.3), waves(2 * 6 * 4, 0.2)];
  const bytes = writeSafetensors({
    'layer.v': { shape: [2, 6, 4], values: value }, 'layer.k': { shape: [2, 6, 8], values: key }, 'layer.q': { shape: [4, 6, 8], values: query, dtype: 'float16' }, bias: { shape: [8], values: waves(8, 1) },
  });
  await dropFile(page, { name: 'mine.safetensors', bytes });
  await expect(page.locator('.tokens [data-key]')).toHaveCount(6);
  await ready(page);
  await expect(page.locator('[name="tensor-query"]')).toHaveValue('layer.q');
  await expect(page.locator('[name="tensor-key"]')).toHaveValue('layer.k');
  await expect(page.locator('[name="tensor-value"]')).toHaveValue('layer.v');
  await expect(page.locator('.tensors')).toContainText('[4, 6, 8]');
  await page.locator('[name="head"]').selectOption('3');
  await ready(page);
  // Query head 3 of 4 reads key head 1 of 2.
  const asHead = { query: query.slice(3 * 48), key: key.slice(48), length: 6, headDim: 8 };
  const shown = await readCell(page, 'exact', 4, 2);
  // float16 keeps 11 bits.
  expect(Math.abs(shown.exact - attentionRow(asHead, 0, 4)[2]!)).toBeLessThan(4e-3);
});

test('opens a .npy by the button, attends to it alone, and asks for it again after a reload', async ({ page }) => {
  await openPage(page);
  await openPanel(page, 'Tensors');
  const file = { name: 'points.npy', mimeType: 'application/octet-stream', buffer: Buffer.from(writeNpy([5, 4], waves(20, 0.9))) };
  await page.locator('input[type="file"]').setInputFiles(file);
  await expect(page.locator('.tokens [data-key]')).toHaveCount(5);
  await ready(page);
  await expect(page.locator('.masthead-tools')).toContainText('A link cannot hold your file');
  await expect(page).toHaveURL(/file=points\.npy/);
  await page.reload();
  await expect(message(page, 'input')).toContainText('points.npy');
  await page.locator('input[type="file"]').setInputFiles(file);
  await expect(page.locator('.tokens [data-key]')).toHaveCount(5);
  await ready(page);
  await expect(message(page, 'input')).toHaveCount(0);
});

const text = (content: string) => new TextEncoder().encode(content);
function safetensorsHeader(header: object): Uint8Array {
  const json = text(JSON.stringify(header));
  const out = new Uint8Array(8 + json.length + 64);
  new DataView(out.buffer).setBigUint64(0, BigInt(json.length), true);
  out.set(json, 8);
  return out;
}
const withNaN = waves(20, 1);
withNaN[6] = Number.NaN;

const hostile: readonly (readonly [why: string, file: DroppedFile, says: RegExp])[] = [
  ['not a tensor file', { name: 'cat.npy', bytes: text('meow') }, /cat\.npy.*expected/],
  ['an empty file', { name: 'empty.npz', bytes: new Uint8Array(0) }, /empty\.npz.*expected/],
  ['a truncated array', { name: 'short.npy', bytes: writeNpy([50, 4], waves(200, 1)).slice(0, 300) }, /short\.npy.*expected/],
  ['a header of 2^60 elements', { name: 'huge.safetensors', bytes: safetensorsHeader({ q: { dtype: 'F32', shape: [2 ** 30, 2 ** 30], data_offsets: [0, 64] } }) }, /expected/],
  ['offsets beyond the end', { name: 'far.safetensors', bytes: safetensorsHeader({ q: { dtype: 'F32', shape: [4, 4], data_offsets: [1000, 1064] } }) }, /expected/],
  ['a NaN', { name: 'nan.npy', bytes: writeNpy([5, 4], withNaN) }, /query "nan": received NaN at \[1, 2\], expected finite numbers/],
  ['five axes', { name: 'deep.npy', bytes: writeNpy([1, 1, 1, 2, 2], waves(4, 1)) }, /deep\.npy: received 1 tensors, expected/],
];

test('answers every hostile file with a message and goes on working', async ({ page }) => {
  await openPage(page, 'sample=clustered');
  const mass = await figure(page, 'mass').innerText();
  for (const [why, file, says] of hostile) {
    await dropFile(page, file);
    await expect(message(page, 'input'), why).toContainText(says);
    await expect(figure(page, 'mass'), why).toHaveText(mass);
  }
  const inputs = sampleInputs('clustered');
  expect(Math.abs((await readCell(page, 'exact', 1, 2)).exact - attentionRow(inputs, 0, 1)[2]!)).toBeLessThan(1e-6);
  await openPanel(page, 'Samples');
  await page.locator('[data-sample="needle"]').click();
  await ready(page);
  await expect(page.locator('#pictures-title')).toContainText('Needles');
  await expect(message(page, 'input')).toHaveCount(0);
});

test('names a setting that cannot be, keeps the pictures, and recovers', async ({ page }) => {
  await openPage(page, 'sample=clustered');
  const mass = await figure(page, 'mass').innerText();
  const field = (name: string) => page.locator(`.controls [name="${name}"]`);
  for (const [name, value] of [['rounds', '0'], ['buckets', '7'], ['softCap', '-1'], ['hidden', '9999'], ['hidden', 'x']] as const) {
    const usual = await field(name).inputValue();
    await field(name).fill(value);
    await field(name).blur();
    await expect(message(page, 'settings'), name).toContainText(/received .*, expected/);
    await expect(figure(page, 'mass'), name).toHaveText(mass);
    await field(name).fill(usual);
    await field(name).blur();
    if (value !== 'x') await expect(message(page, 'settings')).toHaveCount(0);
    await ready(page);
  }
});

// What the tests do on the page, in its own words.

import { readFileSync } from 'node:fs';
import { expect } from '@playwright/test';
import type { Page } from '@playwright/test';
import { openTensorFile } from '../../../web/src/tensor-file/index.ts';
import type { OracleInputs } from './oracle.ts';

export type Picture = 'exact' | 'difference' | 'lsh';

/** Opens the page and waits for the pictures. */
export async function openPage(page: Page, hash = ''): Promise<void> {
  await page.goto(hash === '' ? './' : `./#${hash}`);
  await ready(page);
}

/** The figures are there, nothing is being computed, and the pictures belong to them. */
export async function ready(page: Page): Promise<void> {
  // The page draws what has changed in its next frame.
  await page.evaluate(() => new Promise((drawn) => { requestAnimationFrame(() => requestAnimationFrame(drawn)); }));
  await expect(page.locator('.pictures')).toHaveAttribute('aria-busy', 'false');
  await expect(page.locator('.pictures')).toHaveAttribute('data-stale', 'false');
}

export function map(page: Page, kind: Picture) {
  return page.locator(`[data-kind="${kind}"] [role="application"]`);
}

export function figure(page: Page, id: string) {
  return page.locator(`[data-figure="${id}"] strong`);
}

export async function set(page: Page, name: string, value: string): Promise<void> {
  const field = page.locator(`.controls [name="${name}"]`);
  await field.fill(value);
  await field.press('Enter');
  await field.blur();
}

export async function openPanel(page: Page, name: 'Samples' | 'Text' | 'Tensors'): Promise<void> {
  await page.getByRole('tab', { name }).click();
}

export function message(page: Page, topic: string) {
  return page.locator(`.message[data-topic="${topic}"]`);
}

/** A number as the page writes it. */
export function parseNumber(text: string): number {
  return Number(text.replaceAll('−', '-').replaceAll(',', '').replace(/[^\d.e+-].*$/s, ''));
}

/** Focuses a picture and moves the keyboard cell to (row, column). */
export async function goToCell(page: Page, kind: Picture, row: number, column: number) {
  await map(page, kind).focus();
  const steps = (count: number, key: string) => [...Array<string>(Math.floor(count / 10)).fill(`Shift+${key}`), ...Array<string>(count % 10).fill(key)];
  // The first corner, from wherever the keyboard cell is.
  for (const key of ['PageUp', 'Home', ...steps(row, 'ArrowDown'), ...steps(column, 'ArrowRight')]) await page.keyboard.press(key);
  await expect(page.locator('.read-out .cell')).toContainText(new RegExp(`query ${row}\\b.*key ${column}\\b`));
}

/** Goes to a cell and reads it. */
export async function readCell(page: Page, kind: Picture, row: number, column: number) {
  await goToCell(page, kind, row, column);
  return shownCell(page);
}

/** What the read-out says: position and both weights. */
export async function shownCell(page: Page) {
  const [row, column] = await page.locator('.read-out .cell b').allTextContents();
  const value = async (kind: Picture) => parseNumber(await page.locator(`[data-read="${kind}"]`).innerText());
  return { row: Number(row), column: Number(column), exact: await value('exact'), lsh: await value('lsh') };
}

/** A bundled sample as the oracle reads it. */
export function sampleInputs(id: string): OracleInputs {
  const file = openTensorFile(`${id}.safetensors`, readFileSync(`public/samples/${id}.safetensors`));
  const shape = file.tensors.find(({ name }) => name === 'query')!.shape;
  return { query: file.read('query'), key: file.read('key'), length: shape.at(-2)!, headDim: shape.at(-1)! };
}

export interface DroppedFile { readonly name: string; readonly bytes: Uint8Array }

/** Drops a file on the page as a file manager would. */
export async function dropFile(page: Page, { name, bytes }: DroppedFile): Promise<void> {
  const transfer = await page.evaluateHandle(({ fileName, base64 }) => {
    const data = new DataTransfer();
    data.items.add(new File([Uint8Array.from(atob(base64), (c) => c.charCodeAt(0))], fileName));
    return data;
  }, { fileName: name, base64: Buffer.from(bytes).toString('base64') });
  await page.dispatchEvent('body', 'drop', { dataTransfer: transfer });
}

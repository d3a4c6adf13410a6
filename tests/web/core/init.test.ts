import { readFile } from 'node:fs/promises';
import { describe, expect, test } from 'vitest';
import type { HeedError } from '../../../web/src/core/errors.ts';
import { glue } from '../../../web/src/core/glue.ts';
import { makeInit as makeInitWith } from '../../../web/src/core/init.ts';
import type { BinarySource } from '../../../web/src/core/init.ts';
import { init } from '../../../web/src/core/node.ts';

const binary = async ({ flavour, laboratory = false }: { flavour: string; laboratory?: boolean }) =>
  new Uint8Array(await readFile(new URL(`../../../web/src/core/generated/heed${laboratory ? '-lab' : ''}${flavour === 'relaxed' ? '-relaxed' : ''}.wasm`, import.meta.url)));
const makeInit = (source: BinarySource) => makeInitWith(source, async () => glue);
const page = '<!doctype html><title>404</title>';

const failureOf = (promise: Promise<unknown>) => promise.then(() => { throw new Error('init() did not fail'); }, (error: unknown) => error as HeedError);

test('calls of init() without options share one instance, also while it loads', async () => {
  const [a, b] = await Promise.all([init(), init()]);
  expect(a).toBe(b);
  expect(await init({})).toBe(a);
});

test('a failed init() fails for all who waited, and the next one tries again', async () => {
  let tries = 0;
  const flaky = makeInit(async (kind) => {
    if (++tries === 1) throw new Error('offline');
    return binary(kind);
  });
  const failures = await Promise.all([failureOf(flaky()), failureOf(flaky())]);
  expect(failures.map((failure) => failure.code)).toEqual(['wasm-unavailable', 'wasm-unavailable']);
  expect(failures[0]!.received).toContain('offline');
  expect(tries).toBe(1);
  const heed = await flaky();
  expect(heed.instructionSet).toBe('wasm-relaxed');
  expect(await flaky()).toBe(heed);
  expect(tries).toBe(2);
});

describe('the binary is compiled from a response', () => {
  test.each(['application/wasm', ' Application/WASM', 'application/wasm; charset=utf-8', 'text/plain', 'application/octet-stream'])(
    'of type "%s"', async (type) => {
      const from = makeInit(async (kind) => new Response(await binary(kind), { headers: { 'content-type': type } }));
      expect((await from()).instructionSet).toBe('wasm-relaxed');
    });

  test('without a type', async () => {
    const from = makeInit(async (kind) => {
      const response = new Response(await binary(kind));
      response.headers.delete('content-type');
      return response;
    });
    expect((await from()).instructionSet).toBe('wasm-relaxed');
  });
});

test('a page in place of the binary is named as such, whatever its status and type', async () => {
  const missing = await failureOf(makeInit(async () => new Response(page, { status: 404 }))());
  expect([missing.code, missing.received]).toEqual(['wasm-unavailable', expect.stringContaining('404')]);
  const html = await failureOf(makeInit(async () => new Response(page, { headers: { 'content-type': 'text/html' } }))());
  expect([html.code, html.received]).toEqual(['wasm-unavailable', expect.stringContaining('<!do')]);
  const mislabelled = await failureOf(makeInit(async () => new Response(page, { headers: { 'content-type': 'application/wasm' } }))());
  expect(mislabelled.code).toBe('wasm-unavailable');
  const truncated = await failureOf(init({ wasmBinary: (await binary({ flavour: 'simd128' })).slice(0, 5000) }));
  expect(truncated.code).toBe('wasm-unavailable');
  expect((await init()).instructionSet).toMatch(/^wasm-/);
});

test('a binary can be brought as bytes, module or URL, and is heed.wasm unless said otherwise', async () => {
  const bytes = await binary({ flavour: 'simd128' });
  const url = `data:application/wasm;base64,${Buffer.from(bytes).toString('base64')}`;
  for (const options of [{ wasmBinary: bytes }, { wasmBinary: bytes.buffer }, { module: new WebAssembly.Module(bytes) }, { wasmUrl: url }, { wasmUrl: new URL(url) }]) {
    expect((await init(options)).instructionSet).toBe('wasm-simd128');
  }
  expect((await init({ wasmBinary: await binary({ flavour: 'relaxed' }), simd: 'relaxed' })).instructionSet).toBe('wasm-relaxed');
});

test('an engine without relaxed SIMD gets the baseline', async () => {
  const { validate } = WebAssembly;
  WebAssembly.validate = () => false;
  try {
    const asked: string[] = [];
    const heed = await makeInit((kind) => { asked.push(kind.flavour); return binary(kind); })();
    expect([heed.instructionSet, asked]).toEqual(['wasm-simd128', ['simd128']]);
  } finally {
    WebAssembly.validate = validate;
  }
});

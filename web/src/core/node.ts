// init() for Node: the binary is read from the package's own folder.

import { makeInit } from './init.ts';

/** Loads and starts the module; calls without options share one instance. Throws HeedError "wasm-unavailable". */
export const init = makeInit(async (flavour) => {
  const { readFile } = await import('node:fs/promises');
  return readFile(flavour === 'relaxed'
    ? new URL('./generated/heed-relaxed.wasm', import.meta.url)
    : new URL('./generated/heed.wasm', import.meta.url));
}, async () => (await import('./generated/heed.mjs')).default);

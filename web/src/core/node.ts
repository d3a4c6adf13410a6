// init() for Node: the binary is read from the package's own folder.

import { makeInit } from './init.ts';

export const init = makeInit(async (flavour) => {
  const { readFile } = await import('node:fs/promises');
  return readFile(flavour === 'relaxed'
    ? new URL('./generated/heed-relaxed.wasm', import.meta.url)
    : new URL('./generated/heed.wasm', import.meta.url));
});

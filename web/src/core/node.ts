// init() for Node: the binary is read from the package's own folder.

import { makeInit } from './init.ts';
import { binaryUrl, ownGlue } from './own-files.ts';

/** Loads and starts the module; calls without options share one instance. Throws HeedError "wasm-unavailable". */
export const init = makeInit(async (kind) => {
  const { readFile } = await import('node:fs/promises');
  return readFile(binaryUrl(kind));
}, ownGlue);

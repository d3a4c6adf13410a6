// init() for browsers and workers: the binary lies beside this module.

import { makeInit } from './init.ts';

// Two literal URLs, so that bundlers find both files.
/** Loads and starts the module; calls without options share one instance. Throws HeedError "wasm-unavailable". */
export const init = makeInit((flavour) =>
  fetch(flavour === 'relaxed'
    ? new URL('./generated/heed-relaxed.wasm', import.meta.url)
    : new URL('./generated/heed.wasm', import.meta.url)),
  async () => (await import('./generated/heed.mjs')).default);

// init() for browsers and workers: the binary lies beside this module.

import { makeInit } from './init.ts';
import { binaryUrl, ownGlue } from './own-files.ts';

/** Loads and starts the module; calls without options share one instance. Throws HeedError "wasm-unavailable". */
export const init = makeInit((kind) => fetch(binaryUrl(kind)), ownGlue);

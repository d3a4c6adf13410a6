// The package's entry "heed/inline": everything, with the WebAssembly files and the worker inside this
// module, for bundlers that copy no files and for pages that may fetch none. Nothing runs on import.

import { createClient as createOtherClient } from '../client/client.ts';
import type { ClientOptions, HeedClient } from '../client/client.ts';
import { HeedError, noWorkersError } from '../core/errors.ts';
import { glue } from '../core/glue.ts';
import { hasRelaxedSimd, makeInit } from '../core/init.ts';
import type { SimdFlavour } from '../core/init.ts';
import { binaries, worker } from './generated/payload.mjs';

export { HeedClient, RemoteSession } from '../client/client.ts';
export type { CallOptions, ClientOptions } from '../client/client.ts';
export * from '../public.ts';

/** Base64 of raw deflate (RFC 4648, RFC 1951). */
async function unpack(packed: string): Promise<ArrayBuffer> {
  const bytes = Uint8Array.from(atob(packed), (character) => character.charCodeAt(0));
  return new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream('deflate-raw'))).arrayBuffer();
}

const binaryOf = (flavour: SimdFlavour) => unpack(binaries[flavour]);

/** The laboratory's module is a file of its own only. */
function refuseLaboratory(laboratory: boolean | undefined): void {
  if (laboratory) throw new HeedError({ code: 'invalid-value', field: 'laboratory', received: 'true', expected: 'false with "heed/inline"; "heed" and "heed/client" have the laboratory' });
}


/** As init() of "heed", without a file to fetch. */
export const init = makeInit(async ({ flavour, laboratory }) => {
  refuseLaboratory(laboratory);
  return binaryOf(flavour);
}, async (laboratory) => {
  refuseLaboratory(laboratory);
  return glue;
});

let script: Promise<string> | undefined;

/** The worker's script as an address that a page's own worker may have. */
function workerScript(): Promise<string> {
  script ??= unpack(worker).then((text) => URL.createObjectURL(new Blob([text], { type: 'text/javascript' })));
  return script;
}

/** As createClient() of "heed/client", without a file to fetch; the page's policy must allow workers from blob: addresses. */
export async function createClient({ worker: own, ...options }: ClientOptions = {}): Promise<HeedClient> {
  refuseLaboratory(options.laboratory);
  if (own === undefined && typeof Worker === 'undefined') throw noWorkersError();
  const brought = options.module !== undefined || options.wasmBinary !== undefined || options.wasmUrl !== undefined;
  const wanted = options.simd ?? 'auto';
  const simd = wanted === 'relaxed' || (wanted === 'auto' && hasRelaxedSimd()) ? 'relaxed' : 'simd128';
  const whole: ClientOptions = brought ? options : { ...options, simd, wasmBinary: await binaryOf(simd) };
  if (own !== undefined) return createOtherClient({ ...whole, worker: own });
  const address = await workerScript();
  return createOtherClient({ ...whole, worker: () => new Worker(address) });
}

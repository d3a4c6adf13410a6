// Where this package's binaries and their scripts are. Every address is a literal, so that bundlers find the files.

import type { BinaryKind, Glue } from './init.ts';

export function binaryUrl({ flavour, laboratory }: BinaryKind): URL {
  if (laboratory) {
    return flavour === 'relaxed'
      ? new URL('./generated/heed-lab-relaxed.wasm', import.meta.url)
      : new URL('./generated/heed-lab.wasm', import.meta.url);
  }
  return flavour === 'relaxed'
    ? new URL('./generated/heed-relaxed.wasm', import.meta.url)
    : new URL('./generated/heed.wasm', import.meta.url);
}

export async function ownGlue(laboratory: boolean): Promise<Glue> {
  return (laboratory ? await import('./generated/heed-lab.mjs') : await import('./generated/heed.mjs')).default;
}

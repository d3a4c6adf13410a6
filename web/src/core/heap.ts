// Memory of the WebAssembly module: typed blocks that are written once and freed together.

import type { MainModule as LaboratoryMainModule } from './generated/heed-lab.mjs';
import type { MainModule } from './generated/heed.mjs';
import { HeedError } from './errors.ts';
import type { HeedErrorParts } from './errors.ts';
import type { AttentionResult } from './types.ts';

/** The module as Emscripten makes it, with the allocator and the heap views that it exports. */
export type HeedModule = MainModule & {
  _malloc(bytes: number): number;
  _free(address: number): void;
  readonly HEAPF32: Float32Array<ArrayBuffer>;
  readonly HEAPU8: Uint8Array<ArrayBuffer>;
  readonly HEAPU32: Uint32Array<ArrayBuffer>;
};

/** The laboratory's module: all of the other, and more. */
export type LaboratoryModule = HeedModule & Pick<LaboratoryMainModule, 'Tuner' | 'principalComponents'>;

/** Blocks of the heap that live as long as one call or one session. Addresses are bytes; 0 is none. */
export class HeapScope {
  readonly #module: HeedModule;
  #addresses: number[] = [];

  constructor(module: HeedModule) {
    this.#module = module;
  }

  /** Room for `count` elements of 4 bytes (or 1), uninitialised. */
  allocate(count: number, field: string, bytesPerElement: 1 | 4 = 4): number {
    const bytes = Math.max(1, count) * bytesPerElement;
    // malloc takes 32 bits; beyond, the address space ends anyway.
    const address = bytes < 2 ** 32 ? this.#module._malloc(bytes) >>> 0 : 0;
    if (address === 0) {
      throw new HeedError({
        code: 'out-of-memory',
        field,
        received: `${bytes} bytes refused`,
        expected: 'smaller sizes; WebAssembly memory ends at 4 GB',
      });
    }
    this.#addresses.push(address);
    return address;
  }

  /** Copies a tensor into the heap. Views are taken anew each time: growth detaches them. */
  floats(data: Float32Array, field: string): number {
    const address = this.allocate(data.length, field);
    this.#module.HEAPF32.set(data, address >>> 2);
    return address;
  }

  bytes(data: Uint8Array, field: string): number {
    const address = this.allocate(data.length, field, 1);
    this.#module.HEAPU8.set(data, address);
    return address;
  }

  release(): void {
    for (const address of this.#addresses) this.#module._free(address);
    this.#addresses = [];
  }
}

/** Runs body with a scope that is released afterwards. */
export function scoped<T>(module: HeedModule, body: (scope: HeapScope) => T): T {
  const scope = new HeapScope(module);
  try {
    return body(scope);
  } finally {
    scope.release();
  }
}

export function readFloats(module: HeedModule, address: number, size: number): Float32Array<ArrayBuffer> {
  return module.HEAPF32.slice(address >>> 2, (address >>> 2) + size);
}

export function readUints(module: HeedModule, address: number, size: number): Uint32Array<ArrayBuffer> {
  return module.HEAPU32.slice(address >>> 2, (address >>> 2) + size);
}

/** Copies of a context and its logsumexp at these addresses, of these sizes. */
export function readResult(module: HeedModule, at: { context: number; logsumexp: number }, sizes: { context: number; logsumexp: number }): AttentionResult {
  return {
    context: readFloats(module, at.context, sizes.context),
    logsumexp: readFloats(module, at.logsumexp, sizes.logsumexp),
  };
}

/** Throws the failure that the module kept when a call returned false. */
export function check(module: HeedModule, ok: boolean): void {
  if (ok) return;
  // embind types what it returns as what it accepts; these are strings.
  const parts = module.failure() as HeedErrorParts;
  // C++ names its fields key_mask where TypeScript says keyMask.
  const field = parts.field.replace(/_([a-z])/g, (_match, letter: string) => letter.toUpperCase());
  throw new HeedError({ ...parts, field });
}

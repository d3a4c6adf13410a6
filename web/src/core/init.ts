// Finds, compiles and starts the WebAssembly module. Nothing runs on import.

import { checkBoolean } from './arguments.ts';
import { HeedError } from './errors.ts';
import type { HeedModule, LaboratoryModule } from './heap.ts';
import { Heed } from './heed.ts';
import type { InitOptions } from './types.ts';

export type SimdFlavour = 'simd128' | 'relaxed';

/** Which of the binaries. */
export interface BinaryKind {
  readonly flavour: SimdFlavour;
  readonly laboratory: boolean;
}

/** How a platform gets at the bytes of the binary that belongs to this package. */
export type BinarySource = (kind: BinaryKind) => Promise<ArrayBuffer | Uint8Array | Response>;

/** A module of one function that computes f32x4.relaxed_madd, the one relaxed opcode the binary uses. */
const RELAXED_MADD = Uint8Array.of(
  0x00, 0x61, 0x73, 0x6d, 0x01, 0x00, 0x00, 0x00, // magic, version
  0x01, 0x05, 0x01, 0x60, 0x00, 0x01, 0x7b, // type: () -> v128
  0x03, 0x02, 0x01, 0x00, // one function of that type
  0x0a, 0x13, 0x01, 0x11, 0x00, // its body, no locals
  0x41, 0x00, 0xfd, 0x0f, 0x41, 0x00, 0xfd, 0x0f, 0x41, 0x00, 0xfd, 0x0f, // three splats of 0
  0xfd, 0x85, 0x02, 0x0b, // f32x4.relaxed_madd, end
);

/** Whether this engine runs the binary with relaxed SIMD. */
export function hasRelaxedSimd(): boolean {
  return WebAssembly.validate(RELAXED_MADD);
}

function unavailable(received: string, expected: string, cause?: unknown): HeedError {
  return new HeedError({ code: 'wasm-unavailable', field: 'wasm', received, expected }, { cause });
}

async function bytesOf(source: ArrayBuffer | Uint8Array | Response): Promise<BufferSource> {
  if (!(source instanceof Response)) return source as BufferSource;
  if (!source.ok) throw unavailable(`status ${source.status} from ${source.url}`, 'the .wasm file');
  return source.arrayBuffer();
}

/** Compiles while it downloads where the server's MIME type allows, else from the bytes. */
async function compile(source: ArrayBuffer | Uint8Array | Response): Promise<WebAssembly.Module> {
  // Streaming takes this very string: engines refuse parameters behind it, some also capitals.
  const streams = source instanceof Response && source.ok && source.headers.get('content-type') === 'application/wasm';
  if (streams) return WebAssembly.compileStreaming(source);
  const bytes = await bytesOf(source);
  const head = new Uint8Array(ArrayBuffer.isView(bytes) ? bytes.buffer : bytes, ArrayBuffer.isView(bytes) ? bytes.byteOffset : 0, Math.min(4, bytes.byteLength));
  // "\0asm"; servers answer a missing file with a page.
  if (head[0] !== 0 || head[1] !== 0x61 || head[2] !== 0x73 || head[3] !== 0x6d) {
    const where = source instanceof Response ? ` from ${source.url}` : '';
    throw unavailable(`bytes that start with "${new TextDecoder().decode(head)}"${where}`, 'a WebAssembly file; is the URL right?');
  }
  return WebAssembly.compile(bytes);
}

/** The script that belongs to both binaries: scripts/build-wasm makes sure that it does. */
export type Glue = (options: object) => Promise<unknown>;

/** How a platform gets at the script of a module. */
export type GlueSource = (laboratory: boolean) => Promise<Glue>;

async function start(options: InitOptions, ownBinary: BinarySource, ownGlue: GlueSource): Promise<Heed> {
  const laboratory = checkBoolean(options.laboratory ?? false, 'laboratory');
  const wanted = options.simd ?? 'auto';
  // A binary that the caller brings is simd128 unless said otherwise.
  const brought = options.module !== undefined || options.wasmBinary !== undefined || options.wasmUrl !== undefined;
  const relaxed = wanted === 'relaxed' || (wanted === 'auto' && !brought && hasRelaxedSimd());
  const flavour: SimdFlavour = relaxed ? 'relaxed' : 'simd128';
  let module = options.module;
  try {
    module ??= await compile(options.wasmBinary ?? (options.wasmUrl !== undefined ? await fetch(options.wasmUrl) : await ownBinary({ flavour, laboratory })));
    const compiled = module;
    const glue = await ownGlue(laboratory);
    const instance = await new Promise((resolve, reject) => {
      glue({
        instantiateWasm(imports: WebAssembly.Imports, done: (instance: WebAssembly.Instance, module: WebAssembly.Module) => void) {
          // The glue never hears of a failed instantiation, so it is reported from here.
          WebAssembly.instantiate(compiled, imports).then((made) => done(made, compiled)).catch(reject);
          return {};
        },
      }).then(resolve, reject);
    });
    return new Heed(instance as HeedModule | LaboratoryModule);
  } catch (error) {
    if (error instanceof HeedError) throw error;
    throw unavailable(String(error), 'an engine with WebAssembly SIMD and a reachable .wasm file', error);
  }
}

/**
 * An init() for a platform. Calls without options share one instance, also while it loads; a failure
 * is not remembered, so a later call tries again. With options, each call makes an instance.
 */
export function makeInit(ownBinary: BinarySource, ownGlue: GlueSource): (options?: InitOptions) => Promise<Heed> {
  let shared: Promise<Heed> | undefined;
  return (options) => {
    if (options !== undefined && Object.keys(options).length > 0) return start(options, ownBinary, ownGlue);
    shared ??= start({}, ownBinary, ownGlue).catch((error: unknown) => {
      shared = undefined;
      throw error;
    });
    return shared;
  };
}

// A tensor file held open in a worker of its own.

import type { TensorInfo } from '../tensor-file/index.ts';
import type { FileAnswer, FileRequest } from './file-worker.ts';

export interface OpenFile {
  readonly name: string;
  readonly tensors: readonly TensorInfo[];
  /** Labels in the file's metadata, as JSON. */
  readonly tokens: string | undefined;
  /** Float32, row-major. */
  read(name: string): Promise<Float32Array<ArrayBuffer>>;
  close(): void;
}

/** Larger files do not fit beside their tensors in the memory of a tab. */
export const maxFileBytes = 1024 ** 3;

type Unnumbered<T> = T extends unknown ? Omit<T, 'id'> : never;

/** Opens and lists. Rejects with what is wrong with the file. */
export async function openFile(file: File): Promise<OpenFile> {
  if (file.size > maxFileBytes) throw new Error(`${file.name}: received ${file.size} bytes, expected at most ${maxFileBytes}`);
  const worker = new Worker(new URL('./file-worker.ts', import.meta.url), { type: 'module' });
  let nextId = 1;
  const ask = (request: Unnumbered<FileRequest>): Promise<FileAnswer> => {
    const id = nextId++;
    return new Promise((resolve, reject) => {
      const listening = new AbortController();
      worker.addEventListener('message', ({ data }: MessageEvent<FileAnswer>) => {
        if (data.id !== id) return;
        listening.abort();
        if ('failure' in data) reject(new Error(data.failure));
        else resolve(data);
      }, { signal: listening.signal });
      worker.addEventListener('error', (event) => {
        listening.abort();
        reject(new Error(`${file.name}: ${event.message || 'the reader of tensor files broke off'}`));
      }, { signal: listening.signal });
      worker.postMessage({ ...request, id });
    });
  };
  try {
    const answer = await ask({ type: 'open', file }) as Extract<FileAnswer, { tensors: unknown }>;
    return {
      name: file.name,
      tensors: answer.tensors,
      tokens: answer.tokens,
      read: async (name) => (await ask({ type: 'read', name }) as Extract<FileAnswer, { data: unknown }>).data,
      close: () => worker.terminate(),
    };
  } catch (error) {
    worker.terminate();
    throw error;
  }
}

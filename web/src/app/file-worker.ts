// Entry of the worker that reads tensor files: inflating and decoding may take seconds.

import { openTensorFile } from '../tensor-file/index.ts';
import type { TensorFile, TensorInfo } from '../tensor-file/index.ts';

export type FileRequest =
  | { readonly id: number; readonly type: 'open'; readonly file: File }
  | { readonly id: number; readonly type: 'read'; readonly name: string };
export type FileAnswer =
  | { readonly id: number; readonly tensors: readonly TensorInfo[]; readonly tokens: string | undefined }
  | { readonly id: number; readonly data: Float32Array<ArrayBuffer> }
  | { readonly id: number; readonly failure: string };

interface WorkerScope {
  onmessage: ((event: MessageEvent<FileRequest>) => void) | null;
  postMessage(answer: FileAnswer, transfer?: Transferable[]): void;
}
const scope = globalThis as unknown as WorkerScope;

let opened: TensorFile | undefined;

scope.onmessage = async ({ data: request }) => {
  try {
    if (request.type === 'open') {
      opened = openTensorFile(request.file.name, new Uint8Array(await request.file.arrayBuffer()));
      scope.postMessage({ id: request.id, tensors: opened.tensors, tokens: opened.metadata.get('tokens') });
    } else {
      const data = opened!.read(request.name);
      scope.postMessage({ id: request.id, data }, [data.buffer]);
    }
  } catch (error) {
    scope.postMessage({ id: request.id, failure: error instanceof Error ? error.message : String(error) });
  }
};

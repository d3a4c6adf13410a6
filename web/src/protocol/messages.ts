// Messages between client and worker: types only. Every call has an id; answers carry it back.

import type { HeedErrorParts } from '../core/errors.ts';
import type { InitOptions } from '../core/types.ts';
import type { Handlers } from '../worker/handlers.ts';

/** Methods a client may call, with the worker's own types. The last parameter, the job, stays in the worker. */
export type Method = keyof Handlers;
export type Arguments<M extends Method> = Parameters<Handlers[M]> extends [...infer A, unknown] ? A : never;
export type Result<M extends Method> = Awaited<ReturnType<Handlers[M]>>;

export type Request =
  | { readonly type: 'init'; readonly id: number; readonly options: InitOptions }
  | { readonly type: 'call'; readonly id: number; readonly method: Method; readonly args: readonly unknown[] }
  | { readonly type: 'abort'; readonly id: number };

export type Response =
  | { readonly type: 'result'; readonly id: number; readonly value: unknown }
  | { readonly type: 'progress'; readonly id: number; readonly fraction: number }
  | { readonly type: 'error'; readonly id: number; readonly error: HeedErrorParts };

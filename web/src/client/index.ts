// The package's entry "heed/client": heed in a worker.

export { HeedError } from '../core/errors.ts';
export { createClient, HeedClient, RemoteSession } from './client.ts';
export type { CallOptions, ClientOptions } from './client.ts';

// The one error type of heed: what was wrong, where, what was seen, what would be right.

/** What kind of thing went wrong. */
export type HeedErrorCode =
  | 'invalid-shape'
  | 'invalid-value'
  | 'overflow'
  | 'out-of-memory'
  | 'wasm-unavailable'
  | 'disposed'
  | 'aborted'
  | 'worker-died';

/** The parts of an error that cross a worker boundary. */
export interface HeedErrorParts {
  readonly code: HeedErrorCode;
  readonly field: string;
  readonly received: string;
  readonly expected: string;
}

/** Every error of heed: which field, what was received, what would be right. */
export class HeedError extends Error implements HeedErrorParts {
  override readonly name = 'HeedError';
  readonly code: HeedErrorCode;
  /** The argument at fault, for instance "query" or "lsh.buckets". */
  readonly field: string;
  readonly received: string;
  readonly expected: string;

  constructor(parts: HeedErrorParts, options?: ErrorOptions) {
    super(`${parts.field}: received ${parts.received}, expected ${parts.expected}`, options);
    this.code = parts.code;
    this.field = parts.field;
    this.received = parts.received;
    this.expected = parts.expected;
  }
}

export function disposedError(what: string): HeedError {
  return new HeedError({ code: 'disposed', field: what, received: 'a call after dispose()', expected: 'no call after dispose()' });
}

/** The session was configured anew while the call waited between slices. */
export function supersededError(): HeedError {
  return new HeedError({ code: 'aborted', field: 'session', received: 'configure() during the call', expected: 'no configure() before the call ends' });
}

export function workerDiedError(reason: string): HeedError {
  return new HeedError({ code: 'worker-died', field: 'worker', received: reason, expected: 'a living worker; make a new client' });
}

export function noWorkersError(): HeedError {
  return new HeedError({ code: 'invalid-value', field: 'worker', received: 'a host without workers', expected: 'a browser; elsewhere init() computes in the same thread' });
}

export function abortedError(): HeedError {
  return new HeedError({ code: 'aborted', field: 'signal', received: 'abort', expected: 'no abort' });
}

// What both entries export beside init().

export { HeedError } from './core/errors.ts';
export type { HeedErrorCode, HeedErrorParts } from './core/errors.ts';
export { Heed } from './core/heed.ts';
export { KeyValueCache } from './core/key-value-cache.ts';
export { Session } from './core/session.ts';
export { Tuner } from './core/tuner.ts';
export type * from './core/lab-types.ts';
export type * from './core/types.ts';

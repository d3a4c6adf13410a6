// The package's entry for browsers and bundlers.

export { init } from './core/web.ts';
export * from './public.ts';

// The package's entry for Node.

export { init } from './core/node.ts';
export * from './public.ts';

// The module's script for those that want it in their own file: others load it when they need it.

export { default as glue } from './generated/heed.mjs';

// Unit tests of the TypeScript sources, in Node.
import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['tests/web/**/*.test.ts'],
    // Node 20 has relaxed SIMD behind this flag; the facade's tests run on both binaries.
    execArgv: ['--experimental-wasm-relaxed-simd'],
    testTimeout: 60_000,
  },
});

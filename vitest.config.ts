// Unit tests of the TypeScript sources, in Node.
import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['tests/web/**/*.test.ts'],
    // Node 20 has relaxed SIMD behind the first flag; the facade's tests run on both binaries. The second
    // lets a test see what happens to sessions that nobody disposed.
    execArgv: ['--experimental-wasm-relaxed-simd', '--expose-gc'],
    testTimeout: 60_000,
  },
});

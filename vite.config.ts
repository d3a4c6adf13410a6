// The demo page: served by `npm run dev`, built into build/demo by `npm run build`.
import { defineConfig } from 'vite';

export default defineConfig({
  root: 'web',
  publicDir: '../public',
  // Relative addresses, so that the page works in any folder of any host.
  base: './',
  build: { outDir: '../build/demo', emptyOutDir: true, target: 'es2022', chunkSizeWarningLimit: 3000 },
  worker: { format: 'es' },
  server: { fs: { allow: ['..'] } },
});

// The site: the page, the package under heed/ for pages that embed, and oEmbed. Served by `npm run dev`,
// built into build/demo by `npm run build`; dist/ must be there (scripts/build-package).
//
// HEED_SITE_URL, the address where the built site will be, goes into oembed.json and the discovery link;
// without it there is neither, because oEmbed knows absolute addresses only.
import { createReadStream, existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { extname, join } from 'node:path';
import { defineConfig } from 'vite';
import type { Plugin } from 'vite';

const dist = join(import.meta.dirname, 'dist');
const types: Readonly<Record<string, string>> = { '.js': 'text/javascript', '.mjs': 'text/javascript', '.wasm': 'application/wasm', '.html': 'text/html', '.ts': 'text/plain', '.mts': 'text/plain', '.json': 'application/json' };

/** dist/ as it is in the package, under heed/ of the site. */
function packageUnderSite(): Plugin {
  return {
    name: 'heed-package',
    configureServer(server) {
      server.middlewares.use('/heed/', (request, response, next) => {
        const path = join(dist, new URL(request.url ?? '', 'http://localhost').pathname);
        if (!path.startsWith(dist) || !existsSync(path) || !statSync(path).isFile()) {
          next();
          return;
        }
        response.setHeader('content-type', types[extname(path)] ?? 'application/octet-stream');
        createReadStream(path).pipe(response);
      });
    },
    generateBundle() {
      for (const path of readdirSync(dist, { recursive: true, encoding: 'utf8' })) {
        if (statSync(join(dist, path)).isFile()) this.emitFile({ type: 'asset', fileName: `heed/${path}`, source: readFileSync(join(dist, path)) });
      }
    },
  };
}

/** What oEmbed consumers read (oembed.com, section 2.3.4.4, type rich). */
function oEmbed(site: string | undefined): Plugin {
  const size = { width: 720, height: 560 };
  return {
    name: 'heed-oembed',
    transformIndexHtml() {
      return site === undefined ? [] : [{ tag: 'link', attrs: { rel: 'alternate', type: 'application/json+oembed', href: new URL('oembed.json', site).href, title: 'heed' }, injectTo: 'head' }];
    },
    generateBundle() {
      if (site === undefined) return;
      const frame = new URL('heed/embed.html#show=lsh&text=The+cat+sat+on+the+mat.+The+dog+sat+on+the+cat.&controls=1', site).href;
      this.emitFile({
        type: 'asset', fileName: 'oembed.json',
        source: JSON.stringify({
          version: '1.0', type: 'rich', provider_name: 'heed', provider_url: site, title: 'heed: attention, exact and hashed', ...size,
          html: `<iframe src="${frame.replaceAll('&', '&amp;')}" title="heed: attention, exact and hashed" width="${size.width}" height="${size.height}" sandbox="allow-scripts" loading="lazy" style="border:0"></iframe>`,
          thumbnail_url: new URL('images/page.png', site).href, thumbnail_width: 1440, thumbnail_height: 1000,
        }, null, 2),
      });
    },
  };
}

export default defineConfig({
  root: 'web',
  publicDir: '../public',
  // Relative addresses, so that the page works in any folder of any host.
  base: './',
  plugins: [packageUnderSite(), oEmbed(process.env['HEED_SITE_URL'])],
  build: { outDir: '../build/demo', emptyOutDir: true, target: 'es2022', chunkSizeWarningLimit: 3000 },
  worker: { format: 'es' },
  server: { fs: { allow: ['..'] } },
});

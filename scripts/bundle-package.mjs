// Bundles what cannot stay one module a source file: the elements with Lit and d3 inside, the payload of
// "heed/inline", and the self-contained page for iframes. Called by scripts/build-package.
//
//   usage: node scripts/bundle-package.mjs payload    web/src/inline/generated/payload.mjs, before tsc
//          node scripts/bundle-package.mjs bundles    dist/element/*.js, dist/embed.html, after tsc
import { build } from 'esbuild';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { deflateRawSync } from 'node:zlib';

const root = join(import.meta.dirname, '..');
const source = (path) => join(root, 'web/src', path);
const common = { bundle: true, format: 'esm', target: 'es2022', minify: true, write: false, logLevel: 'warning', legalComments: 'none', loader: { '.css': 'text' } };
const licences = '/*! heed, Apache-2.0. Contains Lit (BSD-3-Clause, Google LLC), d3 (ISC, Mike Bostock) and fflate (MIT, Arjun Barrett); see NOTICE.md. */';

async function payload() {
  // A classic script: a page without an origin, from a file or in a sandbox, may have no module worker.
  // It is given its binary, so no address of its own matters. The laboratory is not for it: "heed/inline" refuses it.
  const { outputFiles: [worker] } = await build({ ...common, format: 'iife', define: { 'import.meta.url': '"https://heed.invalid/"' }, entryPoints: [source('worker/worker.ts')], external: ['*/heed-lab.mjs'] });
  const pack = (bytes) => deflateRawSync(bytes, { level: 9 }).toString('base64');
  const binary = (name) => pack(readFileSync(source(`core/generated/${name}.wasm`)));
  mkdirSync(source('inline/generated'), { recursive: true });
  writeFileSync(source('inline/generated/payload.mjs'), [
    `export const binaries = { simd128: '${binary('heed')}', relaxed: '${binary('heed-relaxed')}' };`,
    `export const worker = '${pack(worker.contents)}';`, '',
  ].join('\n'));
  writeFileSync(source('inline/generated/payload.d.mts'), [
    '/** The WebAssembly files, packed. */',
    "export declare const binaries: Readonly<Record<'simd128' | 'relaxed', string>>;",
    '/** The worker as one classic script, packed. */',
    'export declare const worker: string;', '',
  ].join('\n'));
}

/** In the page for iframes the table of the byte pair encoding stays a file: it is larger than all the rest. */
const tableBeside = {
  name: 'table-beside',
  setup: ({ onResolve }) => onResolve({ filter: /\/bpe\.ts$/ }, () => ({ path: './element/bpe.js', external: true })),
};

async function bundles() {
  const elements = await build({
    ...common, entryPoints: { index: source('element/index.ts'), bpe: source('text/bpe.ts') }, splitting: true,
    outdir: join(root, 'dist/element'), chunkNames: '[name]-[hash]', banner: { js: licences },
  });
  mkdirSync(join(root, 'dist/element'), { recursive: true });
  for (const { path, contents } of elements.outputFiles) writeFileSync(path, contents);
  const { outputFiles: [script] } = await build({ ...common, entryPoints: [source('embed/main.ts')], plugins: [tableBeside], banner: { js: licences } });
  // A function, because a replacement text would read "$&" in the script as a pattern.
  const page = readFileSync(source('embed/page.html'), 'utf8').replace('<!-- script -->', () => script.text.replaceAll('</script', '<\\/script'));
  writeFileSync(join(root, 'dist/embed.html'), page);
}

const steps = { payload, bundles };
const step = steps[process.argv[2]];
if (step === undefined) throw new Error(`received step "${process.argv[2]}", expected ${Object.keys(steps).join(' or ')}`);
await step();

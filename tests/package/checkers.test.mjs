// What the package holds, how large it is, and what the checkers of the field say of it.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { brotliCompressSync } from 'node:zlib';
import { binary, installed, project, root, run } from './support.mjs';

const brotliBytes = (path) => brotliCompressSync(readFileSync(join(installed, path))).length;
const files = () => run('find', ['.', '-type', 'f'], installed).trim().split('\n').map((file) => file.slice(2));
const tarball = () => run('find', [project, '-maxdepth', '1', '-name', '*.tgz']).trim();

test('the tarball holds the built modules, their types and binaries, notices, and nothing else', () => {
  const found = files();
  assert.deepEqual(found.filter((file) => !/^(dist\/.*\.(js|mjs|d\.ts|d\.mts|wasm)|dist\/(embed\.html|custom-elements\.json|LICENSE|NOTICE\.md|CHANGELOG\.md)|package\.json|README\.md|LICENSE)$/.test(file)), []);
  const { exports } = JSON.parse(readFileSync(join(installed, 'package.json'), 'utf8'));
  const named = Object.values(exports).flatMap((target) => (typeof target === 'string' ? [target] : Object.values(target)));
  for (const file of named) assert.ok(found.includes(file.slice(2)), `${file} is missing`);
});

test('no module for the browser needs eval, Node or another package', () => {
  for (const file of files().filter((name) => /\.m?js$/.test(name))) {
    const text = readFileSync(join(installed, file), 'utf8');
    assert.doesNotMatch(text, /new Function\(|\beval\(/, file);
    if (!/core\/node\.js$|element\/bpe\.js$/.test(file)) assert.doesNotMatch(text, /\b(from|import\()\s*['"](?!\.)[@\w]/, file);
  }
});

test('sizes stay below what they may be', (t) => {
  const bundle = readFileSync(join(installed, 'dist/element/index.js'), 'utf8');
  const chunks = [...bundle.matchAll(/from"\.\/([^"]+)"/g)].map(([, name]) => `dist/element/${name}`);
  const sizes = {
    'heed.wasm': [brotliBytes('dist/core/generated/heed.wasm'), 60 * 1024],
    'heed-relaxed.wasm': [brotliBytes('dist/core/generated/heed-relaxed.wasm'), 60 * 1024],
    'glue': [brotliBytes('dist/core/generated/heed.mjs'), 12 * 1024],
    'element': [['dist/element/index.js', ...chunks].reduce((sum, file) => sum + brotliBytes(file), 0), 60 * 1024],
  };
  for (const [name, [bytes, most]] of Object.entries(sizes)) {
    t.diagnostic(`${name}: ${bytes} of ${most} bytes, brotli`);
    assert.ok(bytes <= most, `${name} has ${bytes} bytes, more than ${most}`);
  }
});

test('publint finds nothing', () => {
  assert.match(run(binary('publint'), ['run', tarball(), '--strict'], root), /All good/);
});

test('the types are right for every way of resolving them that knows exports', () => {
  run(binary('attw'), [tarball(), '--profile', 'esm-only', '--exclude-entrypoints', './embed.html', './custom-elements.json', './heed.wasm', './heed-relaxed.wasm', './heed-lab.wasm', './heed-lab-relaxed.wasm'], root);
});

test('the interface is that of the committed reports, and everything in it is documented', () => {
  run('node', [join(root, 'scripts/api-report.mjs')], root);
});

test('the custom elements are all in the manifest, with their attributes', () => {
  const { modules } = JSON.parse(readFileSync(join(installed, 'dist/custom-elements.json'), 'utf8'));
  const elements = modules.flatMap(({ declarations }) => declarations).filter(({ tagName }) => tagName !== undefined);
  assert.deepEqual(elements.map(({ tagName }) => tagName).sort(), ['heed-attention', 'heed-buckets', 'heed-cell', 'heed-lsh']);
  const source = readFileSync(join(root, 'web/src/element/types.ts'), 'utf8');
  const properties = [...source.slice(source.indexOf('interface HeedElementProperties'), source.indexOf('interface HeedElementMethods')).matchAll(/^ {2}(\w+): /gm)].map(([, name]) => name).filter((name) => !/^(inputs|queryTokens|keyTokens)$/.test(name));
  for (const { tagName, attributes } of elements) {
    const names = attributes.map(({ name }) => name.replace(/-(.)/g, (_, letter) => letter.toUpperCase()));
    for (const property of properties) assert.ok(names.includes(property), `${tagName} has no attribute for ${property}`);
    const documentation = readFileSync(join(root, 'web/docs/embedding.md'), 'utf8');
    for (const { name } of attributes) assert.ok(documentation.includes(`| \`${name}\` |`), `embedding.md does not list ${name}`);
  }
});

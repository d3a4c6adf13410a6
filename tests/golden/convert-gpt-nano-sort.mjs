// Converts the weights and reference activations of gpt-nano-sort from JSON to the golden format.
//
//   node tests/golden/convert-gpt-nano-sort.mjs OUTPUT
//
// Reads $HEED_SHARED_DATA/gpt-nano-sort, by default ../shared/data/gpt-nano-sort beside the
// checkout. Where that folder is absent OUTPUT is removed and the exit code is 77: skipped.
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { formatGolden } from './golden-format.mjs';

const kSkipped = 77;

const [output] = process.argv.slice(2);
if (output === undefined) {
  console.error('usage: node tests/golden/convert-gpt-nano-sort.mjs OUTPUT');
  process.exit(2);
}
const shared =
  process.env.HEED_SHARED_DATA ??
  fileURLToPath(new URL('../../../shared/data', import.meta.url));
const folder = join(shared, 'gpt-nano-sort');
if (!existsSync(folder)) {
  rmSync(output, { force: true });
  console.log(`skipped: there is no ${folder}; HEED_SHARED_DATA may name the folder that holds it`);
  process.exit(kSkipped);
}

/** Tensors are {shape, dtype, data}, data the base64 of little-endian float32. */
function readTensors(file) {
  const tensors = {};
  for (const [name, entry] of Object.entries(JSON.parse(readFileSync(join(folder, file), 'utf8')))) {
    if (entry.data === undefined) continue;
    if (entry.dtype !== 'torch.float32') {
      throw new Error(`${file}: ${name} has dtype ${entry.dtype}, expected torch.float32`);
    }
    const bytes = Buffer.from(entry.data, 'base64');
    const data = Array.from({ length: bytes.length / 4 }, (_, i) => bytes.readFloatLE(4 * i));
    tensors[name] = { dims: entry.shape, data };
  }
  return tensors;
}

const cases = [
  { name: 'model', tensors: readTensors('gpt-nano-sort-model.json') },
  { name: 'activations', tensors: readTensors('gpt-nano-sort-t0-partials.json') },
];
mkdirSync(dirname(output), { recursive: true });
writeFileSync(output, formatGolden('gpt-nano-sort (minGPT, MIT), from the llm-viz project.', cases));

// Makes onnx-attention.txt: the operator Attention of ONNX opset 23, computed by onnxruntime-web.
//
//   node tests/golden/make-onnx-attention.mjs
//
// Each case is a model of one node. Its fourth output, with qk_matmul_output_mode = 3, is the
// softmax: the weights. Masks are written as given: 1 (true) shows a key. In this version all
// combinations agree with heed: the soft cap comes before the mask, and a query that sees no key
// has zeros; versions that follow the first text of opset 23 cap after the mask.
import { writeFileSync } from 'node:fs';
import onnxProto from 'onnx-proto';
import * as ort from 'onnxruntime-web';
import { formatGolden } from './golden-format.mjs';

const { onnx } = onnxProto;
const { AttributeProto, ModelProto, TensorProto } = onnx;
const kOpset = 23;
const kSoftmaxOutput = 3; // qk_matmul_output_mode

/** Steps of 1/32 in [-2, 2): short in decimal, exact in float32. */
function randomSteps(seed) {
  let state = seed;
  return (count) =>
    Float32Array.from({ length: count }, () => {
      state = (Math.imul(state, 1664525) + 1013904223) >>> 0; // Numerical Recipes' generator
      return (state >>> 25) / 32 - 2;
    });
}

const kBase = { batch: 1, heads: 2, kvHeads: 2, queryLen: 5, keyLen: 5, headDim: 4, valueDim: 4 };

/** mask and bias are functions of (query, key, head). */
const kCases = [
  { name: 'plain', batch: 2 },
  { name: 'long-rows', heads: 1, kvHeads: 1, queryLen: 3, keyLen: 67, headDim: 19, valueDim: 7 },
  { name: 'grouped-query', heads: 4, kvHeads: 2 },
  { name: 'multi-query', heads: 3, kvHeads: 1 },
  { name: 'causal', causal: true },
  { name: 'causal-fewer-queries', causal: true, queryLen: 3, keyLen: 7 },
  { name: 'causal-more-queries', causal: true, queryLen: 7, keyLen: 3 },
  { name: 'causal-with-cache', causal: true, queryLen: 3, keyLen: 8, pastLen: 5 },
  { name: 'boolean-mask', mask: (i, j) => (i * 3 + j * 2) % 5 !== 1 },
  { name: 'boolean-mask-per-head', mask: (i, j, h) => (i + j + h) % 3 !== 0, maskHeads: 2 },
  { name: 'additive-mask', bias: (i, j) => ((i * 7 + j * 3) % 11) / 4 - 1 },
  { name: 'additive-mask-hides', bias: (i, j) => ((i + j) % 4 === 1 ? -Infinity : (j - i) / 8) },
  { name: 'boolean-mask-causal', causal: true, mask: (i, j) => j === 0 || (i + j) % 2 === 0 },
  { name: 'additive-mask-causal', causal: true, bias: (i, j) => (j - i) / 4 },
  { name: 'soft-cap', softcap: 0.75 },
  { name: 'soft-cap-causal', softcap: 2, causal: true },
  { name: 'soft-cap-boolean-mask', softcap: 0.75, mask: (i, j) => (i + 2 * j) % 3 !== 0 },
  { name: 'soft-cap-additive-mask', softcap: 0.75, bias: (i, j) => (i - j) * 0.5 },
  { name: 'boolean-mask-hides-all', mask: (i, j) => i !== 1 && (i + j) % 4 !== 2 },
  { name: 'longer-keys', queryLen: 2, keyLen: 9 },
  { name: 'wider-values', valueDim: 6 },
  { name: 'narrower-values', valueDim: 3, heads: 4 },
  { name: 'scale', scale: 0.3125 },
  {
    name: 'everything',
    batch: 2,
    heads: 4,
    queryLen: 6,
    keyLen: 9,
    headDim: 5,
    valueDim: 3,
    causal: true,
    scale: 0.75,
    softcap: 1.5,
    bias: (i, j, h) => (h - 1) * (j - i) * 0.125,
    maskHeads: 4,
  },
];

function attribute(name, value) {
  const { FLOAT, INT } = AttributeProto.AttributeType;
  if (name === 'scale' || name === 'softcap') return { name, type: FLOAT, f: value };
  return { name, type: INT, i: value };
}

function makeModel(options, inputs) {
  const elemTypes = { float32: TensorProto.DataType.FLOAT, bool: TensorProto.DataType.BOOL };
  const attributes = [attribute('qk_matmul_output_mode', kSoftmaxOutput)];
  if (options.causal) attributes.push(attribute('is_causal', 1));
  if (options.softcap) attributes.push(attribute('softcap', options.softcap));
  if (options.scale) attributes.push(attribute('scale', options.scale));
  const slots = ['query', 'key', 'value', 'mask', 'past_key', 'past_value'];
  const model = ModelProto.fromObject({
    irVersion: 10,
    opsetImport: [{ domain: '', version: kOpset }],
    graph: {
      name: options.name,
      node: [
        {
          opType: 'Attention',
          input: slots.map((slot) => (slot in inputs ? slot : '')),
          output: ['context', 'present_key', 'present_value', 'weights'],
          attribute: attributes,
        },
      ],
      input: Object.entries(inputs).map(([name, tensor]) => ({
        name,
        type: {
          tensorType: {
            elemType: elemTypes[tensor.type],
            shape: { dim: tensor.dims.map((dimValue) => ({ dimValue })) },
          },
        },
      })),
      output: ['context', 'present_key', 'present_value', 'weights'].map((name) => ({
        name,
        type: { tensorType: { elemType: elemTypes.float32 } },
      })),
    },
  });
  return ModelProto.encode(model).finish();
}

/** Fills [1, heads, queryLen, keyLen]. */
function fillMask(type, make, { maskHeads = 1, queryLen, keyLen }) {
  const values = [];
  for (let h = 0; h < maskHeads; ++h) {
    for (let i = 0; i < queryLen; ++i) {
      for (let j = 0; j < keyLen; ++j) values.push(make(i, j, h));
    }
  }
  const data = type === 'bool' ? Uint8Array.from(values) : Float32Array.from(values);
  return new ort.Tensor(type, data, [1, maskHeads, queryLen, keyLen]);
}

async function runCase(overrides, seed) {
  const options = { ...kBase, ...overrides };
  const { batch, heads, kvHeads, queryLen, keyLen, headDim, valueDim, pastLen = 0 } = options;
  const random = randomSteps(seed);
  const tensor = (...dims) =>
    new ort.Tensor('float32', random(dims.reduce((product, dim) => product * dim)), dims);
  const inputs = {
    query: tensor(batch, heads, queryLen, headDim),
    key: tensor(batch, kvHeads, keyLen - pastLen, headDim),
    value: tensor(batch, kvHeads, keyLen - pastLen, valueDim),
  };
  if (options.mask) inputs.mask = fillMask('bool', options.mask, options);
  if (options.bias) inputs.mask = fillMask('float32', options.bias, options);
  if (pastLen > 0) {
    inputs.past_key = tensor(batch, kvHeads, pastLen, headDim);
    inputs.past_value = tensor(batch, kvHeads, pastLen, valueDim);
  }
  const session = await ort.InferenceSession.create(makeModel(options, inputs));
  const results = await session.run(inputs);
  await session.release();

  // The keys and values that were attended to, those of the cache included.
  const tensors = { query: inputs.query, key: results.present_key, value: results.present_value };
  if (inputs.mask) tensors[options.mask ? 'mask' : 'bias'] = inputs.mask;
  const scalar = (value) => ({ dims: [], data: [value] });
  if (options.scale) tensors.scale = scalar(options.scale);
  if (options.softcap) tensors.soft_cap = scalar(options.softcap);
  if (options.causal) tensors.causal_offset = scalar(pastLen);
  Object.assign(tensors, { weights: results.weights, context: results.context });
  return { name: options.name, tensors };
}

ort.env.wasm.numThreads = 1;
const cases = [];
for (const [index, options] of kCases.entries()) cases.push(await runCase(options, index + 1));
const comment = [
  `ONNX operator Attention, opset ${kOpset}, by onnxruntime-web ${ort.env.versions.web} (wasm).`,
  'Made by tests/golden/make-onnx-attention.mjs; see README.md.',
].join('\n');
writeFileSync(new URL('onnx-attention.txt', import.meta.url), formatGolden(comment, cases));

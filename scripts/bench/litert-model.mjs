// A .tflite file of attention, written with flatbuffers: BATCH_MATMUL, MUL, SOFTMAX, BATCH_MATMUL.
// Numbers of fields and enumerators are those of TensorFlow Lite's schema.fbs, version 3.
import { Builder } from 'flatbuffers';

const operators = { mul: 18, softmax: 25, batchMatMul: 126 };
const optionsType = { softmax: 9, mul: 21, batchMatMul: 101 };

/** A table: fields are [slot, kind, value], kind being a method's suffix of Builder. */
function table(b, fields) {
  b.startObject(1 + Math.max(...fields.map(([slot]) => slot)));
  for (const [slot, kind, value] of fields) b[`addField${kind}`](slot, value, undefined);
  return b.endObject();
}

function vector(b, values, bytes, add) {
  b.startVector(bytes, values.length, bytes);
  for (const value of [...values].reverse()) add(value);
  return b.endVector();
}

export function litertModel({ heads, length, headDim }) {
  const b = new Builder(1024);
  b.forceDefaults(true);
  const ints = (values) => vector(b, values, 4, (value) => b.addInt32(value));
  const offsets = (values) => vector(b, values, 4, (value) => b.addOffset(value));
  const bytes = (values) => vector(b, values, 1, (value) => b.addInt8(value));

  const scaleData = bytes(new Uint8Array(Float32Array.of(1 / Math.sqrt(headDim)).buffer));
  const buffers = [table(b, [[0, 'Offset', bytes([])]]), table(b, [[0, 'Offset', scaleData]])];
  const tensor = (name, shape, buffer = 0) => {
    const [text, sizes] = [b.createString(name), ints(shape)];
    return table(b, [[0, 'Offset', sizes], [1, 'Int8', 0], [2, 'Int32', buffer], [3, 'Offset', text]]);
  };
  const rows = [heads, length, headDim], square = [heads, length, length];
  const tensors = [
    tensor('query', rows), tensor('key', rows), tensor('value', rows), tensor('scale', [1], 1),
    tensor('dots', square), tensor('logits', square), tensor('weights', square), tensor('context', rows),
  ];
  const codes = [operators.batchMatMul, operators.mul, operators.softmax].map((code) => table(b, [
    [0, 'Int8', Math.min(code, 127)], [2, 'Int32', 1], [3, 'Int32', code],
  ]));
  const operator = (code, inputs, output, type, options) => {
    const [from, to] = [ints(inputs), ints([output])];
    return table(b, [[0, 'Int32', code], [1, 'Offset', from], [2, 'Offset', to], [3, 'Int8', type], [4, 'Offset', options]]);
  };
  const product = (adjointY) => table(b, [[0, 'Int8', 0], [1, 'Int8', adjointY]]);
  const steps = [
    operator(0, [0, 1], 4, optionsType.batchMatMul, product(1)),
    operator(1, [4, 3], 5, optionsType.mul, table(b, [[0, 'Int8', 0]])),
    operator(2, [5], 6, optionsType.softmax, table(b, [[0, 'Float32', 1]])),
    operator(0, [6, 2], 7, optionsType.batchMatMul, product(0)),
  ];
  const graphFields = [offsets(tensors), ints([0, 1, 2]), ints([7]), offsets(steps), b.createString('attention')];
  const graph = table(b, graphFields.map((value, slot) => [slot, 'Offset', value]));
  const modelFields = [offsets(codes), offsets([graph]), b.createString('attention'), offsets(buffers)];
  const model = table(b, [[0, 'Int32', 3], ...modelFields.map((value, n) => [n + 1, 'Offset', value])]);
  b.finish(model, 'TFL3');
  return b.asUint8Array().slice();
}

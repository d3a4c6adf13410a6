// ONNX models of attention: the operator Attention of opset 23, and the graph of MatMul and Softmax.
import onnxProto from 'onnx-proto';

const { onnx } = onnxProto;

const valueInfo = (name, shape) => onnx.ValueInfoProto.create({
  name,
  type: { tensorType: { elemType: onnx.TensorProto.DataType.FLOAT, shape: { dim: shape.map((dimValue) => ({ dimValue })) } } },
});

function encode(shape, nodes, initializer = []) {
  const model = onnx.ModelProto.create({
    irVersion: 10, opsetImport: [{ domain: '', version: 23 }],
    graph: {
      name: 'attention', node: nodes.map((node) => onnx.NodeProto.create(node)), initializer,
      input: ['query', 'key', 'value'].map((name) => valueInfo(name, shape)), output: [valueInfo('context', shape)],
    },
  });
  return onnx.ModelProto.encode(model).finish();
}

/** Bytes by variant. Causal attention exists only as the operator. */
export function attentionModels({ heads, length, headDim, causal }) {
  const shape = [1, heads, length, headDim];
  const operator = encode(shape, [{
    opType: 'Attention', input: ['query', 'key', 'value'], output: ['context'],
    attribute: causal ? [{ name: 'is_causal', type: onnx.AttributeProto.AttributeType.INT, i: 1 }] : [],
  }]);
  if (causal) return { Attention: operator };
  const scale = onnx.TensorProto.create({ name: 'scale', dims: [1], dataType: onnx.TensorProto.DataType.FLOAT, floatData: [1 / Math.sqrt(headDim)] });
  const graph = encode(shape, [
    { opType: 'Mul', input: ['query', 'scale'], output: ['scaled'] },
    { opType: 'Transpose', input: ['key'], output: ['keyT'], attribute: [{ name: 'perm', type: onnx.AttributeProto.AttributeType.INTS, ints: [0, 1, 3, 2] }] },
    { opType: 'MatMul', input: ['scaled', 'keyT'], output: ['logits'] },
    { opType: 'Softmax', input: ['logits'], output: ['weights'], attribute: [{ name: 'axis', type: onnx.AttributeProto.AttributeType.INT, i: -1 }] },
    { opType: 'MatMul', input: ['weights', 'value'], output: ['context'] },
  ], [scale]);
  return { Attention: operator, MatMul: graph };
}

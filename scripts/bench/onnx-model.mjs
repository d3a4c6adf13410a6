// An ONNX model of one node: the operator Attention of opset 23.
import onnxProto from 'onnx-proto';

const { onnx } = onnxProto;

export function attentionModel({ heads, length, headDim, causal }) {
  const value = (name) => onnx.ValueInfoProto.create({
    name,
    type: { tensorType: { elemType: onnx.TensorProto.DataType.FLOAT, shape: { dim: [1, heads, length, headDim].map((dimValue) => ({ dimValue })) } } },
  });
  const node = onnx.NodeProto.create({
    opType: 'Attention', input: ['query', 'key', 'value'], output: ['context'],
    attribute: causal ? [onnx.AttributeProto.create({ name: 'is_causal', type: onnx.AttributeProto.AttributeType.INT, i: 1 })] : [],
  });
  const model = onnx.ModelProto.create({
    irVersion: 10, opsetImport: [{ domain: '', version: 23 }],
    graph: { name: 'attention', node: [node], input: ['query', 'key', 'value'].map(value), output: [value('context')] },
  });
  return onnx.ModelProto.encode(model).finish();
}

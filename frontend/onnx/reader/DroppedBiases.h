//===- DroppedBiases.h - Restore zero biases removed by the exporter --------------------------===//

#ifndef MTC_FRONTEND_ONNX_READER_DROPPEDBIASES_H
#define MTC_FRONTEND_ONNX_READER_DROPPEDBIASES_H

namespace onnx {
class GraphProto;
} // namespace onnx

namespace mtc::onnx {

class ExporterMetadata;

/// Restores the zero-initialized biases of Gemm, Conv and ConvTranspose that PyTorch's newer
/// exporter removes (onnxscript's rules `RemoveOptionalBiasFrom…`), although the module trains
/// them. Each affected node of the main graph gets an initializer of zeros, named as in the FX
/// node, so that exported models contain the trained bias. The element type is that of the node's
/// weight; nodes with weights of unknown type are not changed.
void restoreDroppedBiases(::onnx::GraphProto &graph, const ExporterMetadata &metadata);

} // namespace mtc::onnx

#endif // MTC_FRONTEND_ONNX_READER_DROPPEDBIASES_H

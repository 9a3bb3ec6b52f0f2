//===- DroppedBiases.h - Biases of zeros that an exporter dropped ----------------------------===//

#ifndef MTC_FRONTEND_READER_DROPPEDBIASES_H
#define MTC_FRONTEND_READER_DROPPEDBIASES_H

namespace onnx {
class GraphProto;
} // namespace onnx

namespace mtc::onnx {

class ExporterMetadata;

/// PyTorch's newer exporter drops a bias of zeros from Gemm, Conv and ConvTranspose (onnxscript's
/// rules `RemoveOptionalBiasFrom…`), which the module trains. Each such node of the main graph
/// reads the bias again, an initializer of zeros with the name that the FX node gives it, so that
/// exported models hold what was trained. The type is that of the node's weight; where the file
/// does not tell it, the node stays as it is.
void restoreDroppedBiases(::onnx::GraphProto &graph, const ExporterMetadata &metadata);

} // namespace mtc::onnx

#endif // MTC_FRONTEND_READER_DROPPEDBIASES_H

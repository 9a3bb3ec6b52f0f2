//===- NodeNames.h - What users call a node ---------------------------------------------------===//
//
// Exporters keep the module that a node came from: PyTorch's newer one in the node's metadata, the
// TorchScript one in the node's name (`/transformer/h.0/attn/MatMul`).
//
//===------------------------------------------------------------------------------------------===//

#ifndef MTC_FRONTEND_READER_NODENAMES_H
#define MTC_FRONTEND_READER_NODENAMES_H

#include "llvm/ADT/StringRef.h"

#include <string>

namespace onnx {
class NodeProto;
} // namespace onnx

namespace mtc::onnx {

/// The dotted path of the module that a node came from, `transformer.h.0.attn`; empty if unknown.
std::string modulePath(const ::onnx::NodeProto &node);

/// What messages call the node: module path and operator where the metadata has the path, otherwise
/// the node's name, otherwise operator and position.
std::string displayName(const ::onnx::NodeProto &node, int64_t index);
/// Whether that is operator and position.
bool isUnnamed(const ::onnx::NodeProto &node);

/// `node 'N' (Op)`, with the file's own name, for problems of the file.
std::string nodeLabel(const ::onnx::NodeProto &node, int64_t index);

} // namespace mtc::onnx

#endif // MTC_FRONTEND_READER_NODENAMES_H

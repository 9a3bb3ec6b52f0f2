//===- NodeNames.h - What users call a node ---------------------------------------------------===//
//
// PyTorch's newer exporter keeps the module that a node came from in the node's metadata, the older
// one in the node's name (`/transformer/h.0/attn/MatMul`, see ModulePaths.h).
//
//===------------------------------------------------------------------------------------------===//

#ifndef MTC_FRONTEND_READER_NODENAMES_H
#define MTC_FRONTEND_READER_NODENAMES_H

#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/ADT/StringSet.h"

#include <string>

namespace onnx {
class GraphProto;
class NodeProto;
} // namespace onnx

namespace mtc::onnx {

/// The dotted path of a node's module in the metadata of PyTorch's newer exporter,
/// `transformer.h.0.attn`; empty if there is none.
std::string pathFromMetadata(const ::onnx::NodeProto &node);

/// The strings of a Python list: `['', 'model', 'model.norm', 'mul_3']`.
llvm::SmallVector<llvm::StringRef> pythonStrings(llvm::StringRef text);

/// What messages call the node: module path and operator where the metadata has the path, otherwise
/// the node's name, otherwise operator and position.
std::string displayName(const ::onnx::NodeProto &node, int64_t index);
/// Whether that is operator and position.
bool isUnnamed(const ::onnx::NodeProto &node);

/// The names that are taken in a graph, but for those of its subgraphs: of inputs, initializers,
/// nodes and their results.
llvm::StringSet<> namesOf(const ::onnx::GraphProto &graph);

/// `node 'N' (Op)`, with the file's own name, for problems of the file.
std::string nodeLabel(const ::onnx::NodeProto &node, int64_t index);

} // namespace mtc::onnx

#endif // MTC_FRONTEND_READER_NODENAMES_H

//===- NodeNames.h - Display names of nodes ---------------------------------------------------===//
//
// PyTorch's newer exporter stores the module of a node in the node's metadata, the older exporter
// in the node's name (`/transformer/h.0/attn/MatMul`, see ModulePaths.h).
//
//===------------------------------------------------------------------------------------------===//

#ifndef MTC_FRONTEND_ONNX_READER_NODENAMES_H
#define MTC_FRONTEND_ONNX_READER_NODENAMES_H

#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/ADT/StringSet.h"

#include <string>

namespace onnx {
class GraphProto;
class NodeProto;
} // namespace onnx

namespace mtc::onnx {

/// Returns the dotted path of a node's module from the metadata of PyTorch's newer exporter, such
/// as `transformer.h.0.attn`; empty if there is none.
std::string pathFromMetadata(const ::onnx::NodeProto &node);

/// Parses the strings of a Python list such as `['', 'model', 'model.norm', 'mul_3']`.
llvm::SmallVector<llvm::StringRef> pythonStrings(llvm::StringRef text);

/// Returns the name of a node in messages: module path and operator if the metadata contains the
/// path, otherwise the node's name, otherwise operator and index.
std::string displayName(const ::onnx::NodeProto &node, int64_t index);
/// Returns whether the display name consists of operator and index.
bool isUnnamed(const ::onnx::NodeProto &node);

/// Returns the names of a graph's inputs, initializers, nodes and node outputs, excluding
/// subgraphs.
llvm::StringSet<> namesOf(const ::onnx::GraphProto &graph);

/// Returns `node 'N' (Op)`, with the node's name in the file, for problems of the file.
std::string nodeLabel(const ::onnx::NodeProto &node, int64_t index);

} // namespace mtc::onnx

#endif // MTC_FRONTEND_ONNX_READER_NODENAMES_H

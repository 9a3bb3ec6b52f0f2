//===- NodeNames.cpp - Display names of nodes -------------------------------------------------===//

#include "frontend/onnx/reader/NodeNames.h"

#include "support/compiler/Problems.h"

#include "onnx-ml.pb.h"
#include "llvm/ADT/SmallVector.h"

using namespace llvm;

namespace mtc::onnx {

namespace {

constexpr StringRef noModule = "_empty_nn_module_stack_from_metadata_hook";

StringRef metadata(const ::onnx::NodeProto &node, StringRef key) {
  for (const auto &entry : node.metadata_props())
    if (entry.key() == key)
      return entry.value();
  return {};
}

} // namespace

SmallVector<StringRef> pythonStrings(StringRef text) {
  SmallVector<StringRef> result;
  while (true) {
    size_t start = text.find_first_of("'\"");
    if (start == StringRef::npos)
      return result;
    size_t end = text.find(text[start], start + 1);
    if (end == StringRef::npos)
      return result;
    result.push_back(text.slice(start + 1, end));
    text = text.drop_front(end + 1);
  }
}

/// The last scope is the operation, the one before it the module.
std::string pathFromMetadata(const ::onnx::NodeProto &node) {
  SmallVector<StringRef> scopes = pythonStrings(metadata(node, "pkg.torch.onnx.name_scopes"));
  if (scopes.empty()) {
    // `: a.b.Model/layer: a.b.Layer/mul: aten.mul`: scope and class, separated by slashes.
    SmallVector<StringRef> parts;
    metadata(node, "namespace").split(parts, '/');
    for (StringRef part : parts)
      scopes.push_back(part.split(": ").first);
  }
  if (scopes.size() < 2 || scopes[scopes.size() - 2] == noModule)
    return {};
  return scopes[scopes.size() - 2].str();
}

std::string displayName(const ::onnx::NodeProto &node, int64_t index) {
  if (std::string path = pathFromMetadata(node); !path.empty())
    return path + "/" + node.op_type();
  if (!node.name().empty())
    return node.name();
  return node.op_type() + "_" + std::to_string(index);
}

bool isUnnamed(const ::onnx::NodeProto &node) {
  return node.name().empty() && pathFromMetadata(node).empty();
}

std::string nodeLabel(const ::onnx::NodeProto &node, int64_t index) {
  std::string name =
      node.name().empty() ? node.op_type() + "_" + std::to_string(index) : node.name();
  std::string domain = node.domain().empty() ? "" : node.domain() + ".";
  return "node " + quoted(name) + " (" + domain + node.op_type() + ")";
}

StringSet<> namesOf(const ::onnx::GraphProto &graph) {
  StringSet<> names;
  for (const auto &input : graph.input())
    names.insert(input.name());
  for (const auto &initializer : graph.initializer())
    names.insert(initializer.name());
  for (const ::onnx::NodeProto &node : graph.node()) {
    names.insert(node.name());
    for (const std::string &output : node.output())
      names.insert(output);
  }
  return names;
}

} // namespace mtc::onnx

//===- ModulePaths.cpp - Module paths of nodes ------------------------------------------------===//

#include "frontend/onnx/reader/ModulePaths.h"

#include "frontend/onnx/reader/NodeNames.h"

#include "onnx-ml.pb.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringExtras.h"

using namespace llvm;

namespace mtc::onnx {

namespace {

/// Returns the scopes in a node name of the older exporter, outermost first. Omits scopes that the
/// next scope repeats, as children of an nn.Sequential do.
SmallVector<StringRef> scopesOf(const ::onnx::NodeProto &node) {
  StringRef name = node.name();
  SmallVector<StringRef> scopes, result;
  if (!name.consume_front("/"))
    return {};
  name.split(scopes, '/');
  scopes.pop_back(); // The last component is the operator.
  for (auto [i, scope] : llvm::enumerate(scopes)) {
    // The exporter numbers a second call of the parent, but not its children.
    StringRef own = scope;
    if (size_t end = own.rfind('_');
        end != StringRef::npos && all_of(own.drop_front(end + 1), isDigit))
      own = own.take_front(end);
    bool isRepeated =
        i + 1 < scopes.size() && (scopes[i + 1].starts_with((scope + ".").str()) ||
                                  (!own.empty() && scopes[i + 1].starts_with((own + ".").str())));
    if (!isRepeated)
      result.push_back(scope);
  }
  return result;
}

} // namespace

ModulePaths::ModulePaths(const ::onnx::GraphProto &graph) { collect(graph); }

void ModulePaths::collect(const ::onnx::GraphProto &graph) {
  for (const auto &initializer : graph.initializer())
    for (StringRef name = initializer.name(); name.contains('.');) {
      name = name.rsplit('.').first;
      named.insert(name);
    }
  for (const auto &node : graph.node()) {
    std::string path;
    for (StringRef scope : scopesOf(node)) {
      path += (path.empty() ? "" : ".") + scope.str();
      called.insert(path);
    }
    for (const auto &attribute : node.attribute())
      if (attribute.has_g())
        collect(attribute.g());
  }
}

std::string ModulePaths::of(const ::onnx::NodeProto &node) const {
  if (std::string path = pathFromMetadata(node); !path.empty())
    return path;
  std::string path, written;
  for (StringRef scope : scopesOf(node)) {
    std::string prefix = path.empty() ? "" : path + ".";
    written += (written.empty() ? "" : ".") + scope.str();
    auto [stem, number] = scope.rsplit('_');
    // `e_1` is the second call of `e`, unless the file has a module of that name.
    bool isNumbered = !number.empty() && all_of(number, isDigit) && !isNamed(prefix + scope.str());
    bool isCall =
        isNumbered && (isNamed(prefix + stem.str()) || called.contains(prefix + stem.str()));
    path = prefix + (isCall ? stem : scope).str();
  }
  return path;
}

} // namespace mtc::onnx

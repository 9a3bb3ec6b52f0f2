//===- ModuleAliases.cpp - Further names of the module's parameters ---------------------------===//

#include "frontend/onnx/parameters/ModuleAliases.h"

#include "frontend/onnx/parameters/InitializerUses.h"
#include "frontend/onnx/parameters/Provenance.h"
#include "ir/attributes/TensorImage.h"

#include "llvm/ADT/STLExtras.h"

using namespace mlir;

namespace mtc::onnx {

namespace {

/// Finds further names of initializers in the module; see findModuleAliases.
class AliasFinder {
public:
  AliasFinder(GraphOp graph, const llvm::StringMap<std::string> &names)
      : graph(graph), names(names), provenance(graph), isListed(hasSignature(graph)) {
    for (const auto &entry : names) {
      taken.insert(entry.getKey());
      taken.insert(entry.getValue());
    }
    for (auto initializer : graph.getOps<InitializerOp>()) {
      for (const std::string &origin : provenance.foldedParameters(initializer))
        taken.insert(origin);
      if (ArrayAttr copies = initializer.getFileImagesAttr())
        for (auto copy : copies.getAsRange<TensorImageAttr>())
          taken.insert(copy.getName());
    }
    for (auto node : graph.getOps<NodeOp>())
      if (auto arguments = node->getAttrOfType<ArrayAttr>(argumentsAttribute))
        for (auto argument : arguments.getAsRange<StringAttr>())
          read.insert(argument.getValue());
  }

  llvm::StringMap<std::vector<std::string>> find() {
    for (auto initializer : graph.getOps<InitializerOp>()) {
      if (!names.contains(initializer.getName()))
        continue;
      if (auto given = initializer->getAttrOfType<ArrayAttr>(aliasesAttribute))
        for (auto name : given.getAsRange<StringAttr>())
          add(initializer, name.str());
      for (NodeOp user : usersOf(initializer.getResult()))
        if (std::string name = nameIn(user, initializer); isFree(name))
          add(initializer, name);
    }
    for (const std::string &name : signatureParameters(graph))
      addLost(name);
    return std::move(aliases);
  }

private:
  /// Returns the nodes that use a value, looking through Identity nodes and nodes that mtc
  /// inserted.
  static SmallVector<NodeOp> usersOf(Value value) {
    SmallVector<NodeOp> users;
    for (Operation *user : value.getUsers()) {
      auto node = dyn_cast<NodeOp>(user);
      if (!node)
        continue;
      bool isOwn = !node->hasAttr(indexAttribute) && !node->hasAttr(moduleAttribute) &&
                   (node.isOperator("Transpose") || node.isOperator("Reshape"));
      if (isOwn || node.isOperator("Identity"))
        llvm::append_range(users, usersOf(node.getResult(0)));
      else
        users.push_back(node);
    }
    return users;
  }

  /// Returns the name that the layer of a node would have for an initializer that the node uses;
  /// empty if the node belongs to no layer with such a parameter.
  std::string nameIn(NodeOp node, InitializerOp initializer) const {
    std::string module = modulePath(node);
    StringRef op = node.getOpType(), fx = fxOperator(node);
    int64_t rank = cast<RankedTensorType>(initializer.getType()).getRank();
    // The module already has a name for its own parameter.
    if (StringRef(names.lookup(initializer.getName())).rsplit('.').first == module || rank == 0 ||
        (op == "Add" && rank != 1))
      return "";
    bool isLayer = op == "Gather" || op == "MatMul" || op == "Gemm" || op == "Conv" ||
                   fx == "aten.linear" || fx == "aten.embedding" || (op == "Add" && !isListed);
    if (module.empty() || !isLayer)
      return "";
    return module + (rank >= 2 ? ".weight" : ".bias");
  }

  /// Returns whether the module may have a parameter of this name that no initializer is known to
  /// represent.
  bool isFree(const std::string &name) const {
    return !name.empty() && !taken.contains(name) && (!isListed || provenance.isParameter(name));
  }

  void add(InitializerOp initializer, const std::string &name) {
    if (name != names.lookup(initializer.getName()) && taken.insert(name).second)
      aliases[initializer.getName()].push_back(name);
  }

  /// Adds the name of a listed parameter that no initializer represents and no node uses.
  void addLost(StringRef name) {
    if (taken.contains(name) || read.contains(name))
      return;
    auto [module, leaf] = name.rsplit('.');
    InitializerOp only;
    for (auto initializer : graph.getOps<InitializerOp>()) {
      StringRef rest = initializer.getName();
      bool isChild = rest.consume_front(module) && rest.consume_front(".") &&
                     rest.consume_back(leaf) && rest.consume_back(".") && !rest.contains('.');
      if (!isChild || !names.contains(initializer.getName()))
        continue;
      if (only)
        return;
      only = initializer;
    }
    if (only && !leaf.empty())
      add(only, name.str());
  }

  GraphOp graph;
  const llvm::StringMap<std::string> &names;
  Provenance provenance;
  bool isListed;
  llvm::StringSet<> taken, read;
  llvm::StringMap<std::vector<std::string>> aliases;
};

} // namespace

llvm::StringMap<std::vector<std::string>>
findModuleAliases(GraphOp graph, const llvm::StringMap<std::string> &names) {
  return AliasFinder(graph, names).find();
}

} // namespace mtc::onnx

//===- FrozenModules.cpp - Modules that may be frozen -----------------------------------------===//

#include "frontend/onnx/parameters/FrozenModules.h"

#include "frontend/onnx/parameters/InitializerUses.h"
#include "support/compiler/Lists.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SetVector.h"

using namespace llvm;

namespace mtc::onnx {

/// Returns the paths of the outermost modules by which the names differ.
static SmallVector<StringRef> outermostModules(ArrayRef<std::string> names) {
  std::string prefix; // Of all names, up to a dot.
  while (true) {
    llvm::SetVector<StringRef> modules;
    for (StringRef name : names) {
      size_t end = name.find('.', prefix.size());
      if (end == StringRef::npos)
        continue; // A parameter of an enclosing module.
      modules.insert(name.take_front(end));
    }
    if (modules.size() != 1)
      return llvm::to_vector(modules);
    prefix = (modules.front() + ".").str();
  }
}

std::string frozenModulesNote(GraphOp graph, const StringMap<InitializerClass> &classes) {
  // mtc.export records shapes and requires_grad.
  if (!isProducedBy(graph, "pytorch") || graph->hasAttr(signatureShapesAttribute))
    return "";
  std::vector<std::string> names;
  for (InitializerOp initializer : trainableInitializers(graph))
    if (auto known = classes.find(initializer.getName());
        known != classes.end() && known->second.role == InitializerRole::Parameter)
      names.push_back(known->second.moduleName.empty() ? initializer.getName().str()
                                                       : known->second.moduleName);
  SmallVector<StringRef> modules = outermostModules(names);
  if (modules.size() < 2)
    return "";
  return "the file does not record requires_grad: the parameters of all modules are trained, " +
         listed(modules, quoted) +
         ". If one is frozen, such as a discriminator or a feature extractor, use --freeze " +
         quoted((modules.back() + ".*").str()) + "; or export with mtc.export(module, ...)";
}

} // namespace mtc::onnx

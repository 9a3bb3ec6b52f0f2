//===- RenamedParameters.cpp - Parameters under generated names -------------------------------===//

#include "frontend/onnx/parameters/RenamedParameters.h"

#include "frontend/onnx/parameters/InitializerUses.h"
#include "frontend/onnx/parameters/Provenance.h"
#include "frontend/onnx/parameters/TrainableConstants.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringSet.h"

#include <map>

using namespace llvm;
using namespace mlir;

namespace mtc::onnx {

/// Returns a key that is equal for shapes that differ only by a transposition. Vectors are not
/// transposed.
static std::vector<int64_t> keyOf(ArrayRef<int64_t> shape) {
  std::vector<int64_t> key(shape);
  llvm::sort(key);
  return key;
}

std::vector<RenamedParameters> findRenamedParameters(GraphOp graph,
                                                     const StringMap<InitializerClass> &classes) {
  auto shapes = graph->getAttrOfType<ArrayAttr>(signatureShapesAttribute);
  if (!shapes)
    return {};
  llvm::StringSet<> missing;
  for (const std::string &name : findMissingParameters(graph, classes))
    missing.insert(name);
  std::map<std::vector<int64_t>, RenamedParameters> groups;
  for (auto [name, shape] :
       llvm::zip(signatureParameters(graph), shapes.getAsRange<DenseI64ArrayAttr>()))
    if (missing.contains(name) && shape.size() >= 2)
      groups[keyOf(shape.asArrayRef())].parameters.push_back(name);
  llvm::StringMap<std::vector<InitializerUse>> uses = initializerUses(graph);
  for (InitializerOp initializer : trainableInitializers(graph)) {
    StringRef name = initializer.getName();
    auto known = classes.find(name);
    auto group = groups.find(keyOf(cast<RankedTensorType>(initializer.getType()).getShape()));
    if (group != groups.end() && known != classes.end() && known->second.isParameter &&
        known->second.moduleName.empty() && isFoldedName(name) && uses.contains(name) &&
        !Provenance::isFolded(initializer))
      group->second.initializers.push_back(initializer);
  }
  std::vector<RenamedParameters> result;
  for (RenamedParameters &group : llvm::make_second_range(groups))
    if (!group.initializers.empty())
      result.push_back(std::move(group));
  return result;
}

} // namespace mtc::onnx

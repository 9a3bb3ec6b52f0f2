//===- ModuleImages.cpp - How the user's module stores what an exporter renamed ---------------===//

#include "frontend/parameters/ModuleImages.h"

#include "frontend/parameters/InitializerUses.h"
#include "frontend/parameters/Parameters.h"
#include "frontend/parameters/TrainableConstants.h"
#include "ir/TensorImage.h"

#include "mlir/IR/Builders.h"

using namespace mlir;

namespace mtc::onnx {

/// Whether a node multiplies by the operand's rows: PyTorch's linear layers multiply by columns.
static bool multipliesByRows(const InitializerUse &use) {
  NodeOp node = use.node;
  if (use.operand != 1)
    return false;
  if (node.isOperator("MatMul"))
    return true;
  auto isTransposed = node.getNodeAttributes().getAs<IntegerAttr>("transB");
  return node.isOperator("Gemm") && (!isTransposed || isTransposed.getInt() == 0);
}

/// Whether the name is the exporter's own.
static bool isExporters(StringRef name) { return isFoldedName(name) || name.starts_with("onnx::"); }

void describeModuleImages(GraphOp graph) {
  llvm::StringMap<std::vector<InitializerUse>> uses = initializerUses(graph);
  Builder builder(graph.getContext());
  for (InitializerOp initializer : trainableInitializers(graph)) {
    StringRef name = initializer.getName(), inModule = initializer.getModuleName().value_or("");
    auto type = cast<RankedTensorType>(initializer.getType());
    bool isConstant = initializer.getRole().value_or("constant") == "constant";
    if (initializer.getModuleImages() || isConstant || !type.hasStaticShape())
      continue;
    if (!isExporters(name) && !wasConstantNode(initializer) &&
        (inModule.empty() || inModule == name))
      continue;
    SmallVector<Attribute> images;
    ArrayRef<int64_t> shape = type.getShape();
    bool isKnown = !inModule.empty() && !wasConstantNode(initializer);
    if (isKnown && shape.size() <= 1)
      images.push_back(TensorImageAttr::whole(builder.getContext(), inModule, shape));
    else if (isKnown && shape.size() == 2 && llvm::all_of(uses[name], multipliesByRows))
      images.push_back(TensorImageAttr::transposed(builder.getContext(), inModule, shape, {1, 0}));
    initializer.setModuleImagesAttr(builder.getArrayAttr(images));
  }
}

} // namespace mtc::onnx

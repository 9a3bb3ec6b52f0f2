//===- WidenElements.cpp - Promotes 16-bit models to f32 --------------------------------------===//

#include "ir/ScanBody.h"
#include "ir/TypeCode.h"
#include "ir/builders/TensorBuilder.h"
#include "passes/Passes.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace mtc {
#define GEN_PASS_DEF_WIDENELEMENTS
#include "passes/Passes.h.inc"
} // namespace mtc

using namespace mlir;
using namespace mtc;

namespace {

/// Returns the f32 version of a 16-bit tensor type, and null for other types.
RankedTensorType widened(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  if (!tensor || !isNarrowFloat(tensor.getElementType()))
    return {};
  return tensor.clone(Float32Type::get(type.getContext()));
}

APFloat widen(APFloat value) {
  bool losesInformation;
  value.convert(APFloat::IEEEsingle(), APFloat::rmNearestTiesToEven, &losesInformation);
  return value;
}

/// Converts an attribute with 16-bit floats to f32 and returns other attributes unchanged.
Attribute widened(Attribute attribute) {
  if (auto number = dyn_cast<FloatAttr>(attribute); number && isNarrowFloat(number.getType()))
    return FloatAttr::get(Float32Type::get(attribute.getContext()), widen(number.getValue()));
  auto elements = dyn_cast<ElementsAttr>(attribute);
  RankedTensorType type = elements ? widened(elements.getShapedType()) : RankedTensorType();
  if (!type)
    return attribute;
  if (elements.isSplat())
    return DenseElementsAttr::get(type, widen(elements.getSplatValue<APFloat>()));
  SmallVector<APFloat> values = llvm::map_to_vector(elements.getValues<APFloat>(), widen);
  return DenseElementsAttr::get(type, values);
}

struct WidenElementsPass : mtc::impl::WidenElementsBase<WidenElementsPass> {
  void runOnOperation() override {
    for (auto variable : getOperation().getOps<VariableOp>())
      if (RankedTensorType type = widened(variable.getType())) {
        variable.setType(type);
        variable.setInitialAttr(widened(variable.getInitial()));
        found = true;
      }
    for (auto function : getOperation().getOps<func::FuncOp>())
      if (isScanBody(function))
        widenBody(function);
      else
        widenFunction(function);
    if (found)
      emitRemark(UnknownLoc::get(&getContext()),
                 "16-bit parameters are computed as f32 and exported in their original type; "
                 "mtc compile --precision sets the computation type");
  }

private:
  /// Widens all values of a scan's body, since the scan's operands and results are widened.
  void widenBody(func::FuncOp function) {
    widenOperations(function);
    for (BlockArgument argument : function.getArguments())
      if (RankedTensorType type = widened(argument.getType()))
        argument.setType(type);
    Block &body = function.front();
    function.setType(FunctionType::get(&getContext(), body.getArgumentTypes(),
                                       body.getTerminator()->getOperandTypes()));
  }

  void widenOperations(func::FuncOp function) {
    function.walk([&](Operation *op) {
      for (OpResult result : op->getResults())
        if (RankedTensorType type = widened(result.getType())) {
          result.setType(type);
          found = true;
        }
      for (NamedAttribute attribute : llvm::to_vector(op->getAttrs()))
        if (Attribute wide = widened(attribute.getValue()); wide != attribute.getValue())
          op->setAttr(attribute.getName(), wide);
    });
  }

  void widenFunction(func::FuncOp function) {
    auto given = llvm::to_vector(function.getResultTypes());
    widenOperations(function);
    // Inputs and results keep the model's types.
    Block &body = function.front();
    OpBuilder builder = OpBuilder::atBlockBegin(&body);
    TensorBuilder b(function.getLoc(), builder);
    for (BlockArgument argument : body.getArguments())
      if (isNarrowFloat(typeOf(argument).getElementType())) {
        Value wide = b.cast(argument, builder.getF32Type());
        argument.replaceAllUsesExcept(wide, wide.getDefiningOp());
        found = true;
      }
    b.setInsertionPoint(body.getTerminator());
    for (auto [type, result] : llvm::zip_equal(given, body.getTerminator()->getOpOperands()))
      result.set(b.cast(result.get(), cast<RankedTensorType>(type).getElementType()));
  }

  bool found = false;
};

} // namespace

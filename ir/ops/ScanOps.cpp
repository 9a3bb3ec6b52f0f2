//===- ScanOps.cpp - Verifier and cost of scans -----------------------------------------------===//

#include "ir/CheckedExtents.h"
#include "ir/ScanBody.h"
#include "ir/builders/TensorBuilder.h"

using namespace mlir;
using namespace mtc;

RankedTensorType ScanOp::sliceType(Type stacked) {
  auto type = cast<RankedTensorType>(stacked);
  return RankedTensorType::get(type.getShape().drop_front(), type.getElementType());
}

RankedTensorType ScanOp::stackedType(Type slice, int64_t count) {
  auto type = cast<RankedTensorType>(slice);
  SmallVector<int64_t> shape{count};
  llvm::append_range(shape, type.getShape());
  return RankedTensorType::get(shape, type.getElementType());
}

func::FuncOp ScanOp::lookUpBody() {
  return SymbolTable::lookupNearestSymbolFrom<func::FuncOp>(*this, getBodyAttr());
}

LogicalResult ScanOp::verifySymbolUses(SymbolTableCollection &symbols) {
  const auto iterations = static_cast<int64_t>(getIterations());
  auto body = symbols.lookupNearestSymbolFrom<func::FuncOp>(*this, getBodyAttr());
  std::optional<ScanBody> signature = body ? ScanBody::of(body) : std::nullopt;
  if (!signature || iterations < 1 ||
      signature->states != static_cast<int64_t>(getStates().size()) ||
      signature->inputs != static_cast<int64_t>(getInputs().size()))
    return emitOpError("calls ") << getBodyAttr() << ' ' << iterations
                                 << " times, expected a body with " << getStates().size()
                                 << " states and " << getInputs().size()
                                 << " scanned inputs, and at least one iteration (scan_c1)";
  for (Value stacked :
       llvm::concat<Value>(llvm::to_vector(getInputs()), SmallVector<Value>(getOutputs())))
    if (ArrayRef<int64_t> shape = shapeOf(stacked); shape.empty() || shape.front() != iterations)
      return emitOpError("has a scanned input or stacked output ")
             << stacked.getType() << ", expected " << iterations << " slices (scan_c4)";
  SmallVector<Type> arguments(getStates().getTypes()), results(getStates().getTypes());
  for (Value input : getInputs())
    arguments.push_back(sliceType(input.getType()));
  llvm::append_range(arguments, getCaptured().getTypes());
  for (Value output : getOutputs())
    results.push_back(sliceType(output.getType()));
  if (body.getArgumentTypes() != ArrayRef<Type>(arguments))
    return emitOpError("has operands that do not match the arguments of ")
           << getBodyAttr() << " (scan_c2)";
  if (getFinals().getTypes() != getStates().getTypes() ||
      body.getResultTypes() != ArrayRef<Type>(results))
    return emitOpError("has results that do not match those of ") << getBodyAttr() << " (scan_c3)";
  if (!body.front().getOps<ScanOp>().empty())
    return emitOpError("calls ") << getBodyAttr() << ", which contains a scan (scan_c5)";
  return success();
}

Cost ScanOp::getCost() {
  Cost cost;
  func::FuncOp body = lookUpBody();
  if (!body)
    return cost;
  const auto iterations = static_cast<int64_t>(getIterations());
  for (Operation &op : body.front())
    if (auto costed = dyn_cast<CostOpInterface>(op)) {
      const Cost one = costed.getCost();
      auto add = [&](int64_t &sum, int64_t ofOne) {
        sum = saturatingSum({sum, saturatingProduct({iterations, ofOne})});
      };
      add(cost.flops, one.flops);
      add(cost.bytes, one.bytes);
      add(cost.functions, one.functions);
    }
  return cost;
}

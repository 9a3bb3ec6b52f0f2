//===- TargetInfo.cpp - Placed forms to ask a target about ------------------------------------===//

#include "passes/memory/TargetInfo.h"

using namespace mlir;
using namespace mtc;

DetachedCall mtc::buildDetached(LibraryCallOpInterface call,
                                ArrayRef<std::optional<unsigned>> shared) {
  CallPlaces places;
  int64_t next = 0;
  auto placeAt = [](int64_t offset, Type type) {
    return AtAttr::get(type.getContext(), offset, cast<RankedTensorType>(type));
  };
  for (Type type : call->getOperandTypes())
    places.operands.push_back(placeAt(next++, type));
  for (auto [i, type] : llvm::enumerate(call->getResultTypes())) {
    std::optional<unsigned> operand = i < shared.size() ? shared[i] : std::nullopt;
    places.results.push_back(placeAt(operand ? int64_t(*operand) : next++, type));
  }
  OpBuilder builder(call.getContext());
  return DetachedCall(call.buildCall(builder, places));
}

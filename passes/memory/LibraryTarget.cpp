//===- LibraryTarget.cpp - Placed forms to ask a target's library about -----------------------===//

#include "passes/memory/LibraryTarget.h"

using namespace mlir;
using namespace mtc;

DetachedCall mtc::buildDetached(LibraryCallOpInterface call) {
  auto places = [](TypeRange types) {
    return llvm::map_to_vector(types, [](Type type) {
      return AtAttr::get(type.getContext(), 0, cast<RankedTensorType>(type));
    });
  };
  OpBuilder builder(call.getContext());
  return DetachedCall(call.buildCall(
      builder, {places(call->getOperandTypes()), places(call->getResultTypes()), 0, 0}));
}

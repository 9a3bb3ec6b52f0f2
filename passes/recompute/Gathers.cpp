//===- Gathers.cpp - Repeated gathers of divided parameters -----------------------------------===//

#include "passes/recompute/Gathers.h"

#include "ir/Mtc.h"

using namespace mlir;
using namespace mtc;

/// Returns the read of the piece from which a value is gathered; null if it is not gathered.
static ReadOp pieceOf(Value value) {
  auto gather = value.getDefiningOp<AllGatherOp>();
  if (!gather)
    return {};
  return gather.getPieces()[cast<OpResult>(value).getResultNumber()].getDefiningOp<ReadOp>();
}

bool mtc::isGathered(Value value) { return static_cast<bool>(pieceOf(value)); }

Gathers::Key Gathers::keyOf(Value value) {
  return {pieceOf(value).getVariableAttr(), value.getType()};
}

Gathers::Gathers(Block &block) {
  for (auto gather : block.getOps<AllGatherOp>())
    for (Value value : gather.getValues())
      if (isGathered(value))
        values[keyOf(value)].push_back(value);
}

ArrayRef<Value> Gathers::equalTo(Value value) const { return values.at(keyOf(value)); }

//===- ArgumentLayout.cpp - Arena offsets of function arguments -------------------------------===//

#include "passes/memory/ArgumentLayout.h"

#include "ir/ScanBody.h"
#include "ir/attributes/DiscardableAttributes.h"

using namespace mlir;
using namespace mtc;

std::string ArgumentLayout::nameOf(func::FuncOp function, unsigned argument) {
  if (auto name = function.getArgAttrOfType<StringAttr>(argument, nameAttribute))
    return name.str();
  return (function.getSymName() + ".argument" + Twine(argument)).str();
}

ArgumentLayout::ArgumentLayout(ModuleOp module, int64_t offset, int64_t gap) {
  for (auto function : module.getOps<func::FuncOp>()) {
    if (isScanBody(function))
      continue;
    for (auto [i, type] : llvm::enumerate(function.getArgumentTypes()))
      if (offsets.try_emplace(nameOf(function, i), offset + size).second)
        size += paddedBytes(byteSize(cast<RankedTensorType>(type))) + gap;
  }
}

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
  begin = offset;
  SmallVector<std::string> names; // In the order of the functions.
  llvm::StringMap<int64_t> bytes;
  for (auto function : module.getOps<func::FuncOp>()) {
    if (isScanBody(function))
      continue;
    for (auto [i, type] : llvm::enumerate(function.getArgumentTypes())) {
      auto [entry, isNew] = bytes.try_emplace(nameOf(function, i), 0);
      if (isNew)
        names.push_back(entry->first().str());
      int64_t &largest = entry->second;
      largest = std::max(largest, byteSize(cast<RankedTensorType>(type)));
    }
  }
  for (const std::string &name : names) {
    offsets[name] = offset + size;
    size += paddedBytes(bytes.lookup(name)) + gap;
  }
}

//===- NodeNames.cpp - The model's nodes that an operation computes
//-----------------------------===//

#include "codegen/program/NodeNames.h"

#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;

static void collectNames(Location location, llvm::SetVector<StringRef> &names) {
  if (auto name = dyn_cast<NameLoc>(location)) {
    names.insert(name.getName());
  } else if (auto fused = dyn_cast<FusedLoc>(location)) {
    for (Location part : fused.getLocations())
      collectNames(part, names);
  } else if (auto call = dyn_cast<CallSiteLoc>(location)) {
    collectNames(call.getCallee(), names);
    collectNames(call.getCaller(), names);
  }
}

std::string mtc::getNodeNames(Location location) {
  llvm::SetVector<StringRef> names;
  collectNames(location, names);
  if (names.empty())
    if (auto file = location->findInstanceOf<FileLineColLoc>())
      return (file.getFilename().getValue() + ":" + Twine(file.getLine())).str();
  return llvm::join(names, ", ");
}

//===- NodeNames.cpp - The model's nodes behind a location ------------------------------------===//

#include "ir/NodeNames.h"

#include "mlir/IR/BuiltinAttributes.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;

static constexpr llvm::StringLiteral backwardName = "backward";

std::string mtc::nodeNames(Location location) {
  if (auto name = dyn_cast<NameLoc>(location)) {
    if (name.getName() == backwardName) {
      std::string forward = nodeNames(name.getChildLoc());
      return forward.empty() ? backwardName.str() : "backward(" + forward + ")";
    }
    return name.getName().str();
  }
  if (auto fused = dyn_cast<FusedLoc>(location)) {
    SmallVector<std::string> names;
    for (Location part : fused.getLocations())
      if (std::string text = nodeNames(part); !text.empty() && !llvm::is_contained(names, text))
        names.push_back(text);
    return llvm::join(names, " + ");
  }
  if (auto call = dyn_cast<CallSiteLoc>(location))
    return nodeNames(call.getCallee());
  return "";
}

Location mtc::backwardLocation(Location location) {
  return NameLoc::get(StringAttr::get(location.getContext(), backwardName), location);
}

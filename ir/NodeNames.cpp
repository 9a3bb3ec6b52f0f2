//===- NodeNames.cpp - Names of ONNX nodes from locations -------------------------------------===//

#include "ir/NodeNames.h"

#include "mlir/IR/BuiltinAttributes.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;

static constexpr llvm::StringLiteral backwardName = "backward", updatePrefix = "optimizer ";

static std::string namesOf(Location location, bool tellsBackward) {
  if (auto name = dyn_cast<NameLoc>(location)) {
    if (name.getName() != backwardName)
      return name.getName().str();
    // The gradient of a gradient has the same name as the gradient of its node.
    std::string forward = namesOf(name.getChildLoc(), /*tellsBackward=*/false);
    if (!tellsBackward)
      return forward;
    return forward.empty() ? backwardName.str() : "backward(" + forward + ")";
  }
  if (auto fused = dyn_cast<FusedLoc>(location)) {
    SmallVector<std::string> names;
    for (Location part : fused.getLocations())
      if (std::string text = namesOf(part, tellsBackward);
          !text.empty() && !llvm::is_contained(names, text))
        names.push_back(text);
    return llvm::join(names, " + ");
  }
  if (auto call = dyn_cast<CallSiteLoc>(location))
    return namesOf(call.getCallee(), tellsBackward);
  return "";
}

std::string mtc::nodeNames(Location location) { return namesOf(location, /*tellsBackward=*/true); }

std::string mtc::forwardNodeNames(Location location) {
  return namesOf(location, /*tellsBackward=*/false);
}

Location mtc::backwardLocation(Location location) {
  return NameLoc::get(StringAttr::get(location.getContext(), backwardName), location);
}

/// Returns whether the location has a name that `matches`.
static bool hasName(Location location, llvm::function_ref<bool(StringRef)> matches) {
  if (auto name = dyn_cast<NameLoc>(location))
    return matches(name.getName()) || hasName(name.getChildLoc(), matches);
  if (auto fused = dyn_cast<FusedLoc>(location))
    return llvm::any_of(fused.getLocations(),
                        [&](Location part) { return hasName(part, matches); });
  if (auto call = dyn_cast<CallSiteLoc>(location))
    return hasName(call.getCallee(), matches);
  return false;
}

bool mtc::isBackward(Location location) {
  return hasName(location, [](StringRef name) { return name == backwardName; });
}

Location mtc::updateLocation(MLIRContext *context, StringRef optimizer) {
  return NameLoc::get(StringAttr::get(context, updatePrefix + optimizer));
}

bool mtc::isUpdate(Location location) {
  return hasName(location, [](StringRef name) { return name.starts_with(updatePrefix); });
}

//===- ScanBody.cpp - Functions that compute iterations of scans ------------------------------===//

#include "ir/ScanBody.h"

#include "ir/attributes/DiscardableAttributes.h"

using namespace mlir;
using namespace mtc;

std::optional<ScanBody> ScanBody::of(func::FuncOp function) {
  auto counts = function->getAttrOfType<DenseI64ArrayAttr>(bodyAttribute);
  if (!counts || counts.size() != 2)
    return std::nullopt;
  return ScanBody{counts[0], counts[1]};
}

void ScanBody::mark(func::FuncOp function) const {
  function.setPrivate();
  function->setAttr(bodyAttribute, DenseI64ArrayAttr::get(function.getContext(), {states, inputs}));
}

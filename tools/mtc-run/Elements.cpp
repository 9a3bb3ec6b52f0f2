//===- Elements.cpp - Conversion of tensors to bytes and to text ------------------------------===//

#include "tools/mtc-run/Elements.h"

#include "codegen/kernels/KernelInterpreter.h"

#include "llvm/Support/Format.h"

using namespace mlir;
using namespace mtc;

std::vector<char> mtc::toBytes(ElementsAttr elements) {
  Type element = elements.getElementType();
  int64_t bytes = elementBytes(element);
  std::vector<char> result(elements.getNumElements() * bytes);
  for (auto [i, value] : llvm::enumerate(elements.getValues<Attribute>()))
    writeElement(result.data() + i * bytes, element, value);
  return result;
}

void mtc::printElements(raw_ostream &os, StringRef name, RankedTensorType type, const char *bytes) {
  os << name << " : " << type << " =";
  Type element = type.getElementType();
  for (int64_t i = 0; i < type.getNumElements(); ++i) {
    TypedAttr value = readElement(bytes + i * elementBytes(element), element);
    if (auto number = dyn_cast<FloatAttr>(value))
      os << ' ' << llvm::format("%.6g", number.getValueAsDouble());
    else if (isUnsigned(element))
      os << ' ' << cast<IntegerAttr>(value).getValue().getZExtValue();
    else
      os << ' ' << cast<IntegerAttr>(value).getValue().getSExtValue();
  }
  os << '\n';
}

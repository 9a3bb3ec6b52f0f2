//===- VariableView.cpp - Variables as tensors ------------------------------------------------===//

#include "passes/optimizer/VariableView.h"

using namespace mlir;
using namespace mtc;

/// Returns the number of elements of a variable in a flat tensor, padding included.
static int64_t paddedElements(RankedTensorType type) {
  return paddedBytes(byteSize(type)) / elementBytes(type.getElementType());
}

VariableView::VariableView(ArrayRef<VariableOp> variables) {
  Builder b(variables.front()->getContext());
  SmallVector<Attribute> names;
  int64_t size = 0;
  for (VariableOp variable : variables) {
    names.push_back(FlatSymbolRefAttr::get(variable.getSymNameAttr()));
    size += paddedElements(variable.getTensorType());
  }
  symbols = b.getArrayAttr(names);
  type =
      RankedTensorType::get({size}, VariableOp(variables.front()).getTensorType().getElementType());
}

Value VariableView::read(TensorBuilder &b) const {
  if (symbols)
    return b.create<ReadFlatOp>(type, symbols);
  Value value = b.create<ReadOp>(type, name);
  return isLine ? b.reshape(value, {type.getNumElements()}) : value;
}

void VariableView::write(TensorBuilder &b, Value value) const {
  if (symbols)
    b.create<WriteFlatOp>(symbols, value);
  else
    b.create<WriteOp>(name, isLine ? b.reshape(value, type.getShape()) : value);
}

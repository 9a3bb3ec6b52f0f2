//===- VariableView.cpp - Variables as tensors ------------------------------------------------===//

#include "passes/variables/VariableView.h"

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

VariableView VariableView::pieceOf(VariableOp variable, RankedTensorType piece, RankGroup group) {
  VariableView view(variable);
  view.seen = piece;
  view.group = group;
  return view;
}

VariableView VariableView::partOf(VariableOp variable, int64_t offset, RankedTensorType part) {
  VariableView view(variable);
  view.seen = part;
  view.offset = offset;
  return view;
}

VariableView VariableView::partOf(Value value, int64_t offset, RankedTensorType part) {
  VariableView view(value);
  view.seen = part;
  view.offset = offset;
  return view;
}

VariableView VariableView::plus(VariableView other) const {
  VariableView view = *this;
  view.addend = std::make_shared<const VariableView>(std::move(other));
  return view;
}

Value VariableView::read(TensorBuilder &b) const {
  Value own = readAlone(b);
  return addend ? b.add(own, addend->read(b)) : own;
}

Value VariableView::readAlone(TensorBuilder &b) const {
  if (symbols)
    return b.create<ReadFlatOp>(type, symbols);
  Value all = value ? value : b.create<ReadOp>(type, name);
  if (group)
    return b.create<OwnPieceOp>(TypeRange(seen), all, *group).getResult(0);
  if (seen)
    return b.slice(all, {offset}, {seen.getNumElements()}, {1});
  return isLine ? b.reshape(all, {type.getNumElements()}) : all;
}

Value VariableView::readWide(TensorBuilder &b) const {
  Value value = read(b);
  auto element = dyn_cast<FloatType>(getElementType());
  if (!element || element.getWidth() != 16)
    return value;
  return b.create<CastOp>(typeOf(value).clone(b.getF32Type()), value, /*storage=*/true);
}

void VariableView::write(TensorBuilder &b, Value value) const {
  if (typeOf(value).getElementType() != getElementType())
    value = b.create<CastOp>(typeOf(value).clone(getElementType()), value, /*storage=*/true);
  assert(isWritable() && "parts are only read");
  if (addend) // Zeros that the kernel which computes the value can store, too.
    addend->write(b,
                  b.cast(b.compare(Predicate::Lt, value, value), typeOf(value).getElementType()));
  if (group)
    value = b.create<AllGatherOp>(TypeRange(type), value, *group).getResult(0);
  if (symbols)
    b.create<WriteFlatOp>(symbols, value);
  else
    b.create<WriteOp>(name, isLine ? b.reshape(value, type.getShape()) : value);
}

//===- Accumulation.cpp - Accumulation of gradients over micro-steps --------------------------===//

#include "passes/autodiff/Accumulation.h"

#include "ir/builders/TensorBuilder.h"

using namespace mlir;
using namespace mtc;

/// Collects the terms of a sum and the additions that form it, each addition after its users. A
/// value with other users is a term.
static void collectTerms(Value sum, bool isRoot, SmallVectorImpl<Value> &terms,
                         SmallVectorImpl<Operation *> &additions) {
  auto add = sum.getDefiningOp<AddOp>();
  if (!add || !(isRoot ? sum.use_empty() : sum.hasOneUse())) {
    terms.push_back(sum);
    return;
  }
  additions.push_back(add);
  for (Value operand : add->getOperands())
    collectTerms(operand, /*isRoot=*/false, terms, additions);
}

/// Returns whether a value is the result of a library call or a scatter-add. Such operations are
/// not fused into the kernel that adds their results.
static bool standsAlone(Value term) {
  Operation *op = term.getDefiningOp();
  while (op && (op->hasTrait<mtc::View>() || isa<TransposeOp, CastOp>(op)))
    op = op->getOperand(0).getDefiningOp();
  auto fusible = dyn_cast_or_null<FusibleOpInterface>(op);
  return fusible && llvm::is_contained({FusibleShape::Opaque, FusibleShape::Scatter},
                                       fusible.getFusibleShape());
}

/// Adds a term to the variable right after the term is defined.
static void addTo(VariableOp variable, Value term, Location location) {
  OpBuilder builder(variable.getContext());
  builder.setInsertionPointAfterValue(term);
  TensorBuilder b(location, builder);
  Value old = b.create<ReadOp>(variable.getTensorType(), variable.getSymName());
  b.create<WriteOp>(variable.getSymName(), b.add(old, term));
}

/// Uses the variable as the initial value of a scatter-add that has no other users.
static void addOnto(VariableOp variable, ScatterAddOp sums, Location location) {
  OpBuilder builder(sums);
  TensorBuilder b(location, builder);
  Value old = b.create<ReadOp>(variable.getTensorType(), variable.getSymName());
  sums.getOntoMutable().assign(old);
  builder.setInsertionPointAfter(sums);
  TensorBuilder(location, builder).create<WriteOp>(variable.getSymName(), sums.getResult());
}

Value mtc::sumWhereKnown(ArrayRef<Value> values, Location location) {
  Value sum = values.front();
  for (Value value : values.drop_front()) {
    Value later = sum.getDefiningOp()->isBeforeInBlock(value.getDefiningOp()) ? value : sum;
    OpBuilder builder(later.getContext());
    builder.setInsertionPointAfterValue(later);
    sum = TensorBuilder(location, builder).add(sum, value);
  }
  return sum;
}

void mtc::accumulate(ArrayRef<Value> gradients, VariableOp variable, Location location) {
  SmallVector<Value> known =
      llvm::filter_to_vector(gradients, [](Value each) { return bool(each); });
  if (known.empty())
    return;
  SmallVector<Value> terms, others;
  SmallVector<Operation *> additions;
  collectTerms(sumWhereKnown(known, location), /*isRoot=*/true, terms, additions);
  for (Operation *addition : additions)
    addition->erase();
  for (Value term : terms) {
    if (!term.use_empty() || !standsAlone(term) || llvm::count(terms, term) > 1) {
      others.push_back(term);
      continue;
    }
    auto sums = term.getDefiningOp<ScatterAddOp>();
    if (sums && !sums.getOnto())
      addOnto(variable, sums, location);
    else
      addTo(variable, term, location);
  }
  if (!others.empty())
    addTo(variable, sumWhereKnown(others, location), location);
}

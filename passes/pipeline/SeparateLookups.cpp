//===- SeparateLookups.cpp - Gradients of tables that are looked up and multiplied ------------===//

#include "passes/pipeline/SeparateLookups.h"

#include "ir/ReservedNames.h"
#include "ir/builders/TensorBuilder.h"

using namespace mlir;
using namespace mtc;

/// Collects the terms of a sum.
static void findTerms(Value sum, SmallVectorImpl<Value> &terms) {
  auto add = sum.getDefiningOp<AddOp>();
  if (!add || !sum.hasOneUse())
    return terms.push_back(sum);
  findTerms(add.getLhs(), terms);
  findTerms(add.getRhs(), terms);
}

/// Erases a sum that nothing uses, with the sums that only it uses.
static void eraseUnused(Operation *sum) {
  if (!isa_and_present<AddOp>(sum) || !sum->use_empty())
    return;
  const SmallVector<Value> terms(sum->getOperands());
  sum->erase();
  for (Value term : terms)
    eraseUnused(term.getDefiningOp());
}

static Value addTerms(TensorBuilder &b, ArrayRef<Value> terms) {
  Value sum = terms.front();
  for (Value term : terms.drop_front())
    sum = b.add(sum, term);
  return sum;
}

void mtc::separateLookups(func::FuncOp microStep) {
  SymbolTable symbols(microStep->getParentOfType<ModuleOp>());
  for (auto write : llvm::to_vector(microStep.front().getOps<WriteOp>())) {
    auto gradient = symbols.lookup<VariableOp>(write.getVariable());
    if (gradient.getRole() != Role::Gradient)
      continue;
    SmallVector<Value> terms, lookups, others;
    findTerms(write.getValue(), terms);
    for (Value term : terms)
      (term.getDefiningOp<ScatterAddOp>() ? lookups : others).push_back(term);
    if (lookups.empty() || others.empty())
      continue;
    OpBuilder builder(write);
    TensorBuilder b(write.getLoc(), builder);
    auto own = VariableOp::create(builder, gradient.getLoc(), Role::Gradient,
                                  gradient.getSymName() + lookupsSuffix, gradient.getType(),
                                  gradient.getInitial(), gradient.getOfAttr());
    own->remove();
    symbols.insert(own, std::next(gradient->getIterator()));
    b.create<WriteOp>(own.getSymName(), addTerms(b, lookups));
    Operation *sum = write.getValue().getDefiningOp();
    write.getValueMutable().assign(addTerms(b, others));
    eraseUnused(sum);
  }
}

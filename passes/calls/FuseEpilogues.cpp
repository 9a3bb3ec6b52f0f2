//===- FuseEpilogues.cpp - Fusion of additions into library calls -----------------------------===//
//
// Runs after kernel fusion: a sum that is an intermediate value of a kernel costs nothing there. A
// sum that a kernel stores is a pass over memory, which the call saves because it has its result in
// registers.
//
//===------------------------------------------------------------------------------------------===//

#include "ir/attributes/OperandLayout.h"
#include "passes/Passes.h"
#include "passes/calls/CallEditing.h"
#include "passes/calls/IterationOffsets.h"
#include "passes/kernels/KernelEditing.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Remarks.h"

namespace mtc {
#define GEN_PASS_DEF_FUSEEPILOGUES
#include "passes/Passes.h.inc"
} // namespace mtc

using namespace mlir;
using namespace mtc;

namespace {

/// An addend: an element of `root` that the kernel loads.
struct Term {
  KernelLoadOp load;
  Value root;
  IterationOffsets offsets;
};

/// A sum that a kernel stores, and its terms.
struct StoredSum {
  KernelOp kernel;
  unsigned result;
  Value value;
  SmallVector<Term> products; // Call results with no other use, in order of the calls.
  SmallVector<Term> others;
  IterationOffsets offsets;
};

/// Returns whether the kernel's load is the only user of a library call's result.
bool isProductFor(KernelOp kernel, Term term, const IterationOffsets &stored) {
  auto call = term.root.getDefiningOp<LibraryCallOpInterface>();
  if (!call || !call.isLibraryCall() || !isa<EpilogueOpInterface>(*call) ||
      call->getNumResults() != 1 || !(term.offsets == stored) || !term.load->hasOneUse() ||
      !cast<BlockArgument>(term.load.getSource()).hasOneUse())
    return false;
  // Addends precede the last terms of a long sum. Ranks that share channels fuse other kernels.
  if (isa<ConvolveOp>(*call) && keepsSumOrder(kernel))
    return false;
  if (isRoundedWithoutFusion(call))
    return false;
  return isReadByAlone(kernel, inputOf(kernel, term.load));
}

/// Collects the leaves of a tree of additions; false if one of them is not a load. An addition with
/// other users is not part of the tree.
bool collectLeaves(Value value, bool isRoot, SmallVectorImpl<KernelLoadOp> &leaves) {
  auto add = value.getDefiningOp<arith::AddFOp>();
  if (add && (isRoot || add->hasOneUse()))
    return collectLeaves(add.getLhs(), false, leaves) && collectLeaves(add.getRhs(), false, leaves);
  auto load = value.getDefiningOp<KernelLoadOp>();
  if (!load || load.getGuard() || !load.getSymbols().empty())
    return false;
  leaves.push_back(load);
  return true;
}

/// Returns the value before its rounding to `element`, if the kernel rounds the value and continues
/// with the rounded one.
Value withoutRounding(Value value, Type element) {
  auto wide = value.getDefiningOp<arith::ExtFOp>();
  auto narrow = wide ? wide.getIn().getDefiningOp<arith::TruncFOp>() : arith::TruncFOp();
  return narrow && narrow.getType() == element && narrow.getIn().hasOneUse() ? narrow.getIn()
                                                                             : value;
}

/// Returns whether a call with an f32 result can store it as `element`, the type of the call's
/// operands.
bool mayRound(Value product, Type element) {
  Operation *call = product.getDefiningOp();
  return call && getElementTypeOrSelf(product).isF32() && call->getNumOperands() > 0 &&
         getElementTypeOrSelf(call->getOperand(0)) == element && !element.isF32();
}

/// Returns whether a call rounds its result to the type of its operands although an f32 sum uses
/// it.
bool mayStayWide(Value product, Type element) {
  Operation *call = product.getDefiningOp();
  Type given = getElementTypeOrSelf(product);
  return call && element.isF32() && elementBytes(given) == 2 && call->getNumOperands() > 0 &&
         getElementTypeOrSelf(call->getOperand(0)) == given;
}

class FuseEpiloguesPass : public mtc::impl::FuseEpiloguesBase<FuseEpiloguesPass> {
  void runOnOperation() override {
    target = TargetInfo::of(getOperation());
    for (KernelOp kernel : llvm::to_vector(getOperation().getOps<KernelOp>()))
      for (unsigned result = kernel->getNumResults(); kernel && result-- > 0;)
        if (std::optional<StoredSum> sum = findSum(kernel, result))
          kernel = absorb(*sum);
    for (Operation &op : llvm::make_early_inc_range(llvm::reverse(getOperation().front())))
      if (isOpTriviallyDead(&op))
        op.erase();
  }

  /// Returns the terms of a kernel's result if it is a sum and one of the terms is a library call's
  /// result without other users.
  static std::optional<StoredSum> findSum(KernelOp kernel, unsigned result) {
    KernelYieldOp yield = yieldOf(kernel);
    auto type = cast<RankedTensorType>(kernel->getResult(result).getType());
    std::optional<IterationOffsets> stored =
        offsetsOf(storedAt(kernel, result), type.getShape(), kernel.getSpace());
    SmallVector<KernelLoadOp> leaves;
    Value value = yield.getValues()[result], exact = withoutRounding(value, type.getElementType());
    if (!stored || !yield.getSymbols().empty() || iterationsOf(kernel) != type.getNumElements() ||
        (exact == value && !value.getDefiningOp<arith::AddFOp>()) ||
        !collectLeaves(exact, true, leaves))
      return std::nullopt;
    // Calls add their terms one after the other. Ranks may fuse sums that one rank does not.
    if (leaves.size() > 2 && keepsSumOrder(kernel))
      return std::nullopt;
    StoredSum sum{kernel, result, value, {}, {}, *stored};
    for (KernelLoadOp load : leaves) {
      auto source = cast<RankedTensorType>(load.getSource().getType());
      std::optional<IterationOffsets> offsets =
          offsetsOf(load.getMap(), source.getShape(), kernel.getSpace());
      if (!offsets)
        return std::nullopt;
      Term term{load, rootOf(inputOf(kernel, load)), *offsets};
      bool hasType =
          source.getElementType() == type.getElementType() ||
          (kernel->getNumResults() == 1 && (mayRound(term.root, type.getElementType()) ||
                                            mayStayWide(term.root, type.getElementType())));
      // A kernel may read the first elements of a larger result.
      bool isProduct = hasType && source.getNumElements() == type.getNumElements() &&
                       isProductFor(kernel, term, *stored);
      (isProduct ? sum.products : sum.others).push_back(term);
    }
    if (sum.products.empty())
      return std::nullopt;
    llvm::sort(sum.products, [](const Term &a, const Term &b) {
      return standsBefore(a.root.getDefiningOp(), b.root.getDefiningOp());
    });
    return sum;
  }

  //===----------------------------------------------------------------------------------------===//
  // Rewriting
  //===----------------------------------------------------------------------------------------===//

  /// kernel(call(..), x) that stores call(..) + x => kernel(call(.., adding x)). Each of several
  /// calls adds the result of the one before. Returns the remaining kernel, if any.
  KernelOp absorb(StoredSum &sum) {
    SmallVector<LibraryCallOpInterface> calls;
    SmallVector<Operation *> created;
    SmallVector<SmallVector<Term>> added(sum.products.size());
    for (SmallVector<Term> &terms : llvm::drop_begin(added))
      terms.push_back({}); // The result of the previous call.
    StringRef reason = distribute(sum, added);
    for (auto [i, product] : llvm::enumerate(sum.products)) {
      if (!reason.empty())
        break;
      auto call = product.root.getDefiningOp<LibraryCallOpInterface>();
      OpBuilder builder(call);
      if (i > 0)
        added[i].front() = {{}, calls.back()->getResult(0), sum.offsets};
      sortForUpdate(added[i]);
      Type element = getElementTypeOrSelf(sum.kernel->getResult(sum.result));
      // A sum of f32 results is rounded once, by the last call.
      if (i + 1 < sum.products.size() && getElementTypeOrSelf(product.root).isF32())
        element = builder.getF32Type();
      LibraryCallOpInterface changed = buildAdding(builder, call, sum, added[i], element, created);
      calls.push_back(changed);
      if (!changed) {
        reason = "the call cannot add it";
        break;
      }
      changed->setLoc(FusedLoc::get(builder.getContext(), {call.getLoc(), sum.kernel.getLoc()}));
      if (mayStayWide(product.root, getElementTypeOrSelf(changed->getResult(0))) &&
          !accumulates(changed))
        reason = "it is rounded before it is added";
      else if (!takesOperandLayouts(changed))
        reason = "the call does not support its layout";
      else if (reason.empty() && isSupportedLess(target, changed, call))
        reason = "the library would be slower";
    }
    if (!reason.empty()) {
      // Calls use views and other calls that were created before them, so all references are
      // dropped before any operation is erased.
      for (Operation *op : created)
        op->dropAllReferences();
      for (Operation *op : created)
        op->erase();
      remark::missed(sum.kernel.getLoc(),
                     remark::RemarkOpts::name("not-fused").category(categoryName))
          << remark::reason("{0}", reason);
      return sum.kernel;
    }
    remark::passed(calls.back().getLoc(), remark::RemarkOpts::name("fused").category(categoryName))
        << remark::metric("products", calls.size()) << remark::metric("addends", sum.others.size());
    for (auto [product, call] : llvm::zip_equal(sum.products, calls))
      replaceCall(product.root, call);
    return readSum(sum, calls.back()->getResult(0));
  }

  /// Returns a copy of the call that adds the terms and returns elements of type `element`, or null
  /// if the call cannot add them. Appends all created operations to `created`.
  static LibraryCallOpInterface buildAdding(OpBuilder &builder, LibraryCallOpInterface call,
                                            StoredSum &sum, ArrayRef<Term> terms, Type element,
                                            SmallVectorImpl<Operation *> &created) {
    auto type = cast<RankedTensorType>(call->getResult(0).getType());
    Operation *changed = builder.clone(*call);
    for (const Term &term : terms) {
      // Calls with 16-bit elements may also add f32, and round the sum to either type.
      Value operand = readAs(builder, term.root, term.offsets, sum.offsets,
                             type.clone(getElementTypeOrSelf(term.root)), sum.kernel.getSpace());
      if (operand && operand != term.root)
        created.push_back(operand.getDefiningOp());
      Operation *adding =
          operand ? cast<EpilogueOpInterface>(changed).buildAdding(builder, operand) : nullptr;
      changed->erase();
      if (!adding)
        return {};
      changed = adding;
    }
    changed->getResult(0).setType(type.clone(element));
    created.push_back(changed);
    return cast<LibraryCallOpInterface>(changed);
  }

  /// Moves the terms to the end whose memory the call may update in place, which only the last
  /// addend permits: values without other users, which die at the call, and after them variables,
  /// which are updated without a copy.
  static void sortForUpdate(SmallVector<Term> &terms) {
    SmallVector<Term> kept, dying, variables;
    for (const Term &term : terms)
      (isOfVariable(term.root)                          ? variables
       : term.root.use_empty() || term.root.hasOneUse() ? dying
                                                        : kept)
          .push_back(term);
    terms = std::move(kept);
    llvm::append_range(terms, dying);
    llvm::append_range(terms, variables);
  }

  /// Returns whether the call adds to a variable, so that its result may overwrite the variable in
  /// place.
  static bool accumulates(LibraryCallOpInterface call) {
    return llvm::any_of(call->getOpOperands(), [&](OpOperand &operand) {
      return isOfVariable(operand.get()) &&
             cast<EpilogueOpInterface>(*call).mayAccumulate(operand.getOperandNumber());
    });
  }

  /// Assigns each term to the call with the fewest terms among the calls before which the term is
  /// available. Returns the reason if a term cannot be assigned.
  static StringRef distribute(StoredSum &sum, MutableArrayRef<SmallVector<Term>> added) {
    for (Term &term : sum.others) {
      SmallVector<Term> *fewest = nullptr;
      for (auto [product, terms] : llvm::zip_equal(sum.products, added))
        if (makeAvailable(term.root, product.root.getDefiningOp()) &&
            (!fewest || terms.size() < fewest->size()))
          fewest = &terms;
      if (!fewest)
        return "the added operand is computed after the call";
      fewest->push_back(term);
    }
    return {};
  }

  static void replaceCall(Value product, LibraryCallOpInterface call) {
    Operation *old = product.getDefiningOp();
    product.replaceAllUsesWith(call->getResult(0));
    old->erase();
  }

  /// Removes the result from the kernel, which then reads the sum instead of computing it. Returns
  /// the new kernel, or null if there are no other results.
  static KernelOp readSum(StoredSum &sum, Value result) {
    KernelOp kernel = sum.kernel;
    OpBuilder builder(kernel);
    Value stored = kernel->getResult(sum.result);
    Value replacement = result;
    if (stored.getType() != result.getType())
      replacement = ReshapeOp::create(builder, stored.getLoc(), stored.getType(), result);
    stored.replaceAllUsesWith(replacement);
    Value last = sum.products.back().load;
    sum.value.replaceAllUsesWith(last);
    if (kernel->getNumResults() > 1)
      return withoutResult(kernel, sum.result);
    kernel.erase();
    return {};
  }

  static constexpr StringLiteral categoryName = "mtc-fuse-epilogues";
  TargetInfo target;
};

} // namespace

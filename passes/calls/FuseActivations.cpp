//===- FuseActivations.cpp - Fusion of activations into library calls -------------------------===//
//
// Runs after kernel fusion and `mtc-fuse-epilogues`, when each remaining activation is a separate
// kernel and stored sums have been fused into their calls.
//
//===------------------------------------------------------------------------------------------===//

#include "ir/attributes/OperandLayout.h"
#include "ir/builders/TensorBuilder.h"
#include "passes/Passes.h"
#include "passes/calls/CallEditing.h"
#include "passes/calls/ElementwiseFunction.h"
#include "passes/kernels/KernelEditing.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Remarks.h"

namespace mtc {
#define GEN_PASS_DEF_FUSEACTIVATIONS
#include "passes/Passes.h.inc"
} // namespace mtc

using namespace mlir;
using namespace mtc;

namespace {

/// A kernel that applies an activation, or the gradient of an activation, to a call's result.
struct ActivationKernel {
  KernelOp kernel;
  IterationOffsets own; // Offsets of the results and of the loads of `product`.
  Activation activation;
  Value product;                              // The call's result.
  Value bias = {};                            // Addend before the activation, if any.
  std::optional<IterationOffsets> added = {}; // Offsets at which the kernel reads `bias`.
  Value preactivation = {};                   // Argument of the activation's gradient.
  SmallVector<bool> isSum = {};               // For each result, whether it is the pre-activation.
};

Value rootOfLoad(KernelOp kernel, KernelLoadOp load) { return rootOf(inputOf(kernel, load)); }

/// Returns the call that computes the value if the call can have an epilogue.
LibraryCallOpInterface callOf(Value product) {
  auto call = product.getDefiningOp<LibraryCallOpInterface>();
  bool takesEpilogue =
      call && call.isLibraryCall() && isa<EpilogueOpInterface>(*call) && call->getNumResults() == 1;
  return takesEpilogue && !isRoundedWithoutFusion(call) ? call : LibraryCallOpInterface();
}

Type elementOf(KernelOp kernel) { return getElementTypeOrSelf(kernel->getResult(0)); }

/// Returns the common offsets of all results of an elementwise kernel; nothing if offsets or
/// element types differ, or the results are not dense.
std::optional<IterationOffsets> commonOffsets(KernelOp kernel) {
  KernelYieldOp yield = yieldOf(kernel);
  if (kernel.getShape() != FusibleShape::Elementwise || !yield.getAdded().empty())
    return std::nullopt;
  std::optional<IterationOffsets> common;
  for (auto [i, result] : llvm::enumerate(kernel->getResults())) {
    auto type = cast<RankedTensorType>(result.getType());
    std::optional<IterationOffsets> stored =
        offsetsOf(storedAt(kernel, i), type.getShape(), kernel.getSpace());
    if (!stored || (common && !(*common == *stored)) ||
        iterationsOf(kernel) != type.getNumElements() || type.getElementType() != elementOf(kernel))
      return std::nullopt;
    common = stored;
  }
  return common;
}

/// Returns the other operand of an addition that is the load's only user; null if there is none.
KernelLoadOp addedTo(KernelLoadOp load) {
  if (!load->hasOneUse())
    return {};
  auto sum = dyn_cast<arith::AddFOp>(*load->user_begin());
  if (!sum || sum.getLhs() == sum.getRhs())
    return {};
  Value other = sum.getLhs() == load.getValue() ? sum.getRhs() : sum.getLhs();
  return other.getDefiningOp<KernelLoadOp>();
}

class FuseActivationsPass : public mtc::impl::FuseActivationsBase<FuseActivationsPass> {
  void runOnOperation() override {
    target = TargetInfo::of(getOperation());
    // Fusing a gradient may remove the last other user of an activation kernel's result, so that
    // the kernel can be fused in the next iteration.
    SmallVector<std::pair<Location, StringRef>> missed;
    for (bool changed = true; changed;) {
      changed = false;
      missed.clear();
      for (KernelOp kernel : llvm::to_vector(getOperation().getOps<KernelOp>())) {
        std::optional<ActivationKernel> found = find(kernel);
        if (!found)
          continue;
        Location loc = kernel.getLoc();
        StringRef reason = fuse(*found);
        if (reason.empty())
          changed = true;
        else
          missed.push_back({loc, reason});
      }
      if (changed)
        eraseUnreadResults();
    }
    for (auto &[loc, reason] : missed)
      remark::missed(loc, remark::RemarkOpts::name("not-fused").category(categoryName))
          << remark::reason("{0}", reason);
  }

  //===----------------------------------------------------------------------------------------===//
  // Recognition
  //===----------------------------------------------------------------------------------------===//

  static std::optional<ActivationKernel> find(KernelOp kernel) {
    std::optional<IterationOffsets> own = commonOffsets(kernel);
    if (!own)
      return std::nullopt;
    for (auto load : kernel.getBody().front().getOps<KernelLoadOp>()) {
      Value product = rootOfLoad(kernel, load);
      std::optional<IterationOffsets> offsets = offsetsOf(kernel, load);
      if (!callOf(product) || !offsets || !(*offsets == *own) ||
          !cast<BlockArgument>(load.getSource()).hasOneUse() ||
          getElementTypeOrSelf(product) != elementOf(kernel))
        continue;
      if (auto found = findForward(kernel, load, *own))
        return found;
      if (isReadByAlone(kernel, inputOf(kernel, load)))
        if (auto found = findGradient(kernel, load, *own))
          return found;
    }
    return std::nullopt;
  }

  /// Matches kernels whose results are each z or relu(z), or each z or gelu(z), where z is the
  /// loaded element or its sum with an element of another tensor.
  static std::optional<ActivationKernel> findForward(KernelOp kernel, KernelLoadOp load,
                                                     const IterationOffsets &own) {
    ActivationKernel found{kernel, own, Activation::Relu, rootOfLoad(kernel, load)};
    Value sum = load;
    if (KernelLoadOp other = addedTo(load)) {
      found.bias = rootOfLoad(kernel, other);
      found.added = offsetsOf(kernel, other);
      if (!found.added)
        return std::nullopt;
      sum = load->user_begin()->getResult(0);
    }
    ElementwiseFunction function(kernel, own);
    function.addArgument(sum);
    auto values = yieldOf(kernel).getValues();
    for (Value value : values)
      found.isSum.push_back(value == sum);
    auto all = [&](auto is) {
      return llvm::all_of(values, [&](Value value) { return value == sum || is(value); });
    };
    if (llvm::all_of(found.isSum, [](bool is) { return is; }))
      return std::nullopt;
    if (all([&](Value value) { return function.isRelu(value); }))
      return found;
    found.activation = Activation::Gelu;
    if (all([&](Value value) { return function.isGelu(value); }))
      return found;
    return std::nullopt;
  }

  /// Matches kernels whose only result is the loaded element times gelu's gradient at a matrix of
  /// the same size.
  static std::optional<ActivationKernel> findGradient(KernelOp kernel, KernelLoadOp load,
                                                      const IterationOffsets &own) {
    if (kernel->getNumResults() != 1)
      return std::nullopt;
    auto type = cast<RankedTensorType>(kernel->getResult(0).getType());
    for (auto at : kernel.getBody().front().getOps<KernelLoadOp>()) {
      Value preactivation = rootOfLoad(kernel, at);
      auto preactivationType = cast<RankedTensorType>(preactivation.getType());
      if (at == load || preactivationType.getElementType() != type.getElementType() ||
          preactivationType.getNumElements() != type.getNumElements())
        continue;
      ElementwiseFunction function(kernel, own);
      function.addArgument(load);
      function.addElement(preactivation);
      if (function.isGeluGradient(yieldOf(kernel).getValues().front()))
        return ActivationKernel{
            kernel,        own,    Activation::GeluGradient, rootOfLoad(kernel, load), {}, {},
            preactivation, {false}};
    }
    return std::nullopt;
  }

  //===----------------------------------------------------------------------------------------===//
  // Rewriting
  //===----------------------------------------------------------------------------------------===//

  /// Collects the loads of the product in all kernels; false if one of them does not only add the
  /// same addend to it.
  static bool collectSums(const ActivationKernel &found, const StridedLayout &layout,
                          SmallVectorImpl<KernelLoadOp> &loads) {
    SmallVector<Value> values = {found.product};
    ArrayRef<int64_t> shape = cast<RankedTensorType>(found.product.getType()).getShape();
    while (!values.empty())
      for (OpOperand &use : values.pop_back_val().getUses()) {
        if (use.getOwner()->hasTrait<mtc::View>()) {
          values.push_back(use.getOwner()->getResult(0));
          continue;
        }
        auto kernel = dyn_cast<KernelOp>(use.getOwner());
        if (!kernel)
          return false;
        for (KernelLoadOp load :
             loadsOf(kernel.getBody().front().getArgument(use.getOperandNumber()))) {
          KernelLoadOp other = addedTo(load);
          std::optional<IterationOffsets> own = offsetsOf(kernel, load);
          if (!other || !own || rootOfLoad(kernel, other) != found.bias)
            return false;
          std::optional<IterationOffsets> added = offsetsOf(kernel, other);
          std::optional<StridedLayout> same =
              added ? layoutAt(*added, *own, shape, kernel.getSpace()) : std::nullopt;
          if (!same || same->offset != layout.offset || same->strides != layout.strides)
            return false;
          loads.push_back(load);
        }
      }
    return true;
  }

  /// activation(call(..)) => call(.., then activation). Returns the reason if the call cannot be
  /// changed.
  StringRef fuse(ActivationKernel &found) {
    LibraryCallOpInterface call = callOf(found.product);
    auto type = cast<RankedTensorType>(found.product.getType());
    SmallVector<KernelLoadOp> sums;
    if (found.bias) {
      auto layout = layoutAt(*found.added, found.own, type.getShape(), found.kernel.getSpace());
      if (!layout || !collectSums(found, *layout, sums))
        return "the bias is not added at every use of the result";
      if (!makeAvailable(found.bias, call))
        return "the added operand is computed after the call";
    }
    if (found.preactivation && !makeAvailable(found.preactivation, call))
      return "the pre-activation of the gradient is computed after the call";
    bool hasAuxiliary = !found.preactivation &&
                        (!isReadByAlone(found.kernel, inputOf(found.kernel, productLoad(found))) ||
                         llvm::is_contained(found.isSum, true));

    OpBuilder builder(call);
    SmallVector<Operation *> created;
    auto take = [&](Value root, const IterationOffsets &offsets) {
      Value operand = readAs(builder, root, offsets, found.own, type, found.kernel.getSpace());
      if (operand && operand != root)
        created.push_back(operand.getDefiningOp());
      return operand;
    };
    auto summing = cast<EpilogueOpInterface>(*call);
    if (found.bias) {
      Value operand = take(found.bias, *found.added);
      summing = dyn_cast_or_null<EpilogueOpInterface>(
          operand ? summing.buildAdding(builder, operand) : nullptr);
      if (summing)
        created.push_back(summing);
    }
    Value preactivation = found.preactivation ? take(found.preactivation, found.own) : Value();
    LibraryCallOpInterface changed;
    if (summing)
      if (Operation *op =
              summing.buildActivated(builder, found.activation, hasAuxiliary, preactivation)) {
        created.push_back(op);
        changed = cast<LibraryCallOpInterface>(op);
      }
    if (!changed || !takesOperandLayouts(changed) || isSupportedLess(target, changed, call)) {
      for (Operation *op : llvm::reverse(created))
        op->erase();
      return "the library does not support it, or is slower";
    }
    changed->setLoc(FusedLoc::get(builder.getContext(), {call.getLoc(), found.kernel.getLoc()}));
    if (summing.getOperation() != call.getOperation())
      summing->erase();
    replace(found, changed, sums);
    remark::passed(changed.getLoc(), remark::RemarkOpts::name("fused").category(categoryName))
        << remark::metric("activation", stringifyActivation(found.activation))
        << remark::metric("auxiliary", hasAuxiliary ? "preactivation" : "none");
    return {};
  }

  static KernelLoadOp productLoad(ActivationKernel &found) {
    for (auto load : found.kernel.getBody().front().getOps<KernelLoadOp>())
      if (rootOfLoad(found.kernel, load) == found.product)
        return load;
    llvm_unreachable("the kernel was found by this load");
  }

  /// Erases the kernel; other users of the product read the sum that the call stores.
  static void replace(ActivationKernel &found, LibraryCallOpInterface changed,
                      ArrayRef<KernelLoadOp> sums) {
    KernelOp kernel = found.kernel;
    OpBuilder builder(kernel);
    for (auto [result, isSum] : llvm::zip_equal(kernel->getResults(), found.isSum)) {
      Value value = changed->getResult(isSum ? 1 : 0);
      if (value.getType() != result.getType())
        value = ReshapeOp::create(builder, result.getLoc(), result.getType(), value);
      result.replaceAllUsesWith(value);
    }
    for (KernelLoadOp load : sums) {
      auto user = cast<KernelOp>(load->getParentOp());
      if (user == kernel)
        continue;
      Operation *sum = *load->user_begin();
      sum->getResult(0).replaceAllUsesWith(load);
      sum->erase();
      eraseUnread(user);
    }
    kernel.erase();
    Operation *call = found.product.getDefiningOp();
    eraseUnreadViewsOf(found.product);
    if (changed->getNumResults() > 1)
      found.product.replaceAllUsesWith(changed->getResult(1));
    call->erase();
  }

  /// Erases results without users, such as intermediate values of a fused gradient.
  void eraseUnreadResults() {
    for (Operation &op : llvm::make_early_inc_range(llvm::reverse(getOperation().front()))) {
      auto kernel = dyn_cast<KernelOp>(op);
      if (isOpTriviallyDead(&op)) {
        op.erase();
        continue;
      }
      for (unsigned i = kernel ? kernel->getNumResults() : 0; i-- > 0;)
        if (kernel->getResult(i).use_empty())
          kernel = withoutResult(kernel, i);
    }
  }

  static constexpr StringLiteral categoryName = "mtc-fuse-activations";
  TargetInfo target;
};

} // namespace

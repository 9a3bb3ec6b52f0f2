//===- PrepareCalls.cpp - Layouts of library call operands and results ------------------------===//

#include "ir/builders/KernelBuilder.h"
#include "ir/builders/Shape.h"
#include "ir/builders/TensorBuilder.h"
#include "ir/interfaces/TargetInfo.h"
#include "passes/Passes.h"
#include "passes/kernels/KernelEditing.h"

#include "mlir/Dialect/Utils/IndexingUtils.h"

namespace mtc {
#define GEN_PASS_DEF_PREPARECALLS
#include "passes/Passes.h.inc"
} // namespace mtc

using namespace mlir;
using namespace mtc;

/// Returns the axis of a dense tensor whose indices are `stride` elements apart, and the number of
/// indices per stride; nothing if a stride spans several axes.
static std::optional<std::pair<int64_t, int64_t>> stepOf(int64_t stride, ArrayRef<int64_t> shape,
                                                         ArrayRef<int64_t> strides) {
  for (auto [axis, extent, own] : llvm::enumerate(shape, strides))
    if (extent > 1 && own <= stride)
      return stride % own ? std::nullopt : std::optional(std::pair(int64_t(axis), stride / own));
  return std::nullopt;
}

/// Composes two layouts: a tensor of `shape` is stored by `layout` in a dense tensor of `type`,
/// which is stored by `movement` in another. Returns the layout of the first tensor in the last, or
/// nothing if no strides represent it.
static std::optional<StridedLayout> compose(ArrayRef<int64_t> shape, const StridedLayout &layout,
                                            RankedTensorType type, const StridedLayout &movement) {
  SmallVector<int64_t> strides = rowMajorStrides(type.getShape());
  StridedLayout result{movement.offset, SmallVector<int64_t>(shape.size(), 0)};
  SmallVector<int64_t> last(type.getRank(), 0); // The maximum index along each axis.
  int64_t rest = layout.offset;
  for (auto [axis, stride] : llvm::enumerate(strides)) {
    last[axis] = rest / stride;
    rest %= stride;
    result.offset += last[axis] * movement.strides[axis];
  }
  for (auto [i, extent, stride] : llvm::enumerate(shape, layout.strides)) {
    if (extent == 1 || stride == 0)
      continue;
    auto step = stepOf(stride, type.getShape(), strides);
    if (!step)
      return std::nullopt;
    auto [axis, count] = *step;
    last[axis] += (extent - 1) * count;
    if (last[axis] >= type.getDimSize(axis))
      return std::nullopt; // The stride crosses into the next axis.
    result.strides[i] = count * movement.strides[axis];
  }
  return result;
}

namespace {

class PrepareCallsPass : public mtc::impl::PrepareCallsBase<PrepareCallsPass> {
  void runOnOperation() override {
    target = TargetInfo::of(getOperation());
    keepsOrder = keepsSumOrder(getOperation());
    SmallVector<LibraryCallOpInterface> calls;
    getOperation().walk([&](LibraryCallOpInterface call) {
      if (call.isLibraryCall())
        calls.push_back(call);
    });
    for (LibraryCallOpInterface call : calls) {
      narrowResult(call);
      SmallVector<Value> operands(call->getOperands());
      for (OpOperand &operand : call->getOpOperands())
        makeTaken(call, operand);
      for (auto [operand, original] : llvm::zip_equal(call->getOpOperands(), operands))
        readThrough(call, operand, original);
      DenseMap<Value, Value> originals;
      for (auto [prepared, original] : llvm::zip_equal(call->getOperands(), operands))
        originals[prepared] = original;
      for (unsigned result = 0; result < call->getNumResults(); ++result)
        call = transpose(call, result);
      generateIfFaster(call, originals);
    }
    // Erases data movement without users and views that were only candidates.
    for (Operation &op : llvm::make_early_inc_range(llvm::reverse(getOperation().front())))
      if (isOpTriviallyDead(&op))
        op.erase();
  }

  /// Returns whether a kernel can replace the call, as it can a contraction.
  static bool isReplaceable(LibraryCallOpInterface call) {
    return isa<FusibleOpInterface>(call.getOperation());
  }

  /// call(x) => cast(call(x)), if the library only returns results of the operands' type: cuDNN has
  /// no f32 results of convolutions of 16-bit operands.
  void narrowResult(LibraryCallOpInterface call) {
    auto result = cast<TypedValue<RankedTensorType>>(call->getResult(0));
    const Type wide = result.getType().getElementType();
    const Type narrow = getElementTypeOrSelf(call->getOperand(0));
    if (call->getNumResults() > 1 || !wide.isF32() || !isa<FloatType>(narrow) ||
        narrow.getIntOrFloatBitWidth() >= 32 || target.getSupportLevel(call) > 0 ||
        isReplaceable(call))
      return;
    result.setType(result.getType().clone(narrow));
    if (target.getSupportLevel(call) == 0)
      return result.setType(result.getType().clone(wide)); // Reported when memory is allocated.
    TensorBuilder b(call.getLoc(), call);
    b.setInsertionPointAfter(call);
    Value widened = b.cast(result, wide);
    result.replaceAllUsesExcept(widened, widened.getDefiningOp());
  }

  static void setView(OpOperand &operand, Value source, const StridedLayout &layout) {
    OpBuilder builder(operand.getOwner());
    operand.set(StridedViewOp::create(builder, operand.get().getLoc(), operand.get().getType(),
                                      source, layout.offset, layout.strides));
  }

  /// call(x) => call(view(transpose(x))), if the call does not accept x's dense layout.
  void makeTaken(LibraryCallOpInterface call, OpOperand &operand) {
    Value value = operand.get();
    if (call.takesLayout(operand.getOperandNumber(), stridesOf(value)))
      return;
    SmallVector<int64_t> order = call.getDenseOrder(operand.getOperandNumber());
    TensorBuilder b(call.getLoc(), call);
    Value copy = b.transpose(value, order);
    SmallVector<int64_t> strides = rowMajorStrides(shapeOf(copy));
    setView(operand, copy, {0, pick(strides, invertPermutationVector(order))});
  }

  /// Returns whether a call takes an operand at this offset. cuDNN only takes multiples of 16
  /// bytes, cuBLASLt any offset.
  static bool isAligned(LibraryCallOpInterface call, int64_t offset, Type element) {
    constexpr int64_t alignment = 16;
    return isReplaceable(call) || offset * elementBytes(element) % alignment == 0;
  }

  /// call(movements(x)) => call(view(x)), as far up as the library supports the call equally well.
  void readThrough(LibraryCallOpInterface call, OpOperand &operand, Value original) {
    Value source = original, best = operand.get();
    ArrayRef<int64_t> shape = shapeOf(original);
    StridedLayout layout{0, rowMajorStrides(shape)};
    unsigned required = target.getSupportLevel(call);
    bool moves = false; // Reshapes alone are free and stay in place.
    while (Operation *op = source.getDefiningOp()) {
      if (auto movement = dyn_cast<StridedMovementOpInterface>(op)) {
        auto composed = compose(shape, layout, typeOf(source), movement.getLayout());
        if (!composed)
          break;
        layout = *composed;
        moves = true;
      } else if (!op->hasTrait<mtc::View>()) {
        break;
      }
      source = op->getOperand(0);
      if (!moves || !call.takesLayout(operand.getOperandNumber(), layout.strides) ||
          !isAligned(call, layout.offset, typeOf(source).getElementType()))
        continue;
      operand.set(original);
      setView(operand, source, layout);
      if (target.getSupportLevel(call) >= required)
        best = operand.get();
    }
    operand.set(best);
  }

  /// transpose(call(..)) => call(..); other users read the result through the inverse transpose.
  LibraryCallOpInterface transpose(LibraryCallOpInterface call, unsigned number) {
    OpResult result = call->getResult(number);
    TransposeOp movement;
    for (Operation *user : result.getUsers())
      if (auto found = dyn_cast<TransposeOp>(user); found && !movement)
        movement = found;
    if (!movement)
      return call;
    SmallVector<int64_t> permutation(movement.getPermutation());
    TensorBuilder b(call.getLoc(), call);
    auto transposed =
        dyn_cast_or_null<LibraryCallOpInterface>(call.buildTransposed(b, number, permutation));
    if (!transposed)
      return call;
    Value written = transposed->getResult(number);
    for (Operation *user : llvm::make_early_inc_range(result.getUsers()))
      if (auto same = dyn_cast<TransposeOp>(user);
          same && same.getPermutation() == ArrayRef(permutation)) {
        same.replaceAllUsesWith(written);
        same.erase();
      }
    SmallVector<Value> results(transposed->getResults());
    if (!result.use_empty())
      results[number] = b.transpose(written, invertPermutationVector(permutation));
    call->replaceAllUsesWith(results);
    call->erase();
    return transposed;
  }

  /// call(..) => kernel(..), if the target executes the kernel faster than its library. Kernels
  /// read no strided views, so the operands are reset to their `originals`.
  void generateIfFaster(LibraryCallOpInterface call, const DenseMap<Value, Value> &originals) {
    auto fusible = dyn_cast<FusibleOpInterface>(call.getOperation());
    // The extents of a part must not decide, because a kernel has another order of sums than a
    // call.
    if (!fusible || keepsOrder || !target.isFasterAsKernel(call))
      return;
    for (OpOperand &operand : call->getOpOperands())
      operand.set(originals.at(operand.get()));
    replaceByKernel(fusible);
  }

  TargetInfo target;
  bool keepsOrder = false;
};

} // namespace

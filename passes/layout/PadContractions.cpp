//===- PadContractions.cpp - Aligned extents of contractions ----------------------------------===//
//
// The last axis of a contraction's result is made longer, and with it that axis of all values that
// elementwise operations compute from the result. Elements beyond the original extent are
// unspecified; they are replaced by a neutral element where an operation combines elements along
// the axis.
//
//===------------------------------------------------------------------------------------------===//

#include "ir/builders/Scalar.h"
#include "ir/builders/Shape.h"
#include "ir/builders/TensorBuilder.h"
#include "ir/interfaces/TargetInfo.h"
#include "passes/Passes.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Remarks.h"

namespace mtc {
#define GEN_PASS_DEF_PADCONTRACTIONS
#include "passes/Passes.h.inc"
} // namespace mtc

using namespace mlir;
using namespace mtc;

namespace {

/// Libraries load and store 16 bytes of a row at a time.
constexpr int64_t kAlignment = 16;
/// The extent is at least this many times the padding.
constexpr int64_t kMinExtentOfPadding = 64;
/// The padded contraction takes at most this fraction of the time.
constexpr double kWorthwhile = 0.9;

int64_t extentOf(Value value) {
  ArrayRef<int64_t> shape = shapeOf(value);
  return shape.empty() ? 0 : shape.back();
}

RankedTensorType withExtent(RankedTensorType type, int64_t axis, int64_t extent) {
  SmallVector<int64_t> shape(type.getShape());
  shape[axis] = extent;
  return type.clone(shape);
}

/// Returns the tensor with zeros after its elements along an axis.
Value padAxis(TensorBuilder &b, Value value, int64_t axis, int64_t extent) {
  SmallVector<int64_t> none(shapeOf(value).size(), 0), high = none;
  high[axis] = extent - shapeOf(value)[axis];
  return b.pad(value, none, high, none);
}

/// Returns the first elements of a tensor along an axis.
Value sliceAxis(TensorBuilder &b, Value value, int64_t axis, int64_t extent) {
  SmallVector<int64_t> offsets(shapeOf(value).size(), 0), strides(offsets.size(), 1);
  return b.slice(value, offsets, withExtent(typeOf(value), axis, extent).getShape(), strides);
}

/// A contraction with a longer last axis, and the values that get this axis with it.
class PaddedRegion {
public:
  PaddedRegion(ContractOp first, const TargetInfo &target)
      : first(first), target(target), extent(extentOf(first)) {
    const int64_t multiple =
        std::max<int64_t>(kAlignment * 8 / typeOf(first.getLhs()).getElementTypeBitWidth(), 1);
    padded = llvm::alignTo(extent, multiple);
  }

  /// Returns whether the padded contraction is faster, and no large value is needed in its original
  /// extent.
  bool isWorthwhile() {
    if (padded == extent || extent < kMinExtentOfPadding * (padded - extent) || !isFaster())
      return false;
    widened.insert(first.getResult());
    for (Operation *op = first->getNextNode(); op; op = op->getNextNode())
      if (!visit(op))
        return false;
    return llvm::all_of(widened, [&](Value value) {
      return llvm::all_of(value.getUsers(),
                          [&](Operation *user) { return user->getBlock() == first->getBlock(); });
    });
  }

  void rewrite() {
    SmallVector<Operation *> block;
    for (Operation *op = first; op; op = op->getNextNode())
      block.push_back(op);
    for (Operation *op : block)
      rewrite(op);
    for (Operation *op : llvm::reverse(block))
      if (isOpTriviallyDead(op))
        op->erase();
  }

  int64_t getExtent() const { return extent; }
  int64_t getPaddedExtent() const { return padded; }

private:
  bool isFaster() {
    TensorBuilder b(first.getLoc(), first);
    ContractOp longer = buildFirst(b);
    const double before = secondsOf(first), after = secondsOf(longer);
    Value operands[] = {longer.getLhs(), longer.getRhs()};
    longer.erase();
    for (Value operand : operands)
      if (operand.use_empty())
        operand.getDefiningOp()->erase();
    return after < kWorthwhile * before;
  }

  double secondsOf(ContractOp op) const {
    return target.getCallSeconds(
        cast<LibraryCallOpInterface>(op.getOperation()).describeCall(std::nullopt));
  }

  ContractOp buildFirst(TensorBuilder &b) {
    SmallVector<int64_t> lhsFree = first.getLhsFree(), rhsFree = first.getRhsFree();
    const unsigned number = rhsFree.empty() ? 0 : 1;
    auto longer = cast<ContractOp>(b.clone(*first));
    OpOperand &operand = longer->getOpOperand(number);
    b.setInsertionPoint(longer);
    operand.set(padAxis(b, operand.get(), (number ? rhsFree : lhsFree).back(), padded));
    b.setInsertionPointAfter(longer);
    longer.getResult().setType(widenedType(first.getResult()));
    return longer;
  }

  RankedTensorType widenedType(Value value) const {
    return withExtent(typeOf(value), typeOf(value).getRank() - 1, padded);
  }

  //===----------------------------------------------------------------------------------------===//
  // Analysis
  //===----------------------------------------------------------------------------------------===//

  /// Adds the result of an operation that can compute it with the longer axis. Returns false if the
  /// operation needs a large value in its original extent.
  bool visit(Operation *op) {
    for (OpOperand &operand : op->getOpOperands()) {
      if (!widened.contains(operand.get()))
        continue;
      switch (useOf(operand)) {
      case Use::Widens:
        widened.insert(op->getResult(0));
        return true;
      case Use::Sums:
      case Use::Contracts:
        break;
      case Use::Slices: {
        // Kernels read a part of a tensor in place, other operations do not.
        const bool isSmall = typeOf(operand.get()).getNumElements() <= 16 * extent;
        auto call = dyn_cast<LibraryCallOpInterface>(op);
        if (!isSmall && (!isa<FusibleOpInterface>(op) || (call && call.isLibraryCall())))
          return false;
      }
      }
    }
    return true;
  }

  enum class Use {
    Widens,    ///< Computes a value with the longer axis.
    Sums,      ///< Combines the elements along the axis.
    Contracts, ///< Contracts the axis, or has it in its result.
    Slices,    ///< Needs the original extent.
  };

  Use useOf(OpOperand &use) {
    Operation *op = use.getOwner();
    const int64_t last = typeOf(use.get()).getRank() - 1;
    if (op->hasTrait<OpTrait::Elementwise>())
      return llvm::all_of(op->getOperands(), [&](Value each) { return canWiden(each); })
                 ? Use::Widens
                 : Use::Slices;
    if (auto reshape = dyn_cast<ReshapeOp>(op))
      return extentOf(reshape.getResult()) == extent ? Use::Widens : Use::Slices;
    if (auto reduce = dyn_cast<ReduceOp>(op)) {
      if (!llvm::is_contained(reduce.getAxes(), last))
        return Use::Widens;
      return Use::Sums;
    }
    if (auto contract = dyn_cast<ContractOp>(op)) {
      const bool isLhs = use.getOperandNumber() == 0;
      const bool isBatch =
          llvm::is_contained(isLhs ? contract.getLhsBatch() : contract.getRhsBatch(), last);
      if (!isBatch && !widened.contains(op->getOperand(isLhs ? 1 : 0)))
        return Use::Contracts;
    }
    return Use::Slices;
  }

  /// Returns whether a value can be computed with the longer axis, given the values that have it
  /// already.
  bool canWiden(Value value) {
    if (widened.contains(value) || widenable.contains(value))
      return true;
    Operation *op = value.getDefiningOp();
    if (!op || extentOf(value) != extent)
      return false;
    const bool can =
        TypeSwitch<Operation *, bool>(op)
            .Case([](ConstantOp constant) { return constant.getValue().isSplat(); })
            .Case([](IotaOp) { return true; })
            .Case([&](BroadcastOp broadcast) {
              const int64_t last = typeOf(value).getRank() - 1;
              return llvm::is_contained(broadcast.getAxes(), last) ||
                     typeOf(broadcast.getInput()).getRank() == 1;
            })
            .Default([&](Operation *other) {
              return other->hasTrait<OpTrait::Elementwise>() &&
                     llvm::all_of(other->getOperands(), [&](Value each) { return canWiden(each); });
            });
    if (can)
      widenable.insert(value);
    return can;
  }

  //===----------------------------------------------------------------------------------------===//
  // Rewriting
  //===----------------------------------------------------------------------------------------===//

  void rewrite(Operation *op) {
    TensorBuilder b(op->getLoc(), op);
    if (op == first) {
      results[first.getResult()] = buildFirst(b).getResult();
      return;
    }
    for (OpOperand &operand : op->getOpOperands()) {
      if (!widened.contains(operand.get()))
        continue;
      switch (useOf(operand)) {
      case Use::Widens:
        results[op->getResult(0)] = widen(op->getResult(0), b);
        return;
      case Use::Sums: {
        auto reduce = cast<ReduceOp>(op);
        operand.set(withNeutral(operand.get(), reduce.getKind(), b));
        break;
      }
      case Use::Contracts:
        rewriteContraction(cast<ContractOp>(op), operand, b);
        return;
      case Use::Slices:
        operand.set(
            sliceAxis(b, widen(operand.get(), b), typeOf(operand.get()).getRank() - 1, extent));
      }
    }
  }

  void rewriteContraction(ContractOp op, OpOperand &use, TensorBuilder &b) {
    const int64_t last = typeOf(use.get()).getRank() - 1;
    const bool isLhs = use.getOperandNumber() == 0;
    ArrayRef<int64_t> own = isLhs ? op.getLhsContract() : op.getRhsContract();
    ArrayRef<int64_t> others = isLhs ? op.getRhsContract() : op.getLhsContract();
    // Contractions of the axis read zeros in the padding, and other operations the neutral element.
    use.set(withNeutral(use.get(), ReductionKind::Add, b));
    if (const auto *found = llvm::find(own, last); found != own.end()) {
      OpOperand &other = op->getOpOperand(isLhs ? 1 : 0);
      other.set(padAxis(b, other.get(), others[found - own.begin()], padded));
      return;
    }
    // The last free axis of an operand, after the batch axes.
    int64_t axis = op.getLhsBatch().size() + op.getLhsFree().size() - 1;
    if (!isLhs)
      axis = typeOf(op.getResult()).getRank() - 1;
    Value result = op.getResult();
    RankedTensorType type = typeOf(result);
    result.setType(withExtent(type, axis, padded));
    b.setInsertionPointAfter(op);
    Value original = sliceAxis(b, result, axis, extent);
    result.replaceAllUsesExcept(original, original.getDefiningOp());
  }

  /// Returns a widened value with a neutral element of a reduction after its elements.
  Value withNeutral(Value value, ReductionKind kind, TensorBuilder &b) {
    Value &result = masked[{value, kind}];
    if (result)
      return result;
    Value longer = widen(value, b);
    RankedTensorType type = typeOf(longer);
    RankedTensorType indices = type.clone(b.getI32Type());
    Value isOwn = b.compare(Predicate::Lt, b.iota(indices, type.getRank() - 1),
                            b.splat(indices, static_cast<double>(extent)));
    TypedAttr neutral = neutralElement(kind, type.getElementType());
    Value filled = b.constant(DenseElementsAttr::get(type, Attribute(neutral)));
    return result = b.select(isOwn, longer, filled);
  }

  Value widen(Value value, TensorBuilder &b) {
    if (Value known = results.lookup(value))
      return known;
    Operation *op = value.getDefiningOp();
    RankedTensorType type = widenedType(value);
    auto build = [&](ValueRange operands) {
      Operation *copy = b.clone(*op);
      copy->setOperands(operands);
      copy->getResult(0).setType(type);
      return copy->getResult(0);
    };
    Value result =
        TypeSwitch<Operation *, Value>(op)
            .Case([&](ConstantOp constant) {
              return b.constant(cast<DenseElementsAttr>(constant.getValue()).resizeSplat(type));
            })
            .Case([&](IotaOp) { return build({}); })
            .Case([&](BroadcastOp broadcast) {
              Value input = broadcast.getInput();
              if (!llvm::is_contained(broadcast.getAxes(), type.getRank() - 1))
                input = padAxis(b, input, 0, padded);
              return build(input);
            })
            .Default([&](Operation *other) {
              return build(llvm::map_to_vector(other->getOperands(),
                                               [&](Value each) { return widen(each, b); }));
            });
    return results[value] = result;
  }

  ContractOp first;
  const TargetInfo &target;
  int64_t extent, padded;
  llvm::SetVector<Value> widened; ///< Values whose users get the longer axis.
  DenseSet<Value> widenable;      ///< Operands of those users that can be computed with it.
  DenseMap<Value, Value> results; ///< With the longer axis.
  DenseMap<std::pair<Value, ReductionKind>, Value> masked;
};

class PadContractionsPass : public mtc::impl::PadContractionsBase<PadContractionsPass> {
  void runOnOperation() override {
    const TargetInfo target = TargetInfo::of(getOperation());
    SmallVector<ContractOp> contractions;
    for (ContractOp op : getOperation().front().getOps<ContractOp>())
      contractions.push_back(op);
    for (ContractOp op : contractions) {
      if (shapeOf(op.getResult()).empty() || op.getLhsFree().size() + op.getRhsFree().size() == 0)
        continue;
      PaddedRegion region(op, target);
      if (!region.isWorthwhile())
        continue;
      remark::passed(op.getLoc(),
                     remark::RemarkOpts::name("padded").category("mtc-pad-contractions"))
          << remark::add("an axis of {0} is computed with {1}", region.getExtent(),
                         region.getPaddedExtent());
      region.rewrite();
    }
  }
};

} // namespace

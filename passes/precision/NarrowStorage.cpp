//===- NarrowStorage.cpp - Applies mixed precision with narrow storage ------------------------===//

#include "ir/NodeNames.h"
#include "ir/Precision.h"
#include "ir/ScanBody.h"
#include "ir/interfaces/TargetInfo.h"
#include "passes/Passes.h"
#include "passes/precision/PrecisionOptions.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Remarks.h"
#include "llvm/Support/GlobPattern.h"

namespace mtc {
#define GEN_PASS_DEF_NARROWSTORAGE
#include "passes/Passes.h.inc"
} // namespace mtc

using namespace mlir;
using namespace mtc;

namespace {

bool isF32(Value value) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  return type && type.getElementType().isF32();
}

/// Converts values of one function to storage in a type narrower than f32.
class FunctionNarrower {
public:
  FunctionNarrower(func::FuncOp function, FloatType storage,
                   llvm::function_ref<bool(Operation *)> keepsF32)
      : function(function), storage(storage), keepsF32(keepsF32) {}

  void run() {
    for (Operation &op : llvm::make_early_inc_range(function.front()))
      if (auto classified = dyn_cast<PrecisionOpInterface>(op))
        visit(classified);
  }

private:
  void visit(PrecisionOpInterface op) {
    PrecisionClass kind = op.getPrecisionClass();
    if (keepsF32(op)) {
      if (kind == PrecisionClass::Contraction)
        remarkOn(op, "reads f32, because of --keep-f32");
      return;
    }
    if (kind == PrecisionClass::Contraction)
      return narrowContraction(op);
    if (llvm::none_of(op->getOperands(), isNarrow))
      return;
    if (kind == PrecisionClass::RangeSensitive)
      return remarkOn(op, "returns f32, because its range or its sums need it");
    if (isa<ElementwiseOpInterface>(*op))
      return narrowResults(op);
    moveNarrow(op);
  }

  /// Narrows operands, and results as well unless only f32 is needed.
  void narrowContraction(PrecisionOpInterface op) {
    if (llvm::none_of(op->getOperands(), isF32))
      return;
    for (OpOperand &operand : op->getOpOperands())
      if (isF32(operand.get()) && op.acceptsOperandType(operand.getOperandNumber(), storage))
        operand.set(narrow(operand.get()));
    for (OpResult result : op->getResults())
      if (isF32(result) && givesNarrow(op, result.getResultNumber()))
        setNarrow(result);
    Type given = cast<RankedTensorType>(op->getResult(0).getType()).getElementType();
    remarkOn(op, "reads {0} and returns {1}, {2}", storage, given,
             given == storage ? "in which contractions lose little precision"
                              : "because its sums are stored in a variable");
  }

  /// Whether a result of a contraction is narrowed. Results that are written to variables, such as
  /// gradients, or returned from the function stay f32 where the operation permits it, since a
  /// second, narrow buffer would save nothing.
  bool givesNarrow(PrecisionOpInterface op, unsigned result) {
    if (!op.acceptsResultType(result, storage, storage))
      return false;
    auto users = op->getResult(result).getUsers();
    return !op.acceptsResultType(result, storage, Float32Type::get(storage.getContext())) ||
           (llvm::any_of(users, isComputation) && llvm::none_of(users, leaves));
  }

  /// Whether a user returns the value, or a view of it, from the function.
  static bool leaves(Operation *user) {
    return user->hasTrait<OpTrait::IsTerminator>() ||
           (user->hasTrait<mtc::View>() && llvm::any_of(user->getUsers(), leaves));
  }

  static bool isComputation(Operation *op) { return isa<PrecisionOpInterface>(op); }

  /// Whether some user of the value accepts narrow operands.
  static bool isReadNarrow(Value value) {
    return llvm::any_of(value.getUsers(), [](Operation *user) {
      auto classified = dyn_cast<PrecisionOpInterface>(user);
      return classified && classified.getPrecisionClass() != PrecisionClass::RangeSensitive;
    });
  }

  /// Narrows the result's type and inserts a cast to f32 for its users.
  void setNarrow(OpResult result) {
    result.setType(narrowed(result.getType()));
    OpBuilder builder(function.getContext());
    builder.setInsertionPointAfter(result.getOwner());
    auto wide = widen(builder, result);
    result.replaceAllUsesExcept(wide, wide);
  }

  /// Narrows f32 results of an elementwise operation, unless they are needed in f32 outside of
  /// computations.
  void narrowResults(Operation *op) {
    for (OpResult result : op->getResults()) {
      bool leaves = !llvm::all_of(result.getUsers(), isComputation);
      if (!isF32(result) || leaves || !isReadNarrow(result))
        continue;
      OpBuilder builder(function.getContext());
      builder.setInsertionPointAfter(op);
      auto stored = CastOp::create(builder, op->getLoc(), narrowed(result.getType()), result,
                                   /*storage=*/true);
      auto wide = widen(builder, stored);
      result.replaceAllUsesExcept(wide, stored);
      remarkOn(op, "is stored as {0}, like its operands", storage);
    }
  }

  /// Narrows operands and results of an operation without arithmetic, such as a transposition.
  void moveNarrow(Operation *op) {
    for (OpOperand &operand : op->getOpOperands())
      if (isF32(operand.get()))
        operand.set(narrow(operand.get()));
    for (NamedAttribute attribute : llvm::to_vector(op->getAttrs()))
      if (auto element = dyn_cast<FloatAttr>(attribute.getValue()))
        op->setAttr(attribute.getName(), FloatAttr::get(storage, element.getValueAsDouble()));
    for (OpResult result : op->getResults())
      if (isF32(result))
        setNarrow(result);
  }

  static bool isNarrow(Value value) {
    auto cast = value.getDefiningOp<CastOp>();
    return cast && cast.getStorage();
  }

  /// Returns the value in narrow storage.
  Value narrow(Value value) {
    if (isNarrow(value))
      return value.getDefiningOp<CastOp>().getInput();
    if (Value known = stored.lookup(value))
      return known;
    OpBuilder builder(function.getContext());
    builder.setInsertionPointAfterValue(value);
    Value result;
    if (Operation *op = value.getDefiningOp(); op && movesVariable(op)) {
      // Move the narrow value of a variable instead of casting the moved one.
      IRMapping operands;
      operands.map(op->getOperand(0), narrow(op->getOperand(0)));
      result = builder.clone(*op, operands)->getResult(0);
      result.setType(narrowed(value.getType()));
    } else {
      result = CastOp::create(builder, value.getLoc(), narrowed(value.getType()), value,
                              /*storage=*/true);
    }
    return stored[value] = result;
  }

  static bool movesVariable(Operation *op) {
    if (!op->hasTrait<mtc::View>() && !isa<TransposeOp>(op))
      return false;
    Operation *from = op->getOperand(0).getDefiningOp();
    return from && (isa<ReadOp>(from) || movesVariable(from));
  }

  CastOp widen(OpBuilder &builder, Value value) {
    auto type = cast<RankedTensorType>(value.getType()).clone(builder.getF32Type());
    return CastOp::create(builder, value.getLoc(), type, value, /*storage=*/true);
  }

  Type narrowed(Type type) { return cast<RankedTensorType>(type).clone(storage); }

  template <typename... Values>
  static void remarkOn(Operation *op, const char *text, const Values &...values) {
    remark::passed(op->getLoc(),
                   remark::RemarkOpts::name("precision").category("mtc-narrow-storage"))
        << remark::add("{0} {1}", op->getName().stripDialect(),
                       llvm::formatv(text, values...).str());
  }

  func::FuncOp function;
  FloatType storage; ///< The element type of narrow storage.
  llvm::function_ref<bool(Operation *)> keepsF32;
  DenseMap<Value, Value> stored; ///< Narrow versions of f32 values.
};

/// Nodes selected by the patterns of `keep-f32`.
class KeptNodes {
public:
  /// Reports an invalid pattern.
  LogicalResult add(StringRef text, Location location) {
    llvm::Expected<llvm::GlobPattern> pattern = llvm::GlobPattern::create(text);
    if (!pattern)
      return emitError(location) << "--keep-f32 " << text << ": "
                                 << llvm::toString(pattern.takeError());
    patterns.push_back({text.str(), std::move(*pattern)});
    return success();
  }

  bool contains(Operation *op) {
    std::string names = nodeNames(op->getLoc());
    StringRef name = names;
    if (name.consume_front("backward("))
      name.consume_back(")");
    bool found = false;
    for (Pattern &pattern : patterns)
      if (pattern.glob.match(name))
        found = pattern.isUsed = true;
    return found;
  }

  LogicalResult checkUsed(Location location) {
    LogicalResult result = success();
    for (const Pattern &pattern : patterns)
      if (!pattern.isUsed)
        result = emitError(location)
                 << "--keep-f32 " << pattern.text << ": no matching node computes";
    return result;
  }

private:
  struct Pattern {
    std::string text;
    llvm::GlobPattern glob;
    bool isUsed = false;
  };
  SmallVector<Pattern> patterns;
};

struct NarrowStoragePass
    : PassWithOptions<mtc::impl::NarrowStorageBase<NarrowStoragePass>, PrecisionOptions> {
  using PassWithOptions::PassWithOptions;

  void runOnOperation() override {
    FailureOr<PrecisionOptions> options = readOptions();
    if (failed(options))
      return signalPassFailure();
    Location location = getOperation().getLoc();
    const Precision precision = TargetInfo::of(getOperation()).getPrecision();
    if (!storesNarrow(precision)) {
      if (options->keepF32.empty())
        return;
      emitError(location) << "--keep-f32 " << options->keepF32.front()
                          << ": all nodes compute in f32";
      return signalPassFailure();
    }
    KeptNodes kept;
    for (StringRef text : options->keepF32)
      if (failed(kept.add(text, location)))
        return signalPassFailure();
    const FloatType storage = storageTypeOf(precision, &getContext());
    auto keepsF32 = [&](Operation *op) { return kept.contains(op); };
    for (auto function : getOperation().getOps<func::FuncOp>()) {
      if (!isScanBody(function))
        FunctionNarrower(function, storage, keepsF32).run();
      for (auto scan : function.front().getOps<ScanOp>())
        remark::missed(scan.getLoc(),
                       remark::RemarkOpts::name("f32-loop").category("mtc-narrow-storage"))
            << remark::add("the iterations of the loop compute in f32");
    }
    if (failed(kept.checkUsed(location)))
      signalPassFailure();
  }
};

} // namespace

std::unique_ptr<Pass> mtc::createNarrowStorage(const PrecisionOptions &options) {
  return std::make_unique<NarrowStoragePass>(options);
}

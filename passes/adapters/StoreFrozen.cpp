//===- StoreFrozen.cpp - 16-bit and NF4 storage of frozen matrices ----------------------------===//
//
// The runtime converts the matrices when it loads the weights file. No training step writes them,
// so values are rounded only once.
//
//===------------------------------------------------------------------------------------------===//

#include "ir/builders/TensorBuilder.h"
#include "ir/interfaces/TargetInfo.h"
#include "passes/Passes.h"
#include "passes/adapters/AdaptableUses.h"
#include "passes/adapters/FrozenStorage.h"

namespace mtc {
#define GEN_PASS_DEF_STOREFROZEN
#include "passes/Passes.h.inc"
} // namespace mtc

using namespace mlir;
using namespace mtc;

namespace {

struct StoreFrozenPass
    : PassWithOptions<mtc::impl::StoreFrozenBase<StoreFrozenPass>, FrozenStorageOptions> {
  using PassWithOptions::PassWithOptions;
  void runOnOperation() override;

private:
  void store(VariableOp variable);
  void readStored(func::FuncOp function, const AdaptableUses &users, StoredAttr as, ReadOp first);
  bool readByLibrary(const AdaptableUse &use, Value stored, StoredAttr as);

  Storage storage;
  TargetInfo target;
  int64_t matrices = 0, bytes = 0; ///< Of the matrices in the requested storage.
  SmallVector<std::string> inBf16; ///< Matrices that NF4 cannot hold, with the reason.
};

} // namespace

static SmallVector<ReadOp> readsOf(VariableOp variable, func::FuncOp function) {
  return llvm::to_vector(
      llvm::make_filter_range(function.front().getOps<ReadOp>(), [&](ReadOp read) {
        return read.getVariable() == variable.getSymName();
      }));
}

/// contract(x, w) => stored_contract(x, stored w). Returns false if the target's library has no
/// such kernel.
bool StoreFrozenPass::readByLibrary(const AdaptableUse &use, Value stored, StoredAttr as) {
  ContractOp contraction = use.contraction;
  OpBuilder builder(contraction);
  bool isFirst = use.operand == 0;
  int64_t axis = (isFirst ? contraction.getRhsContract() : contraction.getLhsContract()).front();
  int64_t matrixAxis = as.getTransposed() ? 1 - use.axis : use.axis;
  auto replacement = StoredContractOp::create(
      builder, contraction.getLoc(), contraction.getType(),
      isFirst ? contraction.getRhs() : contraction.getLhs(), stored,
      builder.getI64IntegerAttr(axis), builder.getI64IntegerAttr(matrixAxis),
      StorageAttr::get(&getContext(), as.getStorage()), TypeAttr::get(as.getStoredMatrix()),
      isFirst ? builder.getUnitAttr() : UnitAttr());
  if (target.getSupportLevel(replacement) == 0) {
    replacement.erase();
    return false;
  }
  replacement->setDiscardableAttrs(contraction->getDiscardableAttrDictionary());
  contraction.replaceAllUsesWith(replacement.getResult());
  contraction.erase();
  return true;
}

/// contract(x, w) => contract(x, widened w). Each contraction widens the matrix itself, so that the
/// widened copy is not live between contractions.
static void readWidened(const AdaptableUse &use, Value stored, StoredAttr as, bool isFirst) {
  ContractOp contraction = use.contraction;
  OpBuilder builder(contraction);
  TensorBuilder b(contraction.getLoc(), builder);
  Value read = stored;
  if (as.getStorage() == Storage::NF4)
    read = WidenStoredOp::create(b, as.getStoredMatrix(), stored);
  read = b.cast(read, getElementTypeOrSelf(contraction->getOperand(use.operand)));
  for (Value value = read; !isFirst && value != stored;) {
    Operation *op = value.getDefiningOp();
    op->setAttr(recomputedAttribute, builder.getUnitAttr());
    value = op->getOperand(0);
  }
  contraction->setOperand(use.operand, read);
  int64_t axis = as.getTransposed() ? 1 - use.axis : use.axis;
  use.operand == 0 ? contraction.setLhsContract({axis}) : contraction.setRhsContract({axis});
}

static void eraseUnused(Operation *op) {
  for (Operation *user : llvm::make_early_inc_range(op->getUsers()))
    if (isa<TransposeOp, CastOp>(user))
      eraseUnused(user);
  if (op->use_empty())
    op->erase();
}

/// Replaces all reads of the matrix by reads of its stored form. Users other than contractions read
/// a copy in f32.
void StoreFrozenPass::readStored(func::FuncOp function, const AdaptableUses &users, StoredAttr as,
                                 ReadOp first) {
  OpBuilder builder(first);
  TensorBuilder b(first.getLoc(), builder);
  Value stored = ReadOp::create(b, as.getStoredType(), first.getVariableAttr());
  for (auto [number, use] : llvm::enumerate(users.uses)) {
    // A contraction whose operands have the stored element type is faster as a plain contraction.
    ContractOp contraction = use.contraction;
    bool isAsStored = getElementTypeOrSelf(contraction->getOperand(use.operand)) ==
                      as.getStoredType().getElementType();
    if (isAsStored || !readByLibrary(use, stored, as))
      readWidened(use, stored, as, number == 0);
  }
  for (auto read : llvm::to_vector(function.front().getOps<ReadOp>())) {
    if (read.getVariable() != first.getVariable() || read.getResult() == stored || read == first)
      continue;
    read.replaceAllUsesWith(first.getResult());
    read.erase();
  }
  SmallVector<Operation *> others(first->getUsers());
  for (Operation *user : others)
    if (isa<TransposeOp, CastOp>(user))
      eraseUnused(user);
  if (!first.use_empty())
    first.replaceAllUsesWith(b.cast(stored, first.getType().getElementType()));
  first.erase();
}

void StoreFrozenPass::store(VariableOp variable) {
  auto functions = llvm::to_vector(getOperation().getOps<func::FuncOp>());
  std::optional<int64_t> summed; // The axis that the forward pass contracts.
  bool isRead = false;
  std::string reason;
  for (func::FuncOp function : functions) {
    if (readsOf(variable, function).empty())
      continue;
    isRead = true;
    AdaptableUses found = AdaptableUses::find(variable, function, /*throughCasts=*/true);
    if (!found.uses.empty() && !summed)
      summed = found.uses.front().axis;
    if (!found.reason.empty())
      reason = found.reason;
  }
  if (!isRead)
    return;
  Storage chosen = storage;
  if (storage == Storage::NF4 && !reason.empty()) {
    inBf16.push_back(("'" + variable.getSymName() + "' (" + reason + ")").str());
    chosen = Storage::BF16;
  }
  bool transposed = chosen == Storage::NF4 && *summed == 0;
  auto as = StoredAttr::get(&getContext(), chosen, variable.getTensorType(), variable.getInitial(),
                            transposed);
  for (func::FuncOp function : functions) {
    SmallVector<ReadOp> reads = readsOf(variable, function);
    if (reads.empty())
      continue;
    readStored(function, AdaptableUses::find(variable, function, /*throughCasts=*/true), as,
               reads.front());
  }
  variable.setInitialAttr(as);
  variable.setType(as.getStoredType());
  if (chosen != storage)
    return;
  ++matrices;
  bytes += byteSize(as.getStoredType());
}

void StoreFrozenPass::runOnOperation() {
  FailureOr<FrozenStorageOptions> options = readOptions();
  if (failed(options))
    return signalPassFailure();
  if (options->bits == 32)
    return;
  storage = options->bits == 16 ? Storage::BF16 : Storage::NF4;
  target = TargetInfo::of(getOperation());
  matrices = bytes = 0;
  inBf16.clear();
  for (auto adapter : getOperation().getOps<AdapterOp>())
    if (storage == Storage::NF4 && adapter.getMagnitude()) {
      adapter.emitError("--frozen-bits 4: '")
          << adapter.getBase() << "' has an adapter with dora, which needs the norms of the matrix "
          << "in each step; expected --frozen-bits 16 or 32, or --lora without dora";
      return signalPassFailure();
    }
  for (auto variable : llvm::to_vector(getOperation().getOps<VariableOp>()))
    if (variable.getRole() == Role::Frozen && variable.getTensorType().getRank() == 2 &&
        variable.getTensorType().getElementType().isF32())
      store(variable);
  Location everywhere = UnknownLoc::get(&getContext());
  if (matrices == 0 && inBf16.empty())
    emitWarning(everywhere, "--frozen-bits ")
        << options->bits << " has no effect: the program reads no frozen f32 matrix";
  if (matrices)
    emitRemark(everywhere, "frozen matrices stored in ")
        << options->bits << " bits: " << matrices << ", in " << bytes << " bytes";
  if (!inBf16.empty())
    emitRemark(everywhere, "frozen matrices stored in bf16: ") << llvm::join(inBf16, ", ");
}

std::unique_ptr<Pass> mtc::createStoreFrozen(const FrozenStorageOptions &options) {
  return std::make_unique<StoreFrozenPass>(options);
}

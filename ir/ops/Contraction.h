//===- Contraction.h - Contractions with and without epilogues --------------------------------===//
//
// Shared implementation of `mtc.contract` and `mtc.fused_contract`: verification, cost, layouts,
// call descriptions and tiling.
//
//===------------------------------------------------------------------------------------------===//

#ifndef MTC_IR_OPS_CONTRACTION_H
#define MTC_IR_OPS_CONTRACTION_H

#include "ir/Mtc.h"

namespace mtc {

/// Returns the stride of the given axes collapsed into one, in the given order, or nullopt if they
/// cannot be collapsed. Axes of extent 1 are ignored.
std::optional<int64_t> mergedStride(llvm::ArrayRef<int64_t> axes, llvm::ArrayRef<int64_t> shape,
                                    llvm::ArrayRef<int64_t> strides);

/// Returns `a` followed by `b`, axes or extents.
llvm::SmallVector<int64_t> joined(llvm::ArrayRef<int64_t> a, llvm::ArrayRef<int64_t> b);

/// The epilogue of `mtc.fused_contract`.
struct Epilogue {
  llvm::SmallVector<mlir::Value> addends = {};
  std::optional<Activation> activation = {};
  bool hasAuxiliary = false;
  mlir::Value preactivation = {};
  std::optional<Summed> summed = {};
};

/// A view of the operands and attributes that `mtc.contract` and `mtc.fused_contract` have in
/// common.
struct Contraction {
  template <typename Op>
  explicit Contraction(Op op)
      : op(op), lhs(op.getLhs()), rhs(op.getRhs()), addends(addendsOf(op)), type(op.getType()),
        lhsBatch(op.getLhsBatch()), rhsBatch(op.getRhsBatch()), lhsContract(op.getLhsContract()),
        rhsContract(op.getRhsContract()) {}

  llvm::SmallVector<int64_t> getLhsFree() const;
  llvm::SmallVector<int64_t> getRhsFree() const;
  /// Verifies contract_c1 to contract_c3.
  mlir::LogicalResult verify() const;
  /// Counts a multiplication and an addition per product, and an addition per element of an addend.
  Cost getCost() const;
  /// Returns true for floats of at most 32 bits; libraries do not support f64 and integers.
  bool isLibraryCall() const;

  /// Implement LibraryCallOpInterface and EpilogueOpInterface for lhs, rhs and addends.
  bool takesLayout(unsigned operand, llvm::ArrayRef<int64_t> strides) const;
  llvm::SmallVector<int64_t> getDenseOrder(unsigned operand) const;
  bool mayAccumulate(unsigned operand) const;
  /// Returns the addends and another one. Addends with the layout of the result are last, since
  /// only the last addend may be accumulated into in place.
  llvm::SmallVector<mlir::Value> appendAddend(mlir::Value value) const;
  /// Returns whether a value of this type may be an addend: it has the result's extents and an
  /// element type that may hold the sums.
  bool mayAdd(mlir::Type addend) const;
  /// Returns the description without activation and sums; see LibraryCallOpInterface::describeCall.
  MtcContraction describe(std::optional<unsigned> accumulated) const;
  /// Builds the same contraction with an epilogue.
  FusedContractOp buildFused(mlir::OpBuilder &builder, const Epilogue &epilogue) const;
  /// Implement TileableOpInterface: tiles of the result's rows, and tiles of the contracted axis
  /// whose partial sums are added.
  llvm::SmallVector<Tiles> getTiles(int64_t count) const;
  llvm::SmallVector<mlir::Value> buildTile(mlir::OpBuilder &builder, const Tiles &tiles,
                                           int64_t index, mlir::ValueRange operands,
                                           llvm::ArrayRef<mlir::Value> sums) const;
  /// Returns the tensor that a call must reduce to compute the sum of `value` over all axes but
  /// `kept`; nullopt if there is none.
  std::optional<Summed> findSummed(mlir::Value value, llvm::ArrayRef<int64_t> kept) const;
  /// Returns the type of the call's sums.
  mlir::RankedTensorType getSumsType(Summed summed) const;

  static mlir::OperandRange addendsOf(ContractOp op) { return op->getOperands().drop_front(2); }
  static mlir::OperandRange addendsOf(FusedContractOp op) { return op.getAddends(); }
  bool hasLayoutOfResult(mlir::Value addend) const;

  mlir::Operation *op;
  mlir::TypedValue<mlir::RankedTensorType> lhs, rhs;
  mlir::OperandRange addends;
  mlir::RankedTensorType type;
  llvm::ArrayRef<int64_t> lhsBatch, rhsBatch, lhsContract, rhsContract;
};

} // namespace mtc

#endif // MTC_IR_OPS_CONTRACTION_H

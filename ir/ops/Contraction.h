//===- Contraction.h - What contractions with and without epilogues share ---------------------===//

#ifndef MTC_IR_OPS_CONTRACTION_H
#define MTC_IR_OPS_CONTRACTION_H

#include "ir/Mtc.h"

namespace mtc {

/// The stride of axes seen as one, in the order given; nothing if they cannot be. Axes of extent 1
/// have no say.
std::optional<int64_t> mergedStride(llvm::ArrayRef<int64_t> axes, llvm::ArrayRef<int64_t> shape,
                                    llvm::ArrayRef<int64_t> strides);

/// What `mtc.fused_contract` has beyond `mtc.contract`.
struct Epilogue {
  llvm::SmallVector<mlir::Value> addends = {};
  std::optional<Activation> activation = {};
  bool hasAuxiliary = false;
  mlir::Value preactivation = {};
  std::optional<Summed> summed = {};
};

/// The part of `mtc.contract` that `mtc.fused_contract` has, too.
struct Contraction {
  template <typename Op>
  explicit Contraction(Op op)
      : op(op), lhs(op.getLhs()), rhs(op.getRhs()), addends(addendsOf(op)), type(op.getType()),
        lhsBatch(op.getLhsBatch()), rhsBatch(op.getRhsBatch()), lhsContract(op.getLhsContract()),
        rhsContract(op.getRhsContract()) {}

  llvm::SmallVector<int64_t> getLhsFree() const;
  llvm::SmallVector<int64_t> getRhsFree() const;
  /// contract_c1 to contract_c3.
  mlir::LogicalResult verify() const;
  /// A multiplication and an addition for each product, an addition for each addend's element.
  Cost getCost() const;
  /// Floats of 32 bits and less are a library's; it has no f64 and no integers.
  bool isLibraryCall() const;

  /// Of lhs, rhs and addends, as LibraryCallOpInterface asks it.
  bool takesLayout(unsigned operand, llvm::ArrayRef<int64_t> strides) const;
  llvm::SmallVector<int64_t> getDenseOrder(unsigned operand) const;
  bool mayAccumulate(unsigned operand) const;
  /// Whether a value may be added: of the result's extents, in a type that may hold the sums.
  bool mayAdd(mlir::Type addend) const;
  /// The contraction without activation and sums; see LibraryCallOpInterface::describeCall.
  MtcContraction describe(std::optional<unsigned> accumulated) const;
  /// The same contraction with an epilogue.
  FusedContractOp buildFused(mlir::OpBuilder &builder, const Epilogue &epilogue) const;
  /// As TileableOpInterface asks it: rows of the result, and rows of both operands whose terms are
  /// added up.
  llvm::SmallVector<Tiles> getTiles(int64_t count) const;
  llvm::SmallVector<mlir::Value> buildTile(mlir::OpBuilder &builder, const Tiles &tiles,
                                           int64_t index, mlir::ValueRange operands,
                                           llvm::ArrayRef<mlir::Value> sums) const;
  /// What a call sums that gives the sum of a value over all axes but `kept`, if any does.
  std::optional<Summed> findSummed(mlir::Value value, llvm::ArrayRef<int64_t> kept) const;
  /// The type of what a call sums.
  mlir::RankedTensorType getSumsType(Summed summed) const;

  static mlir::OperandRange addendsOf(ContractOp op) { return op->getOperands().drop_front(2); }
  static mlir::OperandRange addendsOf(FusedContractOp op) { return op.getAddends(); }

  mlir::Operation *op;
  mlir::TypedValue<mlir::RankedTensorType> lhs, rhs;
  mlir::OperandRange addends;
  mlir::RankedTensorType type;
  llvm::ArrayRef<int64_t> lhsBatch, rhsBatch, lhsContract, rhsContract;
};

} // namespace mtc

#endif // MTC_IR_OPS_CONTRACTION_H

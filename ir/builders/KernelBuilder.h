//===- KernelBuilder.h - Writing a kernel -----------------------------------------------------===//

#ifndef MTC_IR_BUILDERS_KERNELBUILDER_H
#define MTC_IR_BUILDERS_KERNELBUILDER_H

#include "ir/Mtc.h"
#include "ir/builders/Scalar.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace mtc {

/// Builds an `mtc.kernel` for operation `op` at the builder's insertion point. Operands of `op`
/// become the kernel's inputs, but for splat constants, which become scalars of the body; the
/// kernel's results have the types of `op`'s results.
class KernelBuilder {
public:
  /// `space`, `reduced` and `points` as `mtc.kernel` defines them. An empty space (a scalar)
  /// becomes [1]; dimensions of extent 1 are not reduced, since there is nothing to combine along
  /// them.
  KernelBuilder(mlir::OpBuilder &builder, mlir::Operation *op, mlir::ArrayRef<int64_t> space,
                mlir::ArrayRef<int64_t> reduced = {}, std::optional<int64_t> points = std::nullopt);

  /// Gives the kernel one more operand than the operation has, and its number.
  unsigned addConstant(mlir::ElementsAttr elements);

  /// Builds the body's scalars.
  mlir::ImplicitLocOpBuilder &body() { return bodyBuilder; }

  unsigned rank() const { return spaceExtents.size(); }
  mlir::ArrayRef<int64_t> space() const { return spaceExtents; }
  mlir::AffineExpr dim(unsigned i) { return bodyBuilder.getAffineDimExpr(i); }
  mlir::AffineExpr symbol(unsigned i) { return bodyBuilder.getAffineSymbolExpr(i); }
  mlir::AffineExpr number(int64_t value) { return bodyBuilder.getAffineConstantExpr(value); }

  /// An element of operand `operand` of the operation, at `index` (one expression for each of its
  /// axes, over the space's dims and as many symbols as given, which are i64 scalars).
  mlir::Value load(unsigned operand, mlir::ArrayRef<mlir::AffineExpr> index,
                   mlir::ValueRange symbols = {});
  /// The same where `guard` (i1) holds, `otherwise` elsewhere.
  mlir::Value loadIf(mlir::Value guard, mlir::Value otherwise, unsigned operand,
                     mlir::ArrayRef<mlir::AffineExpr> index, mlir::ValueRange symbols = {});
  /// An affine function of the point as an i64.
  mlir::Value index(mlir::AffineExpr expr);
  mlir::Value constant(int64_t value);
  /// Signless comparison of two i64 values.
  mlir::Value compare(mlir::arith::CmpIPredicate predicate, mlir::Value a, mlir::Value b);
  /// Whether `guard` holds (null: it does), and `expr` compares so with `bound`.
  mlir::Value require(mlir::Value guard, mlir::arith::CmpIPredicate predicate,
                      mlir::AffineExpr expr, int64_t bound);
  /// An index made valid for an axis of `extent`; widened to i64 first (`isUnsigned`: without
  /// sign).
  mlir::Value check(mlir::Value index, int64_t extent, bool isUnsigned = false);
  /// The value itself where no dimension is reduced.
  mlir::Value reduce(ReductionKind kind, mlir::Value value, bool isUnsigned = false);

  /// Ends the kernel: result i's element is at `indices[i]`. With symbols, values are added there,
  /// to zero or to operand `onto` of the operation.
  KernelOp yield(mlir::ValueRange values,
                 mlir::ArrayRef<mlir::SmallVector<mlir::AffineExpr>> indices,
                 mlir::ValueRange symbols = {}, std::optional<unsigned> onto = std::nullopt);

private:
  mlir::AffineMap map(mlir::ArrayRef<mlir::AffineExpr> index, unsigned symbolCount);

  mlir::SmallVector<int64_t> spaceExtents;
  KernelOp kernel;
  mlir::ImplicitLocOpBuilder bodyBuilder;
  /// For each operand of `op`: the body's argument, or the splat's scalar.
  mlir::SmallVector<mlir::Value> sources;
  mlir::SmallVector<bool> isSplat;
};

/// Puts the kernel that computes the operation in its place.
void replaceByKernel(FusibleOpInterface op);

/// Simplifies an affine map over dims that range over `space`: terms that cannot leave a divisor's
/// range lose their floordiv and mod.
mlir::AffineMap simplifyOverSpace(mlir::AffineMap map, mlir::ArrayRef<int64_t> space);

} // namespace mtc

#endif // MTC_IR_BUILDERS_KERNELBUILDER_H

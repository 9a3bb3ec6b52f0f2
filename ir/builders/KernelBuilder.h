//===- KernelBuilder.h - Builder for mtc.kernel -----------------------------------------------===//

#ifndef MTC_IR_BUILDERS_KERNELBUILDER_H
#define MTC_IR_BUILDERS_KERNELBUILDER_H

#include "ir/Mtc.h"
#include "ir/builders/Scalar.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace mtc {

/// Builds an `mtc.kernel` for operation `op` at the builder's insertion point. Operands of `op`
/// become the kernel's inputs, except splat constants, which become scalars of the body. The
/// kernel's results have the types of `op`'s results.
class KernelBuilder {
public:
  /// See `mtc.kernel` for `space`, `reduced` and `iterations`. An empty space (a scalar) becomes
  /// [1]. Dimensions of extent 1 are not reduced, since there is nothing to combine along them.
  KernelBuilder(mlir::OpBuilder &builder, mlir::Operation *op, mlir::ArrayRef<int64_t> space,
                mlir::ArrayRef<int64_t> reduced = {},
                std::optional<int64_t> iterations = std::nullopt);

  /// Adds a constant operand to the kernel and returns its operand number.
  unsigned addConstant(mlir::ElementsAttr elements);

  /// Returns the builder of the body's scalars.
  mlir::ImplicitLocOpBuilder &body() { return bodyBuilder; }

  unsigned rank() const { return spaceExtents.size(); }
  mlir::ArrayRef<int64_t> space() const { return spaceExtents; }
  mlir::AffineExpr dim(unsigned i) { return bodyBuilder.getAffineDimExpr(i); }
  mlir::AffineExpr symbol(unsigned i) { return bodyBuilder.getAffineSymbolExpr(i); }
  mlir::AffineExpr number(int64_t value) { return bodyBuilder.getAffineConstantExpr(value); }

  /// Loads an element of operand `operand` of the operation at `index`, which has one expression
  /// for each axis over the space's dimensions and the given symbols (i64 scalars).
  mlir::Value load(unsigned operand, mlir::ArrayRef<mlir::AffineExpr> index,
                   mlir::ValueRange symbols = {});
  /// Loads an element if `guard` (i1) is true; the value is `otherwise` if it is false.
  mlir::Value loadIf(mlir::Value guard, mlir::Value otherwise, unsigned operand,
                     mlir::ArrayRef<mlir::AffineExpr> index, mlir::ValueRange symbols = {});
  /// Adds the elements of the rows of operand `operand` to `onto`, multiplied by `decay` before
  /// each addition; both may be null. In `index`, symbol 0 is the number of a row.
  mlir::Value addRows(unsigned operand, mlir::ArrayRef<mlir::AffineExpr> index, mlir::Value onto,
                      mlir::Value decay);
  /// Returns an affine function of the iteration's indices as an i64.
  mlir::Value index(mlir::AffineExpr expr);
  mlir::Value constant(int64_t value);
  /// Signless comparison of two i64 values.
  mlir::Value compare(mlir::arith::CmpIPredicate predicate, mlir::Value a, mlir::Value b);
  /// Returns the conjunction of `guard` (null: true) and the comparison of `expr` with `bound`.
  mlir::Value require(mlir::Value guard, mlir::arith::CmpIPredicate predicate,
                      mlir::AffineExpr expr, int64_t bound);
  /// Extends `index` to i64 (zero-extends if `isUnsigned`), then normalizes and checks it for an
  /// axis of `extent`.
  mlir::Value check(mlir::Value index, int64_t extent, bool isUnsigned = false);
  /// Reduces a value; returns the value itself if no dimension is reduced.
  mlir::Value reduce(ReductionKind kind, mlir::Value value, bool isUnsigned = false);

  /// Ends the kernel: the element of result i is at `indices[i]`. With symbols, values are added to
  /// the elements there, which start as zero or as operand `onto` of the operation.
  KernelOp yield(mlir::ValueRange values,
                 mlir::ArrayRef<mlir::SmallVector<mlir::AffineExpr>> indices,
                 mlir::ValueRange symbols = {}, std::optional<unsigned> onto = std::nullopt);

private:
  mlir::AffineMap map(mlir::ArrayRef<mlir::AffineExpr> index, unsigned symbolCount);

  mlir::SmallVector<int64_t> spaceExtents;
  KernelOp kernel;
  mlir::ImplicitLocOpBuilder bodyBuilder;
  /// The body's argument or the splat's scalar for each operand of `op`.
  mlir::SmallVector<mlir::Value> sources;
  mlir::SmallVector<bool> isSplat;
};

/// Replaces the operation by the kernel that computes it.
void replaceByKernel(FusibleOpInterface op);

/// Simplifies an affine map over dimensions that range over `space`: floordiv and mod are removed
/// if their operand cannot leave the divisor's range.
mlir::AffineMap simplifyOverSpace(mlir::AffineMap map, mlir::ArrayRef<int64_t> space);

} // namespace mtc

#endif // MTC_IR_BUILDERS_KERNELBUILDER_H

//===- Mtc.h - The mtc dialect ----------------------------------------------------------------===//
//
// Declares the dialect's operations, types, attributes, interfaces and traits, and the types that
// interface methods use.
//
//===------------------------------------------------------------------------------------------===//

#ifndef MTC_IR_MTC_H
#define MTC_IR_MTC_H

#include "ir/TypeCode.h"
#include "ir/calls/CallRecord.h"

#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Interfaces/InferTypeOpInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

namespace mlir::func {
class FuncOp;
} // namespace mlir::func

namespace mtc {

class GradientBuilder;
class TensorBuilder;
class KernelOp;

/// The ranks of a collective: `count` ranks whose numbers differ by `stride`.
struct RankGroup {
  int64_t count = 1, stride = 1;

  bool operator==(const RankGroup &) const = default;
};

/// Arithmetic and memory traffic of an operation.
struct Cost {
  int64_t flops = 0;
  int64_t bytes = 0;
  int64_t functions = 0; ///< number of flops that are exponentials, logarithms and similar
};

/// The effect of storage in a type narrower than f32 on an operation: contractions keep their
/// accuracy with f32 accumulation, range-sensitive operations do not, and indifferent operations
/// propagate the precision of their operands.
enum class PrecisionClass { Contraction, RangeSensitive, Indifferent };

/// How a tiled operation uses an operand or computes a result: all tiles use the whole value, each
/// has its own tile (see findTile), or each adds to a sum.
enum class TileKind { Whole, Tile, Sum };

/// A way to compute an operation in `count` tiles without redundant computation.
struct Tiles {
  int64_t count = 0;
  mlir::SmallVector<TileKind> operands, results;
};

/// The shape of the kernel that computes an operation. `RowReduction` reduces trailing dimensions
/// of the space, `ColumnReduction` other dimensions; `Scatter` adds at computed indices; `Opaque`
/// operations are not lowered to a kernel.
enum class FusibleShape { Elementwise, RowReduction, ColumnReduction, Scatter, Opaque };

/// A strided layout of a tensor in dense memory: element i is at `offset + sum of i[a] *
/// strides[a]`, in elements.
struct StridedLayout {
  int64_t offset = 0;
  mlir::SmallVector<int64_t> strides;
};

/// An operation whose derivative is zero wherever it exists.
template <typename Op> class ZeroGradient : public mlir::OpTrait::TraitBase<Op, ZeroGradient> {};
/// An operation that must not be on a path from a parameter to the loss.
template <typename Op> class NoGradient : public mlir::OpTrait::TraitBase<Op, NoGradient> {};
/// An operation whose result aliases its first operand. Elements have the same order, except for
/// `mtc.strided_view`, which only library calls use.
template <typename Op> class View : public mlir::OpTrait::TraitBase<Op, View> {};
/// An operation on tensors whose last axis is the channel axis.
template <typename Op> class ChannelsLast : public mlir::OpTrait::TraitBase<Op, ChannelsLast> {};

namespace detail {
mlir::LogicalResult verifyPartialValues(mlir::Operation *op);
} // namespace detail

/// An operation whose partial operands and results (`#mtc.partial`) are verified: all of the
/// dialect.
template <typename Op> class VerifyPartial : public mlir::OpTrait::TraitBase<Op, VerifyPartial> {
public:
  static mlir::LogicalResult verifyTrait(mlir::Operation *op) {
    return detail::verifyPartialValues(op);
  }
};
/// An operation of whose result each element is an element of an operand.
template <typename Op> class MovesElements : public mlir::OpTrait::TraitBase<Op, MovesElements> {};
/// An operation whose result for sums of terms is the sum of its results for the terms.
template <typename Op> class Additive : public mlir::OpTrait::TraitBase<Op, Additive> {};
/// An operation that converts between whole and partial values.
template <typename Op>
class ConvertsPartial : public mlir::OpTrait::TraitBase<Op, ConvertsPartial> {};

/// A value, and the permutation with which `mtc.transpose` turns it into the original result.
struct TransposedResult {
  mlir::Value value;
  mlir::SmallVector<int64_t> permutation;
};

/// Returns the size of a dense tensor in bytes; i1 has one byte per element.
int64_t byteSize(mlir::RankedTensorType type);
int64_t elementBytes(mlir::Type element);
/// Returns the allocated size of a value of `bytes` bytes: rounded up to the arena's alignment
/// (64).
int64_t paddedBytes(int64_t bytes);

bool isUnsigned(mlir::Type element);
/// Returns whether a value of this type may have a cotangent: true for float tensors.
bool isDifferentiable(mlir::Type type);

namespace detail {
Cost defaultCost(mlir::Operation *op);
mlir::Operation *buildElementwiseKernel(mlir::Operation *op, mlir::OpBuilder &builder);
TransposedResult buildElementwiseOnTransposed(mlir::Operation *op, TensorBuilder &builder,
                                              unsigned operand);
} // namespace detail

} // namespace mtc

#include "ir/MtcDialect.h.inc"
#include "ir/MtcEnums.h.inc"

namespace mtc {

/// Operands and results of a library call: MtcType codes and, where the description determines
/// them, numbers of elements.
struct CallShapes {
  struct Shape {
    uint32_t type;
    std::optional<int64_t> elements;
    /// Number of elements from the first to the last, including those that strides skip.
    std::optional<int64_t> span = std::nullopt;
  };
  /// Returns the span of a tensor with these extents and strides.
  static int64_t spanOf(mlir::ArrayRef<int64_t> extents, mlir::ArrayRef<int64_t> strides);
  mlir::SmallVector<Shape> operands, results;
};

/// The m x k by k x n matrix multiplication to which the arithmetic of a library call is equal or
/// most similar.
struct MatrixProduct {
  int64_t m = 1, n = 1, k = 1;
  uint32_t type = 0;           ///< MtcType of the operands
  uint32_t productType = type; ///< MtcType to which operands are converted before the product
  uint32_t storage = 0;        ///< MtcStorage of a compressed operand
  bool isExact = false;        ///< f32 operands are not rounded, whatever the precision of the step
  /// The multiplications of which each depends on the one before, through an elementwise function
  /// of its result; 0 if they are independent.
  int64_t inSequence = 0;
};

/// The algorithm of a call on a target; none if it reads the operands as stored.
struct ChosenAlgorithm {
  std::optional<CallAlgorithm> algorithm = std::nullopt;
  double speedup = 1; ///< over reading the operands as stored
};

} // namespace mtc

#include "ir/MtcCallInterfaces.h.inc"

#include "ir/MtcAttributeInterfaces.h.inc"

#define GET_TYPEDEF_CLASSES
#include "ir/MtcTypes.h.inc"

#define GET_ATTRDEF_CLASSES
#include "ir/MtcAttributes.h.inc"

namespace mtc {

/// Returns the strides, in elements, of an operand of a library call in its slice of memory.
mlir::SmallVector<int64_t> stridesOf(mlir::Value value);

} // namespace mtc

#include "ir/MtcInterfaces.h.inc"

#define GET_OP_CLASSES
#include "ir/MtcOps.h.inc"

#endif // MTC_IR_MTC_H

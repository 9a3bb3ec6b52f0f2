//===- Mtc.h - The mtc dialect ----------------------------------------------------------------===//

#ifndef MTC_IR_MTC_H
#define MTC_IR_MTC_H

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

namespace mtc {

class GradientBuilder;
class TensorBuilder;
class KernelOp;

/// Arithmetic and memory traffic of an operation.
struct Cost {
  int64_t flops = 0;
  int64_t bytes = 0;
  int64_t functions = 0; ///< of the flops, those that are exponentials, logarithms and the like
};

/// What a narrower storage type does to an operation: contractions keep their accuracy with f32
/// accumulation, range-sensitive operations do not, the others pass through what they are given.
enum class PrecisionClass { Contraction, RangeSensitive, Indifferent };

/// What a contraction with narrow operands gives: what it reads, f32, or either.
enum class ResultStorage { Narrow, Wide, Either };

/// How an operation takes or gives a value where it is computed tile by tile: the same whole
/// value for each tile, the tile itself (see findTile), or a sum that each tile adds to.
enum class TileKind { Whole, Tile, Sum };

/// A way of computing an operation in `count` tiles, of which each adds nothing to what the
/// operation computes.
struct Tiles {
  int64_t count = 0;
  mlir::SmallVector<TileKind> operands, results;
};

/// The shape of the kernel that computes an operation. `Row` reduces trailing dimensions of the
/// space, `Column` others; `Scatter` adds at computed indices; `Opaque` is no kernel.
enum class FusibleShape { Elementwise, RowReduction, ColumnReduction, Scatter, Opaque };

/// Elements of dense memory as a tensor reads them: element i is number `offset + sum of i[a] *
/// strides[a]`.
struct StridedLayout {
  int64_t offset = 0;
  mlir::SmallVector<int64_t> strides;
};

/// An operation whose derivative is zero wherever it exists.
template <typename Op> class ZeroGradient : public mlir::OpTrait::TraitBase<Op, ZeroGradient> {};
/// An operation that must not lie between a parameter and the loss.
template <typename Op> class NoGradient : public mlir::OpTrait::TraitBase<Op, NoGradient> {};
/// An operation whose result's bytes are its first operand's, in their order but for
/// `mtc.strided_view`, which library calls alone read.
template <typename Op> class View : public mlir::OpTrait::TraitBase<Op, View> {};
/// An operation on tensors with channels as their last axis.
template <typename Op> class ChannelsLast : public mlir::OpTrait::TraitBase<Op, ChannelsLast> {};

/// A value, and the permutation by which `mtc.transpose` makes another one of it.
struct TransposedResult {
  mlir::Value value;
  mlir::SmallVector<int64_t> permutation;
};

/// Bytes of a dense tensor as it lies in memory; i1 takes a byte.
int64_t byteSize(mlir::RankedTensorType type);
int64_t elementBytes(mlir::Type element);
/// The bytes that a value of this size takes in the arena: a multiple of the alignment (64).
int64_t paddedBytes(int64_t bytes);

bool isUnsigned(mlir::Type element);
/// True for float tensors: those that a cotangent exists for.
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

/// What a library call is given: element types, as MtcType, and numbers of elements, where its
/// description says them.
struct CallShapes {
  struct Shape {
    uint32_t type;
    std::optional<int64_t> elements;
    /// From the first element to the last, where strides may leave others out in between.
    std::optional<int64_t> span = std::nullopt;
  };
  /// The span of a tensor of these extents and strides.
  static int64_t spanOf(mlir::ArrayRef<int64_t> extents, mlir::ArrayRef<int64_t> strides);
  mlir::SmallVector<Shape> operands, results;
};

/// The arithmetic of a library call as the products of an m x k and a k x n matrix that it is, or
/// is most like.
struct MatrixProduct {
  int64_t m = 1, n = 1, k = 1;
  uint32_t type = 0;    ///< MtcType of the operands
  uint32_t storage = 0; ///< MtcStorage, where one is stored otherwise
  bool isInF32 = false; ///< operands of 16 bits are converted before they are multiplied
};

} // namespace mtc

#include "ir/MtcCallInterfaces.h.inc"

#include "ir/MtcAttributeInterfaces.h.inc"

#define GET_TYPEDEF_CLASSES
#include "ir/MtcTypes.h.inc"

#define GET_ATTRDEF_CLASSES
#include "ir/MtcAttributes.h.inc"

namespace mtc {

/// How an operand of a library call lies in its slice of memory.
mlir::SmallVector<int64_t> stridesOf(mlir::Value value);

} // namespace mtc

#include "ir/MtcInterfaces.h.inc"

#define GET_OP_CLASSES
#include "ir/MtcOps.h.inc"

#endif // MTC_IR_MTC_H

//===- Node.h - Reading a node: operands, attributes, constant operands -----------------------===//
//
// What the operators' records read an `onnx.node` through. Their functions are short because
// problems stick: a getter that finds a wrong attribute reports it once, at the node, and returns a
// harmless value; the function asks `failed()` before it uses what it read as an index.
//
//   LogicalResult inferGather(Inference &node) {
//     int64_t axis = node.axis("axis", 0, node.rank(0));
//     if (node.failed())
//       return failure();
//     ...
//   }
//
//===------------------------------------------------------------------------------------------===//

#ifndef MTC_FRONTEND_DIALECT_NODE_H
#define MTC_FRONTEND_DIALECT_NODE_H

#include "frontend/dialect/Onnx.h"
#include "frontend/dialect/Tensor.h"

#include <functional>
#include <optional>

namespace mtc::onnx {

/// The name that the model gives an operation: of its location's name, empty where there is none.
llvm::StringRef nodeName(mlir::Operation *op);

/// The names of the graph's inputs whose data a value is computed from.
llvm::SmallVector<std::string> dataSources(mlir::Value value);

/// A read-only view of one node. Operands are static ranked tensors once types are inferred.
/// Getters that return references into the node live as long as the node.
class NodeView {
public:
  /// Where a value's constant is found; by default its defining `onnx.constant`.
  using ConstantLookup = std::function<std::optional<Tensor>(mlir::Value)>;

  explicit NodeView(NodeOp op, ConstantLookup lookup = {}) : node(op), lookup(std::move(lookup)) {}
  NodeView(const NodeView &) = delete;
  NodeView &operator=(const NodeView &) = delete;

  //===--- Which node -------------------------------------------------------------------------===//

  NodeOp op() const { return node; }
  llvm::StringRef opType() const { return node.getOpType(); }
  int64_t version() const { return static_cast<int64_t>(node.getVersion()); }
  llvm::StringRef domain() const { return node.getDomain().value_or(""); }
  mlir::Location location() const { return node->getLoc(); }
  mlir::MLIRContext *context() const { return node->getContext(); }

  //===--- Operands ---------------------------------------------------------------------------===//

  /// Operands written in the node, omitted ones in their middle included.
  size_t operandCount() const { return node.getInputs().size(); }
  /// Whether operand `i` is there: not past the end and not left out.
  bool has(size_t i) const;
  mlir::Value operand(size_t i) const { return node.getInputs()[i]; }
  /// The type of operand `i`, which `has(i)` and is ranked.
  mlir::RankedTensorType type(size_t i) const;
  llvm::ArrayRef<int64_t> shape(size_t i) const { return type(i).getShape(); }
  int64_t rank(size_t i) const { return type(i).getRank(); }
  int64_t dim(size_t i, int64_t axis) const { return type(i).getDimSize(axis); }
  mlir::Type elementType(size_t i) const { return type(i).getElementType(); }
  /// For messages: `operand 1 (indices)`, with the standard's name where the operator is known.
  std::string operandName(size_t i) const;

  //===--- Checks that report -----------------------------------------------------------------===//

  /// Operands `i` and `j` have the same element type.
  bool sameElementType(size_t i, size_t j);
  bool floatElements(size_t i);
  /// Integers, not booleans.
  bool integerElements(size_t i);
  bool booleanElements(size_t i);
  bool hasRank(size_t i, int64_t minimum, int64_t maximum = INT64_MAX);
  /// Operand `i` has this shape, or is left out.
  bool hasShape(size_t i, llvm::ArrayRef<int64_t> expected);
  /// Operand `i` holds one value, or is left out.
  bool hasOneElement(size_t i);

  //===--- Constant operands ------------------------------------------------------------------===//

  /// The value of operand `i` if it is there and known at compile time.
  std::optional<Tensor> constant(size_t i) const;
  /// The same as integers in row-major order (of an integer or boolean tensor of at most
  /// `maxFoldedElements`).
  std::optional<llvm::SmallVector<int64_t>> constantInts(size_t i) const;
  /// The same as floats, of any element type.
  std::optional<llvm::SmallVector<double>> constantFloats(size_t i) const;
  /// Integers that older versions write as attribute `name` and newer ones as operand `i`. Nothing
  /// where neither is there; failure, reported, where the operand is not constant or the attribute
  /// not a list.
  mlir::FailureOr<std::optional<llvm::SmallVector<int64_t>>>
  intsOperandOrAttribute(size_t i, llvm::StringRef name);

  //===--- Results ----------------------------------------------------------------------------===//

  size_t resultCount() const { return node.getOutputs().size(); }
  /// Whether the model names result `i`.
  bool wants(size_t i) const;

  //===--- Attributes -------------------------------------------------------------------------===//

  bool hasAttribute(llvm::StringRef name) const { return bool(attribute(name)); }
  /// An attribute of kind GRAPH; null where absent.
  mlir::Region *graph(llvm::StringRef name) const { return node.getGraph(name); }
  mlir::Attribute attribute(llvm::StringRef name) const;
  /// Without default: the attribute is required.
  int64_t integer(llvm::StringRef name, std::optional<int64_t> byDefault = std::nullopt);
  /// An INT that is 0 or 1.
  bool flag(llvm::StringRef name, bool byDefault);
  double floating(llvm::StringRef name, std::optional<double> byDefault = std::nullopt);
  llvm::StringRef string(llvm::StringRef name, llvm::StringRef byDefault);
  llvm::SmallVector<llvm::StringRef> strings(llvm::StringRef name,
                                             llvm::ArrayRef<llvm::StringRef> byDefault);
  /// A string out of `allowed`; anything else is reported with the list.
  llvm::StringRef choice(llvm::StringRef name, llvm::StringRef byDefault,
                         llvm::ArrayRef<llvm::StringRef> allowed);
  llvm::SmallVector<int64_t> integers(llvm::StringRef name, llvm::ArrayRef<int64_t> byDefault);
  /// Nothing where the attribute is absent.
  std::optional<llvm::SmallVector<int64_t>> integersOr(llvm::StringRef name);
  llvm::SmallVector<double> floats(llvm::StringRef name, llvm::ArrayRef<double> byDefault);
  /// A TENSOR attribute; null where absent.
  mlir::ElementsAttr elements(llvm::StringRef name);
  /// An INT in [-rank, rank), normalized to [0, rank).
  int64_t axis(llvm::StringRef name, std::optional<int64_t> byDefault, int64_t rank);
  /// An INTS attribute of distinct axes, normalized; nothing where absent.
  std::optional<llvm::SmallVector<int64_t>> axes(llvm::StringRef name, int64_t rank);
  /// The element type that an INT attribute such as `to` or `dtype` names by its
  /// `TensorProto.DataType`; `byDefault` where absent (null: required).
  mlir::Type elementTypeOf(llvm::StringRef name, mlir::Type byDefault = {});

  //===--- Axes -------------------------------------------------------------------------------===//

  /// `value` in [-rank, rank) as [0, rank). `what` names where it was found: "attribute axis".
  int64_t normalized(int64_t value, int64_t rank, const llvm::Twine &what);
  /// Distinct axes in the order given.
  llvm::SmallVector<int64_t> normalizedAxes(llvm::ArrayRef<int64_t> values, int64_t rank,
                                            const llvm::Twine &what);

  //===--- Problems ---------------------------------------------------------------------------===//

  /// Reports the node's first problem: `Gather version 13: <reason>`, at its location; later ones
  /// are not reported.
  mlir::LogicalResult failure(const llvm::Twine &reason);
  bool failed() const { return hasFailed; }
  /// Reports that operand `i` must be known at compile time, the inputs it depends on, and the flag
  /// that helps.
  mlir::LogicalResult needsConstant(size_t i);

private:
  mutable NodeOp node; ///< MLIR's accessors are not const.
  ConstantLookup lookup;
  bool hasFailed = false;
};

} // namespace mtc::onnx

#endif // MTC_FRONTEND_DIALECT_NODE_H

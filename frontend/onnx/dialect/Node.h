//===- Node.h - Access to a node's operands, attributes and results ---------------------------===//
//
// NodeView is the interface through which operator definitions read an `onnx.node`. Errors are
// sticky: a getter that finds an invalid attribute reports it once, at the node, and returns a
// harmless value. A caller must check `failed()` before it uses a returned value as an index.
//
//   LogicalResult inferGather(Inference &node) {
//     int64_t axis = node.axis("axis", 0, node.rank(0));
//     if (node.failed())
//       return failure();
//     ...
//   }
//
//===------------------------------------------------------------------------------------------===//

#ifndef MTC_FRONTEND_ONNX_DIALECT_NODE_H
#define MTC_FRONTEND_ONNX_DIALECT_NODE_H

#include "frontend/onnx/dialect/Onnx.h"
#include "frontend/onnx/dialect/Tensor.h"

#include <functional>
#include <optional>

namespace mtc::onnx {

/// Returns the name that the model gives an operation: the name in its location, or an empty
/// string.
llvm::StringRef nodeName(mlir::Operation *op);

/// Returns the names of the graph inputs on whose data a value depends.
llvm::SmallVector<std::string> dataSources(mlir::Value value);

/// A read-only view of one node. Operands are static ranked tensors once types are inferred.
/// References returned by getters are valid as long as the node.
class NodeView {
public:
  /// Returns the constant value of an SSA value, if known. The default looks for a defining
  /// `onnx.constant`.
  using ConstantLookup = std::function<std::optional<Tensor>(mlir::Value)>;

  explicit NodeView(NodeOp op, ConstantLookup lookup = {}) : node(op), lookup(std::move(lookup)) {}
  NodeView(const NodeView &) = delete;
  NodeView &operator=(const NodeView &) = delete;

  //===--- Identity ---------------------------------------------------------------------------===//

  NodeOp op() const { return node; }
  llvm::StringRef opType() const { return node.getOpType(); }
  int64_t version() const { return static_cast<int64_t>(node.getVersion()); }
  llvm::StringRef domain() const { return node.getDomain().value_or(""); }
  mlir::Location location() const { return node->getLoc(); }
  mlir::MLIRContext *context() const { return node->getContext(); }

  //===--- Operands ---------------------------------------------------------------------------===//

  /// Returns the number of operands, including omitted operands (`none`) but not omitted trailing
  /// ones.
  size_t operandCount() const { return node.getInputs().size(); }
  /// Returns whether operand `i` is present: in range and not `none`.
  bool has(size_t i) const;
  mlir::Value operand(size_t i) const { return node.getInputs()[i]; }
  /// Returns the type of operand `i`, which must be present and ranked.
  mlir::RankedTensorType type(size_t i) const;
  llvm::ArrayRef<int64_t> shape(size_t i) const { return type(i).getShape(); }
  int64_t rank(size_t i) const { return type(i).getRank(); }
  int64_t dim(size_t i, int64_t axis) const { return type(i).getDimSize(axis); }
  mlir::Type elementType(size_t i) const { return type(i).getElementType(); }
  /// Returns the operand's name for messages, such as `operand 1 (indices)`; the standard's name is
  /// included if the operator has a schema.
  std::string operandName(size_t i) const;

  //===--- Checks that report errors ----------------------------------------------------------===//

  /// Checks that operands `i` and `j` have the same element type.
  bool sameElementType(size_t i, size_t j);
  bool floatElements(size_t i);
  /// Checks that operand `i` has an integer element type other than i1.
  bool integerElements(size_t i);
  bool booleanElements(size_t i);
  bool hasRank(size_t i, int64_t minimum, int64_t maximum = INT64_MAX);
  /// Checks that operand `i` has this shape or is omitted.
  bool hasShape(size_t i, llvm::ArrayRef<int64_t> expected);
  /// Checks that operand `i` holds one element or is omitted.
  bool hasOneElement(size_t i);

  //===--- Constant operands ------------------------------------------------------------------===//

  /// Returns the value of operand `i` if it is present and known at compile time.
  std::optional<Tensor> constant(size_t i) const;
  /// Returns the same value, which may be repeated.
  std::optional<Tensor> storedConstant(size_t i) const;
  /// Returns the constant integers or booleans of operand `i` in row-major order; nullopt if the
  /// operand is not constant, has another element type or more than `maxFoldedElements` elements.
  std::optional<llvm::SmallVector<int64_t>> constantInts(size_t i) const;
  /// Returns the constant elements of operand `i`, of any element type, converted to double.
  std::optional<llvm::SmallVector<double>> constantFloats(size_t i) const;
  /// Returns integers that older versions store in the attribute `name` and newer ones in operand
  /// `i`. Returns nullopt if neither is present. Reports an error if the operand is not constant or
  /// the attribute is not a list of integers.
  mlir::FailureOr<std::optional<llvm::SmallVector<int64_t>>>
  intsOperandOrAttribute(size_t i, llvm::StringRef name);

  //===--- Results ----------------------------------------------------------------------------===//

  size_t resultCount() const { return node.getOutputs().size(); }
  /// Returns whether result `i` is present in the model.
  bool wants(size_t i) const;

  //===--- Attributes -------------------------------------------------------------------------===//

  bool hasAttribute(llvm::StringRef name) const { return bool(attribute(name)); }
  /// Returns the attribute of kind GRAPH, or null if it is absent.
  mlir::Region *graph(llvm::StringRef name) const { return node.getGraph(name); }
  mlir::Attribute attribute(llvm::StringRef name) const;
  /// Returns an INT attribute. Without a default, the attribute is required.
  int64_t integer(llvm::StringRef name, std::optional<int64_t> byDefault = std::nullopt);
  /// Returns an INT attribute that must be 0 or 1.
  bool flag(llvm::StringRef name, bool byDefault);
  double floating(llvm::StringRef name, std::optional<double> byDefault = std::nullopt);
  llvm::StringRef string(llvm::StringRef name, llvm::StringRef byDefault);
  llvm::SmallVector<llvm::StringRef> strings(llvm::StringRef name,
                                             llvm::ArrayRef<llvm::StringRef> byDefault);
  /// Returns a STRING attribute that must be one of `allowed`; the error message lists them.
  llvm::StringRef choice(llvm::StringRef name, llvm::StringRef byDefault,
                         llvm::ArrayRef<llvm::StringRef> allowed);
  llvm::SmallVector<int64_t> integers(llvm::StringRef name, llvm::ArrayRef<int64_t> byDefault);
  /// Returns an INTS attribute, or nullopt if it is absent.
  std::optional<llvm::SmallVector<int64_t>> integersOr(llvm::StringRef name);
  llvm::SmallVector<double> floats(llvm::StringRef name, llvm::ArrayRef<double> byDefault);
  /// Returns a TENSOR attribute, or null if it is absent.
  mlir::ElementsAttr elements(llvm::StringRef name);
  /// Returns an INT attribute in [-rank, rank), normalized to [0, rank).
  int64_t axis(llvm::StringRef name, std::optional<int64_t> byDefault, int64_t rank);
  /// Returns an INTS attribute of distinct axes, normalized to [0, rank), or nullopt if it is
  /// absent.
  std::optional<llvm::SmallVector<int64_t>> axes(llvm::StringRef name, int64_t rank);
  /// Returns the element type for an INT attribute such as `to` or `dtype`, whose value is a
  /// `TensorProto.DataType`. Returns `byDefault` if the attribute is absent; it is required if
  /// `byDefault` is null.
  mlir::Type elementTypeOf(llvm::StringRef name, mlir::Type byDefault = {});

  //===--- Axes -------------------------------------------------------------------------------===//

  /// Normalizes `value` in [-rank, rank) to [0, rank). `what` is the source of the value in the
  /// error message, such as "attribute axis".
  int64_t normalized(int64_t value, int64_t rank, const llvm::Twine &what);
  /// Normalizes axes, which must be distinct, and keeps their order.
  llvm::SmallVector<int64_t> normalizedAxes(llvm::ArrayRef<int64_t> values, int64_t rank,
                                            const llvm::Twine &what);

  //===--- Errors -----------------------------------------------------------------------------===//

  /// Reports the node's first error at its location, as `Gather version 13: <reason>`. Later errors
  /// are not reported.
  mlir::LogicalResult failure(const llvm::Twine &reason);
  bool failed() const { return hasFailed; }
  /// Reports that operand `i` must be known at compile time, with the graph inputs that it depends
  /// on and the flag that binds them.
  mlir::LogicalResult needsConstant(size_t i);

private:
  mutable NodeOp node; ///< Mutable because MLIR's accessors are not const.
  ConstantLookup lookup;
  bool hasFailed = false;
};

} // namespace mtc::onnx

#endif // MTC_FRONTEND_ONNX_DIALECT_NODE_H

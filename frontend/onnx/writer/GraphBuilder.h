//===- GraphBuilder.h - Builder of ONNX graphs ------------------------------------------------===//
//
// Builds nodes of the default domain, opset 18. Equal nodes are built once, transposes and reshapes
// are composed, and nodes that no output needs are erased at the end.
//
//===------------------------------------------------------------------------------------------===//

#ifndef MTC_FRONTEND_ONNX_WRITER_GRAPHBUILDER_H
#define MTC_FRONTEND_ONNX_WRITER_GRAPHBUILDER_H

#include "frontend/onnx/dialect/Tensor.h"

#include "mlir/IR/Value.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSet.h"

#include <string>
#include <variant>

namespace onnx {
class GraphProto;
class NodeProto;
} // namespace onnx

namespace mtc::onnx {

/// The opset that the nodes belong to, and the IR version of its release. It is the first opset in
/// which ScatterElements sums duplicate indices and all reductions have their axes as operands.
inline constexpr int64_t writtenOpset = 18, writtenIrVersion = 8, nodeMetadataIrVersion = 10;

/// A value of the graph under construction.
struct GraphValue {
  std::string name;
  mlir::RankedTensorType type;

  llvm::ArrayRef<int64_t> shape() const { return type.getShape(); }
  int64_t rank() const { return type.getRank(); }
  mlir::Type element() const { return type.getElementType(); }
};

struct GraphAttribute {
  llvm::StringRef name;
  std::variant<int64_t, llvm::SmallVector<int64_t>, std::string> value;
};

class GraphBuilder {
public:
  GraphBuilder(::onnx::GraphProto &graph, mlir::MLIRContext *context)
      : graph(graph), context(context) {}

  /// Names the nodes that are built from here on; "" uses their operators.
  void setName(std::string name) { nodeName = std::move(name); }
  /// Reserves the name of an input, initializer or output. Returns false if the name is already in
  /// use.
  bool reserve(llvm::StringRef name) { return names.insert(name).second; }

  /// Defines the value of the function. `compact` broadcasts to the value and is an operand of
  /// operators that broadcast.
  void define(mlir::Value value, const GraphValue &full);
  void define(mlir::Value value, const GraphValue &full, const GraphValue &compact);
  GraphValue get(mlir::Value value) const { return full.at(value); }
  /// Returns the values as operands of an operator that broadcasts them to their common shape.
  llvm::SmallVector<GraphValue> getOperands(mlir::ValueRange values) const;

  /// Builds a node with one result or several.
  GraphValue node(llvm::StringRef op, llvm::ArrayRef<GraphValue> operands,
                  mlir::RankedTensorType type,
                  std::initializer_list<GraphAttribute> attributes = {});
  llvm::SmallVector<GraphValue> nodes(llvm::StringRef op, llvm::ArrayRef<GraphValue> operands,
                                      llvm::ArrayRef<mlir::RankedTensorType> types,
                                      std::initializer_list<GraphAttribute> attributes = {});
  /// Builds a node whose result has the operand's type.
  GraphValue same(llvm::StringRef op, llvm::ArrayRef<GraphValue> operands,
                  std::initializer_list<GraphAttribute> attributes = {}) {
    return node(op, operands, operands.front().type, attributes);
  }

  /// Builds an Identity that `mtc grad` does not differentiate. Metadata of nodes needs IR version
  /// 10.
  GraphValue detached(const GraphValue &x);

  // Constants, which are Constant nodes: initializers would look like parameters.
  GraphValue constant(const Tensor &tensor);
  /// Builds a scalar, which broadcasts to every shape.
  GraphValue scalar(mlir::Type element, double value);
  GraphValue integers(llvm::ArrayRef<int64_t> values);

  // Conversion and data movement; each returns the value itself if there is nothing to do.
  GraphValue cast(const GraphValue &x, mlir::Type element);
  GraphValue reshape(const GraphValue &x, llvm::ArrayRef<int64_t> shape);
  GraphValue transpose(const GraphValue &x, llvm::ArrayRef<int64_t> permutation);
  /// Returns the operand of the Transpose that defines the value, and its permutation; without a
  /// Transpose, the value itself.
  std::pair<GraphValue, llvm::SmallVector<int64_t>> withoutTranspose(const GraphValue &x) const;
  GraphValue expand(const GraphValue &x, llvm::ArrayRef<int64_t> shape);
  /// Builds the elements offset + i * stride along each axis, as many as `shape` has.
  GraphValue slice(const GraphValue &x, llvm::ArrayRef<int64_t> offsets,
                   llvm::ArrayRef<int64_t> strides, llvm::ArrayRef<int64_t> shape);
  /// Pads with `value`, a scalar of the element type.
  GraphValue pad(const GraphValue &x, llvm::ArrayRef<int64_t> low, llvm::ArrayRef<int64_t> high,
                 const GraphValue &value);

  /// Adds `updates` to a tensor, or to zeros of the type without it, at indices along an axis. The
  /// updates have the extents of the tensor except along the axis; the indices broadcast to them
  /// and have extents of 1 after the axis.
  GraphValue scatterAdd(std::optional<GraphValue> onto, mlir::RankedTensorType type,
                        const GraphValue &indices, const GraphValue &updates, int64_t axis);

  mlir::RankedTensorType typeOf(llvm::ArrayRef<int64_t> shape, mlir::Type element) const {
    return mlir::RankedTensorType::get(shape, element);
  }
  mlir::MLIRContext *getContext() const { return context; }

  /// Gives the value the reserved name of an output.
  void setOutput(const GraphValue &value, llvm::StringRef output);
  /// Erases the nodes that no output needs, and returns the names that the others read.
  llvm::StringSet<> eraseDead();

private:
  /// Returns the name, with a number if it is taken. A node has the name of its first result.
  std::string makeUnique(llvm::StringRef name);
  /// Adds a node and its results, unless an equal node exists.
  llvm::SmallVector<GraphValue> buildOnce(::onnx::NodeProto node,
                                          llvm::ArrayRef<mlir::RankedTensorType> types,
                                          llvm::StringRef name);

  /// A transpose or reshape that has been built.
  struct Source {
    GraphValue value;
    llvm::SmallVector<int64_t> permutation;
  };

  ::onnx::GraphProto &graph;
  mlir::MLIRContext *context;
  std::string nodeName;
  llvm::StringSet<> names;
  llvm::StringMap<unsigned> counts;
  llvm::DenseMap<mlir::Value, GraphValue> full, compact;
  /// Results of nodes by a key of their operator, operands and attributes.
  llvm::StringMap<llvm::SmallVector<GraphValue>> built;
  llvm::StringMap<Source> transposed, reshaped;
};

} // namespace mtc::onnx

#endif // MTC_FRONTEND_ONNX_WRITER_GRAPHBUILDER_H

//===- NodeImporter.h - Import of nodes with inlining of functions ----------------------------===//

#ifndef MTC_FRONTEND_ONNX_READER_NODEIMPORTER_H
#define MTC_FRONTEND_ONNX_READER_NODEIMPORTER_H

#include "frontend/onnx/dialect/Onnx.h"
#include "frontend/onnx/reader/Attributes.h"
#include "frontend/onnx/reader/ExporterMetadata.h"
#include "frontend/onnx/reader/Functions.h"
#include "frontend/onnx/reader/Model.h"

#include "mlir/IR/Builders.h"
#include "llvm/ADT/BitVector.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSet.h"

namespace onnx {
class GraphProto;
class TensorProto;
} // namespace onnx

namespace mtc::onnx {

/// Imports the nodes of a graph that passed `checkGraph` as operations at the builder's insertion
/// point.
class NodeImporter {
public:
  /// Maximum number of nodes after inlining. Functions that call others twice grow exponentially.
  static constexpr size_t maxNodes = 200000;

  NodeImporter(Model &model, const FunctionTable &functions, const ExporterMetadata &metadata,
               mlir::OpBuilder &builder, Problems &problems)
      : model(model), functions(functions), metadata(metadata), builder(builder),
        problems(&problems) {}

  /// Returns the type of values without a declared type. Its element type is `index`, which ONNX
  /// lacks.
  mlir::TensorType unknownType() { return mlir::UnrankedTensorType::get(builder.getIndexType()); }

  /// Records the declared type of a value of the main graph. Conflicting element types are a
  /// problem; of two shapes, the first is kept.
  void declare(llvm::StringRef name, mlir::TensorType type);
  /// Adds a problem if the declared type of a value differs from its type; `label` names the value.
  void checkDeclared(llvm::StringRef name, mlir::RankedTensorType type, const llvm::Twine &label);

  /// Defines and looks up values of the main graph. Values that could not be imported have the
  /// unknown type.
  void define(llvm::StringRef name, mlir::Value value) { values[name] = value; }
  mlir::Value lookup(llvm::StringRef name);
  /// Returns null if the graph does not define the name.
  mlir::Value find(llvm::StringRef name) const { return values.lookup(name); }
  /// Defines the value of an initializer of a subgraph.
  void defineInSubgraph(const ::onnx::TensorProto *initializer, mlir::Value value) {
    subgraphInitializers[initializer] = value;
  }

  /// Marks a value as not imported, with the reason. A node that reads it reports a problem; if the
  /// node is optional, its results become unavailable instead.
  void setUnavailable(llvm::StringRef name, const std::string &why) { unavailable[name] = why; }
  /// Returns why a value is unavailable; empty if it is available.
  std::string whyUnavailable(llvm::StringRef name) const { return unavailable.lookup(name); }

  /// Imports the nodes of the main graph. Nodes in `optionalNodes` (by index) are omitted if they
  /// have problems.
  void importGraph(const ::onnx::GraphProto &graph, const llvm::BitVector &optionalNodes);

  /// Returns the names of all values in subgraphs of the main graph.
  llvm::ArrayRef<llvm::StringRef> getSubgraphNames() const { return subgraphNames; }

private:
  using Values = llvm::StringMap<mlir::Value>;

  /// The graph, subgraph or function body whose nodes are imported.
  struct Frame {
    const Frame *outer; // For a subgraph: the enclosing graph, whose values are visible.
    Values &values;
    const llvm::StringMap<int64_t> &opsets;
    const AttributeBindings &attributes;
    std::string prefix; // Prefix of node names, including the separator.
    unsigned depth;
    const llvm::BitVector *optionalNodes = nullptr; // For the main graph.
    std::vector<int64_t> path = {};                 // For a subgraph: its path in the main graph.
    std::string owner = {}, where = {}; // For a subgraph: name of its node, suffix of messages.

    bool isMain() const { return optionalNodes; }
    bool isSubgraph() const { return outer; }
    /// Returns whether the frame is the main graph or a subgraph of it, not of a function.
    bool isInMain() const { return isMain() || !path.empty(); }
  };

  /// A node, its index in its graph or function, its display name, and its label in messages.
  struct Entry {
    const ::onnx::NodeProto &node;
    int64_t index;
    std::string name, label;
  };

  template <typename Nodes> void importNodes(const Nodes &nodes, Frame &frame);
  /// Returns why the name is unavailable for a node of the frame.
  std::string whyUnavailable(llvm::StringRef name, const Frame &frame) const;
  void importEntry(const Entry &entry, Frame &frame);
  void importOptional(const Entry &entry, Frame &frame);
  void importNode(const Entry &entry, Frame &frame);
  void importConstantNode(const Entry &entry, Frame &frame);
  /// Imports the node's GRAPH attributes as regions.
  void importSubgraphs(const Entry &entry, NodeOp node, Frame &frame);
  void importSubgraph(const ::onnx::GraphProto &graph, mlir::Region &region, Frame &frame);
  void inlineCall(const Entry &entry, const ::onnx::FunctionProto &function, Frame &frame);
  /// Returns an operand for the nodes that replace an inlined or expanded node.
  mlir::Value enter(const Entry &entry, size_t operand, Frame &frame);
  /// Returns the path from the main graph to a node of a subgraph.
  mlir::DenseI64ArrayAttr pathOf(const Entry &entry, const Frame &frame);
  /// Returns the framework of a BatchNormalization node, or an empty string for ONNX.
  llvm::StringRef frameworkOf(NodeOp batchNorm) const;
  /// Sets the attributes used for parameter selection.
  void describe(mlir::Operation *op, const Entry &entry, const Frame &frame);

  mlir::ArrayAttr stringsOf(llvm::ArrayRef<std::string> texts);
  template <typename Imports> llvm::StringMap<int64_t> opsetsOf(const Imports &imports);
  std::optional<int64_t> versionOf(const ::onnx::NodeProto &node, const std::string &label,
                                   Frame &frame);
  mlir::Value valueOf(Frame &frame, llvm::StringRef name);
  mlir::Value none();
  mlir::Location locationOf(const std::string &name, const std::string &original);

  Model &model;
  const FunctionTable &functions;
  const ExporterMetadata &metadata;
  mlir::OpBuilder &builder;
  Problems *problems; ///< Problems of the file, or of the current optional node.
  Values values;
  llvm::StringMap<mlir::TensorType> declared;
  llvm::DenseMap<const ::onnx::TensorProto *, mlir::Value> subgraphInitializers;
  std::vector<llvm::StringRef> subgraphNames;
  llvm::StringSet<> unimportedDomains;
  llvm::StringMap<std::string> unavailable;
  mlir::Value noneValue;
  size_t count = 0;
};

} // namespace mtc::onnx

#endif // MTC_FRONTEND_ONNX_READER_NODEIMPORTER_H

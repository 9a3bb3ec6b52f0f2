//===- NodeImporter.h - Nodes as operations, functions inlined --------------------------------===//

#ifndef MTC_FRONTEND_READER_NODEIMPORTER_H
#define MTC_FRONTEND_READER_NODEIMPORTER_H

#include "frontend/dialect/Onnx.h"
#include "frontend/reader/Attributes.h"
#include "frontend/reader/ExporterMetadata.h"
#include "frontend/reader/Functions.h"
#include "frontend/reader/Model.h"

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

/// Appends a graph's nodes, which passed `checkGraph`, at the builder's place.
class NodeImporter {
public:
  /// A model with more nodes than this after inlining is refused: functions that call each other
  /// twice grow without bound.
  static constexpr size_t maxNodes = 200000;

  NodeImporter(Model &model, const FunctionTable &functions, const ExporterMetadata &metadata,
               mlir::OpBuilder &builder, Problems &problems)
      : model(model), functions(functions), metadata(metadata), builder(builder),
        problems(&problems) {}

  /// The type of values of which the file says nothing. ONNX has no index type.
  mlir::TensorType unknownType() { return mlir::UnrankedTensorType::get(builder.getIndexType()); }

  /// The type that the file declares for a value of the main graph. Two of different elements are a
  /// problem; of two shapes the first is kept.
  void declare(llvm::StringRef name, mlir::TensorType type);
  /// Adds a problem where what is declared for a value is not its type; `label` says what it is.
  void checkDeclared(llvm::StringRef name, mlir::RankedTensorType type, const llvm::Twine &label);

  /// Values of the main graph by name. A value that could not be imported is of unknown type.
  void define(llvm::StringRef name, mlir::Value value) { values[name] = value; }
  mlir::Value lookup(llvm::StringRef name);
  /// The value of an initializer of a subgraph.
  void defineInSubgraph(const ::onnx::TensorProto *initializer, mlir::Value value) {
    subgraphInitializers[initializer] = value;
  }

  /// A value that is not imported, and why. A problem of a node that reads it, unless that is
  /// optional, which makes its results unavailable too.
  void setUnavailable(llvm::StringRef name, const std::string &why) { unavailable[name] = why; }
  /// Empty for a value that is available.
  std::string whyUnavailable(llvm::StringRef name) const { return unavailable.lookup(name); }

  /// `optionalNodes`, by their position, are not imported where they have problems.
  void importGraph(const ::onnx::GraphProto &graph, const llvm::BitVector &optionalNodes);

  /// The names of all values of the main graph's subgraphs.
  llvm::ArrayRef<llvm::StringRef> getSubgraphNames() const { return subgraphNames; }

private:
  using Values = llvm::StringMap<mlir::Value>;

  /// The graph, subgraph or function body that nodes are imported from.
  struct Frame {
    const Frame *outer; // Of a subgraph: the graph around it, whose values it may use.
    Values &values;
    const llvm::StringMap<int64_t> &opsets;
    const AttributeBindings &attributes;
    std::string prefix; // of names, with the separator
    unsigned depth;
    const llvm::BitVector *optionalNodes = nullptr; // Of the main graph.
    std::vector<int64_t> path = {};                 // Of a subgraph in the main graph.
    std::string owner = {}, where = {}; // Of a subgraph: its node's name, and what messages say.

    bool isMain() const { return optionalNodes; }
    bool isSubgraph() const { return outer; }
    /// Whether it is the main graph or a subgraph of that, not of a function.
    bool isInMain() const { return isMain() || !path.empty(); }
  };

  /// A node, its position in its graph or function, and what messages call it.
  struct Entry {
    const ::onnx::NodeProto &node;
    int64_t index;
    std::string name, label;
  };

  template <typename Nodes> void importNodes(const Nodes &nodes, Frame &frame);
  void importEntry(const Entry &entry, Frame &frame);
  void importOptional(const Entry &entry, Frame &frame);
  void importNode(const Entry &entry, Frame &frame);
  void importConstantNode(const Entry &entry, Frame &frame);
  /// The node's attributes of kind GRAPH as regions.
  void importSubgraphs(const Entry &entry, NodeOp node, Frame &frame);
  void importSubgraph(const ::onnx::GraphProto &graph, mlir::Region &region, Frame &frame);
  void inlineCall(const Entry &entry, const ::onnx::FunctionProto &function, Frame &frame);
  /// An operand of a call as the function's nodes read it.
  mlir::Value enterFunction(const Entry &entry, size_t operand, Frame &frame);
  /// The way to a node of a subgraph in the main graph.
  mlir::DenseI64ArrayAttr pathOf(const Entry &entry, const Frame &frame);
  /// Sets what passes over parameters go by.
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
  Problems *problems; ///< Those of the file, or of an optional node.
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

#endif // MTC_FRONTEND_READER_NODEIMPORTER_H

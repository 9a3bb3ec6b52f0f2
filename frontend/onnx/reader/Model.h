//===- Model.h - In-memory representation of an ONNX file -------------------------------------===//
//
// The parsed message, its initializers and their data. Import.h converts a model to IR, Export.h
// serializes it.
//
//===------------------------------------------------------------------------------------------===//

#ifndef MTC_FRONTEND_ONNX_READER_MODEL_H
#define MTC_FRONTEND_ONNX_READER_MODEL_H

#include "frontend/onnx/reader/ExternalData.h"
#include "support/compiler/Problems.h"

#include "mlir/IR/BuiltinTypes.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/Error.h"

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace onnx {
class GraphProto;
class ModelProto;
class TensorProto;
class ValueInfoProto;
} // namespace onnx

namespace mtc::onnx {

/// Path to a subgraph, starting at the main graph or a function: index of a node, of its attribute,
/// of a node in that graph, and so on. The path is empty for the main graph.
struct SubgraphPath {
  std::optional<int> function;
  std::vector<int64_t> positions;
};

/// An initializer of the main graph or of a subgraph.
struct Initializer {
  std::string name; // As in the file; NAME.2, … for duplicates in subgraphs.
  int64_t dataType; // TensorProto.DataType
  std::vector<int64_t> shape;
  uint64_t bytes;
  bool isExternal;
  const ::onnx::TensorProto *tensor;
  /// The subgraph that contains the initializer.
  SubgraphPath subgraph;
};

/// A dimension of a graph input without a static extent.
struct SymbolicDimension {
  std::string text;  // Name or expression as declared; INPUT.AXIS if unnamed.
  std::string input; // Name of the graph input.
  int64_t axis;
};

/// Returns the text of a dimension: its extent, its name or expression, or INPUT.AXIS if unnamed.
/// `?`, `None` and `-1` count as unnamed.
std::string dimensionText(const ::onnx::ValueInfoProto &value, int axis);

/// Supported versions. Models below IR 3 lack opset imports; onnx 1.22 writes IR 13.
inline constexpr int64_t oldestOpset = 7, newestOpset = 27, oldestIrVersion = 3,
                         newestIrVersion = 13;

/// A validated ONNX model with sorted nodes. External data is mapped into memory on first access.
class Model {
public:
  /// Reads and validates a file. Adds errors to `problems` and returns null if there are any.
  /// Missing external data is reported when its bytes are accessed, other defects of external data
  /// immediately.
  static std::unique_ptr<Model> read(llvm::StringRef path, Problems &problems);
  ~Model();

  const ::onnx::ModelProto &proto() const { return *message; }
  /// Return the path as specified by the user, and the file name without folder and extension.
  const std::string &path() const { return givenPath; }
  const std::string &name() const { return modelName; }
  /// Return the IDs of the model file and of the external data files opened so far.
  llvm::sys::fs::UniqueID file() const { return fileId; }
  llvm::ArrayRef<llvm::sys::fs::UniqueID> dataFiles() const { return externalFiles->getOpened(); }
  /// Returns the paths of the external data files accessed so far.
  std::vector<std::string> dataPaths() const { return externalFiles->getPaths(); }
  /// Returns the version of ai.onnx that the model imports.
  int64_t opset() const { return opsetVersion; }

  /// Return the initializers in file order, followed by those of subgraphs, and an initializer by
  /// name (null if there is none).
  llvm::ArrayRef<Initializer> initializers() const { return initializerList; }
  const Initializer *findInitializer(llvm::StringRef name) const;
  /// Returns whether the main graph has an initializer of this name.
  bool hasInitializer(llvm::StringRef name) const;

  /// Returns the initializers with unsupported element types (strings), and why they are not
  /// supported.
  const llvm::StringMap<std::string> &unsupportedInitializers() const { return unsupported; }

  /// Returns the tensor of an initializer, or of a Constant node of the main graph whose result has
  /// this name; null if there is neither.
  const ::onnx::TensorProto *findTensor(llvm::StringRef name) const;

  /// Returns the static type of the tensor that `findTensor` returns. Fails if there is none.
  llvm::Expected<mlir::RankedTensorType> initializerType(mlir::MLIRContext *context,
                                                         llvm::StringRef name) const;

  /// Returns the elements of the tensor that `findTensor` returns: row-major, little-endian,
  /// booleans as bytes, valid for the model's lifetime. Fails if the external file is missing or
  /// invalid; the message names that file, but neither the model nor the initializer.
  llvm::Expected<llvm::ArrayRef<char>> initializerBytes(llvm::StringRef name);

  /// Returns the elements of any tensor of the file, as `initializerBytes` does.
  llvm::Expected<llvm::ArrayRef<char>> tensorBytes(const ::onnx::TensorProto &tensor);

  /// Returns the dimensions of graph inputs without a static extent, which the user has to bind.
  std::vector<SymbolicDimension> symbolicDimensions() const;

private:
  Model();
  /// Restores parameters of the main graph that an exporter removed or folded.
  void undoExporter();
  void checkHeader(Problems &problems);
  void collectInitializers(Problems &problems);
  void addInitializer(const ::onnx::TensorProto &tensor, const SubgraphPath &subgraph,
                      Problems &problems);
  template <typename Nodes>
  void collectFromSubgraphs(const Nodes &nodes, SubgraphPath &path, Problems &problems);
  void checkInputs(Problems &problems);

  std::string givenPath, modelName;
  llvm::sys::fs::UniqueID fileId;
  int64_t opsetVersion = 0;
  std::unique_ptr<::onnx::ModelProto> message;
  std::unique_ptr<ExternalFiles> externalFiles;
  std::vector<Initializer> initializerList;
  llvm::StringMap<size_t> initializerIndex;
  llvm::StringMap<std::string> unsupported;
  // Data that needed conversion, by tensor.
  llvm::DenseMap<const ::onnx::TensorProto *, std::vector<char>> converted;
};

} // namespace mtc::onnx

#endif // MTC_FRONTEND_ONNX_READER_MODEL_H

//===- Model.h - An ONNX file, read and checked -----------------------------------------------===//
//
// The file's own form: the parsed message, its initializers and their bytes. Import.h makes IR of
// it, Export.h makes a file of it again.
//
//===------------------------------------------------------------------------------------------===//

#ifndef MTC_FRONTEND_READER_MODEL_H
#define MTC_FRONTEND_READER_MODEL_H

#include "frontend/Problems.h"
#include "frontend/reader/ExternalData.h"

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

/// The way to a subgraph: from the main graph, or from a function, the positions of a node, of its
/// attribute, of a node in that graph, and so on. Empty for the main graph.
struct SubgraphPath {
  std::optional<int> function;
  std::vector<int64_t> positions;
};

/// An initializer of the main graph or of a subgraph.
struct Initializer {
  std::string name; // In the file, but for a subgraph's whose name another one has: NAME.2, …
  int64_t dataType; // TensorProto.DataType
  std::vector<int64_t> shape;
  uint64_t bytes;
  bool isExternal;
  const ::onnx::TensorProto *tensor;
  /// Of one in a subgraph: where that is.
  SubgraphPath subgraph;
};

/// A dimension of a graph input without a fixed extent.
struct SymbolicDimension {
  std::string
      text; // as the file gives it: a name, an expression of names, or INPUT.AXIS if unnamed
  std::string input; // the graph input
  int64_t axis;
};

/// A dimension of a value as text: its extent, its name or expression, or INPUT.AXIS without
/// either. `?`, `None` and `-1` are no names.
std::string dimensionText(const ::onnx::ValueInfoProto &value, int axis);

/// The versions that are read. Below IR 3 opset imports are missing; IR 13 is of onnx 1.22.
inline constexpr int64_t oldestOpset = 7, newestOpset = 27, oldestIrVersion = 3,
                         newestIrVersion = 13;

/// A model as its file holds it, its nodes sorted, checked as a whole. Data in other files is
/// mapped when it is read.
class Model {
public:
  /// Reads and checks a file. Problems are added to `problems`; null after errors. External data
  /// that is missing is no problem until its bytes are asked for; any other defect of it is.
  static std::unique_ptr<Model> read(llvm::StringRef path, Problems &problems);
  ~Model();

  const ::onnx::ModelProto &proto() const { return *message; }
  /// The path as given, and the file's name without folder and ending.
  const std::string &path() const { return givenPath; }
  const std::string &name() const { return modelName; }
  /// The model's own file, and those opened so far that hold its external data.
  llvm::sys::fs::UniqueID file() const { return fileId; }
  llvm::ArrayRef<llvm::sys::fs::UniqueID> dataFiles() const { return externalFiles->getOpened(); }
  /// The paths of the latter.
  std::vector<std::string> dataPaths() const { return externalFiles->getPaths(); }
  /// The version of ai.onnx that the model imports.
  int64_t opset() const { return opsetVersion; }

  /// The initializers in the file's order, those of subgraphs last, and one of them by name (null:
  /// there is none).
  llvm::ArrayRef<Initializer> initializers() const { return initializerList; }
  const Initializer *findInitializer(llvm::StringRef name) const;
  /// Whether the main graph has one of this name.
  bool hasInitializer(llvm::StringRef name) const;

  /// The initializers whose elements are no numbers, and why they are not supported.
  const llvm::StringMap<std::string> &unsupportedInitializers() const { return unsupported; }

  /// An initializer, or the tensor of a Constant node of the main graph, by the name of the value;
  /// null if there is neither.
  const ::onnx::TensorProto *findTensor(llvm::StringRef name) const;

  /// The static type of what `findTensor` finds. Fails where it finds nothing.
  llvm::Expected<mlir::RankedTensorType> initializerType(mlir::MLIRContext *context,
                                                         llvm::StringRef name) const;

  /// The elements of what `findTensor` finds, row-major and little-endian, booleans as bytes, valid
  /// as long as the model. Fails where the file that holds them is missing or unfit; the message
  /// names the file, but neither model nor initializer.
  llvm::Expected<llvm::ArrayRef<char>> initializerBytes(llvm::StringRef name);

  /// The same of any tensor of the file, such as a Constant node's.
  llvm::Expected<llvm::ArrayRef<char>> tensorBytes(const ::onnx::TensorProto &tensor);

  /// What a user has to bind: the dimensions of graph inputs without an extent.
  std::vector<SymbolicDimension> symbolicDimensions() const;

private:
  Model();
  /// Gives the main graph the parameters back that an exporter dropped or computed with.
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
  // Data that had to be converted, by tensor.
  llvm::DenseMap<const ::onnx::TensorProto *, std::vector<char>> converted;
};

} // namespace mtc::onnx

#endif // MTC_FRONTEND_READER_MODEL_H

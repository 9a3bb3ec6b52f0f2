//===- Model.h - An ONNX file
//-------------------------------------------------------------------===//

#ifndef MTC_FRONTEND_READER_MODEL_H
#define MTC_FRONTEND_READER_MODEL_H

#include "frontend/reader/ExternalData.h"
#include "frontend/reader/Problems.h"

#include "mlir/IR/BuiltinTypes.h"
#include "llvm/ADT/StringMap.h"

#include <memory>

namespace onnx {
class ModelProto;
class TensorProto;
} // namespace onnx

namespace mtc::onnx {

/// The versions that are read.
inline constexpr int64_t oldestOpset = 7, newestOpset = 26, newestIrVersion = 13;

/// A model as it lies in its file, checked as a whole; data beside it is mapped when it is asked
/// for.
class Model {
public:
  /// Reads `path`. Null, with `problems`, where it is no ONNX model that can be read.
  static std::unique_ptr<Model> read(llvm::StringRef path, Problems &problems);
  ~Model();

  const ::onnx::ModelProto &proto() const { return *modelProto; }
  /// The version of ai.onnx that the model imports.
  int64_t opset() const { return opsetVersion; }
  /// The file's name without folder and ending.
  const std::string &name() const { return modelName; }
  const std::string &path() const { return modelPath; }

  bool hasInitializer(llvm::StringRef name) const { return initializers.contains(name); }
  /// An initializer's type; the name must be one of the model's.
  llvm::Expected<mlir::RankedTensorType> initializerType(mlir::MLIRContext *context,
                                                         llvm::StringRef name) const;
  /// An initializer's bytes (row-major, little-endian), valid as long as the model. Fails where the
  /// data is missing or does not fit; the message names neither model nor initializer.
  llvm::Expected<llvm::ArrayRef<char>> initializerBytes(mlir::MLIRContext *context,
                                                        llvm::StringRef name);
  /// Whether the data lies in another file.
  bool isExternal(llvm::StringRef name) const;
  /// The bytes of any tensor of the model (of a Constant node, say).
  llvm::Expected<llvm::ArrayRef<char>> tensorBytes(const ::onnx::TensorProto &tensor,
                                                   mlir::RankedTensorType type);

private:
  Model() = default;
  void check(Problems &problems);

  std::unique_ptr<::onnx::ModelProto> modelProto;
  std::string modelPath, modelName;
  int64_t opsetVersion = 0;
  llvm::StringMap<const ::onnx::TensorProto *> initializers;
  std::unique_ptr<ExternalFiles> files;
  /// Data that had to be converted, by tensor.
  llvm::DenseMap<const ::onnx::TensorProto *, std::vector<char>> converted;
};

} // namespace mtc::onnx

#endif // MTC_FRONTEND_READER_MODEL_H

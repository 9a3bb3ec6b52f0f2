//===- Weights.h - Initial weights beside the program -----------------------------------------===//

#ifndef MTC_DRIVER_WEIGHTS_H
#define MTC_DRIVER_WEIGHTS_H

#include "frontend/reader/Model.h"
#include "ir/attributes/TensorImage.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/Support/LogicalResult.h"

namespace mtc::tool {

/// The initial values of a program's variables that the model's file has, as a safetensors file
/// with the names and layouts of the user's module. They are a file of their own whatever their
/// size: readers of safetensors accept it, and other weights replace it without compiling again.
/// Pieces live as long as the model.
class Weights {
public:
  /// All initializers whose data is missing are reported; null: the model itself is.
  static mlir::FailureOr<Weights> collect(mlir::ModuleOp module, onnx::Model *model);

  /// The file of a program: `train` has `train.weights.safetensors`, since `train.safetensors` is
  /// what others call a model's own data.
  static std::string fileOf(llvm::StringRef program) {
    return (program + ".weights.safetensors").str();
  }

  bool empty() const { return tensors.empty(); }
  /// Hex digest of names, types, shapes and the elements' checksums, by which a program knows its
  /// weights.
  const std::string &getDigest() const { return digest; }
  void write(llvm::raw_ostream &os) const;

private:
  /// What a tensor of the file holds of the model's.
  struct Piece {
    llvm::ArrayRef<char> bytes;
    TensorImageAttr image; ///< Null: all, as it is.
  };
  struct Tensor {
    llvm::SmallVector<Piece> pieces;
    int64_t elementBytes, bytes;
  };
  /// Hands the tensor's bytes to `use`.
  static void read(const Tensor &tensor, llvm::function_ref<void(llvm::ArrayRef<char>)> use);

  std::string header, digest;
  std::vector<Tensor> tensors;
};

} // namespace mtc::tool

#endif // MTC_DRIVER_WEIGHTS_H

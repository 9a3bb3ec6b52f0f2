//===- Weights.h - File of initial weights ----------------------------------------------------===//

#ifndef MTC_DRIVER_WEIGHTS_H
#define MTC_DRIVER_WEIGHTS_H

#include "frontend/Frontend.h"
#include "ir/attributes/TensorImage.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/Support/LogicalResult.h"

namespace mtc::tool {

/// The initial values of a program's variables from the model file, as a safetensors file with the
/// names and layouts of the user's module. Weights are always stored in a separate file, so that
/// safetensors readers accept it, and so that weights can be replaced without recompilation. The
/// pieces reference the model's data, so the model must outlive them.
class Weights {
public:
  /// Collects the weights; with `onlyConstants` those of constants. Fails with diagnostics if the
  /// data of initializers cannot be read, naming the first three and their total number. `model` is
  /// null if the model itself is missing.
  static mlir::FailureOr<Weights> collect(mlir::ModuleOp module, SourceModel *model,
                                          bool onlyConstants);

  /// Returns the file name of a program's weights. `train` has `train.weights.safetensors`, since
  /// `train.safetensors` is a common name for a model's own data.
  static std::string fileOf(llvm::StringRef program) {
    return (program + ".weights.safetensors").str();
  }

  bool empty() const { return tensors.empty(); }
  /// Returns the names of tensors without data in the model, such as those of a model that was
  /// exported without weights. The program starts only with a file that has them.
  llvm::ArrayRef<std::string> getAbsent() const { return absent; }
  /// Returns the hex digest of names, types, shapes and element checksums by which a program
  /// identifies its weights.
  const std::string &getDigest() const { return digest; }
  void write(llvm::raw_ostream &os) const;

private:
  /// Part of a tensor in the file that comes from the model.
  struct Piece {
    llvm::ArrayRef<char> bytes;
    TensorImageAttr image; ///< Null: all bytes, unchanged.
  };
  struct Tensor {
    llvm::SmallVector<Piece> pieces;
    int64_t elementBytes, bytes;
  };
  /// Passes the tensor's bytes to `use`.
  static void read(const Tensor &tensor, llvm::function_ref<void(llvm::ArrayRef<char>)> use);

  std::string header, digest;
  std::vector<Tensor> tensors;
  std::vector<std::string> absent;
};

} // namespace mtc::tool

#endif // MTC_DRIVER_WEIGHTS_H

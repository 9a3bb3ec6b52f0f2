//===- Weights.h - Initial weights beside the program -----------------------------------------===//

#ifndef MTC_DRIVER_WEIGHTS_H
#define MTC_DRIVER_WEIGHTS_H

#include "frontend/reader/Model.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/Support/LogicalResult.h"

namespace mtc::tool {

/// The initial values of a program's variables that lie in its model, as a safetensors file. They
/// are a file of their own whatever their size: readers of safetensors take them, and what is
/// trained from is exchanged without compiling again. Pieces live as long as the model.
class Weights {
public:
  /// All initializers whose data is missing are reported; null: the model itself is.
  static mlir::FailureOr<Weights> collect(mlir::ModuleOp module, onnx::Model *model);

  /// The file of a program: `train` has `train.weights.safetensors`, since `train.safetensors` is
  /// what others call a model's own data.
  static std::string fileOf(llvm::StringRef program) {
    return (program + ".weights.safetensors").str();
  }

  bool empty() const { return pieces.empty(); }
  /// Hex digest of names, types, shapes and elements, by which a program knows its weights.
  const std::string &getDigest() const { return digest; }
  void write(llvm::raw_ostream &os) const;

private:
  std::string header, digest;
  llvm::SmallVector<llvm::ArrayRef<char>> pieces;
};

} // namespace mtc::tool

#endif // MTC_DRIVER_WEIGHTS_H

//===- Binding.h - Values for graph inputs from the command line
//--------------------------------===//

#ifndef MTC_FRONTEND_READER_BINDING_H
#define MTC_FRONTEND_READER_BINDING_H

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"
#include "llvm/Support/Error.h"

namespace mtc::onnx {

/// What `--bind INPUT=TEXT` means for an input of this type: a .npy file, or numbers separated by
/// commas. One number fills every element of a static shape.
llvm::Expected<mlir::DenseElementsAttr> parseBinding(llvm::StringRef text, mlir::TensorType type);

} // namespace mtc::onnx

#endif // MTC_FRONTEND_READER_BINDING_H

//===- GraphInputs.h - Types of graph inputs and values bound to them -------------------------===//

#ifndef MTC_FRONTEND_READER_GRAPHINPUTS_H
#define MTC_FRONTEND_READER_GRAPHINPUTS_H

#include "frontend/Problems.h"

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"
#include "llvm/ADT/StringMap.h"

namespace onnx {
class ValueInfoProto;
} // namespace onnx

namespace mtc::onnx {

/// The declared type of a value with what is bound: static where all extents are known. Null where
/// the file gives no tensor type, or one that mtc does not hold.
mlir::TensorType declaredType(const ::onnx::ValueInfoProto &value,
                              const llvm::StringMap<int64_t> &bindings, mlir::MLIRContext *context);

/// What is wrong with a declared type, whatever the value's own is: `is declared as a sequence, …`;
/// empty where nothing is.
std::string declarationProblem(const ::onnx::ValueInfoProto &value, mlir::MLIRContext *context);

/// The type of a graph input, as above; null, the problem added, where it has none.
mlir::TensorType inputType(const ::onnx::ValueInfoProto &input,
                           const llvm::StringMap<int64_t> &bindings, mlir::MLIRContext *context,
                           Problems &problems);

/// The texts of the input's dimensions: names or expressions as the file gives them, INPUT.AXIS
/// where it names none, empty where an extent is written.
llvm::SmallVector<std::string> dimensionTexts(const ::onnx::ValueInfoProto &input);

/// The value of `--bind NAME=TEXT` for an input of this type: TEXT is a .npy file, or numbers,
/// `true` and `false` separated by commas. One value fills every element of a static shape.
llvm::Expected<mlir::DenseElementsAttr> boundValue(llvm::StringRef text, mlir::TensorType type);

} // namespace mtc::onnx

#endif // MTC_FRONTEND_READER_GRAPHINPUTS_H

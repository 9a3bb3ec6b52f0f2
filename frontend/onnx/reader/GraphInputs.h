//===- GraphInputs.h - Types of graph inputs and bound values ---------------------------------===//

#ifndef MTC_FRONTEND_ONNX_READER_GRAPHINPUTS_H
#define MTC_FRONTEND_ONNX_READER_GRAPHINPUTS_H

#include "frontend/Frontend.h"
#include "support/compiler/Problems.h"

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"
#include "llvm/ADT/StringMap.h"

namespace onnx {
class ValueInfoProto;
} // namespace onnx

namespace mtc::onnx {

class Model;

/// Returns the graph inputs that are not initializers.
std::vector<ModelInput> modelInputs(const Model &model);

/// Returns the declared type of a value after substituting `bindings`; static if all extents are
/// known. Returns null if the file declares no tensor type or an unsupported one.
mlir::TensorType declaredType(const ::onnx::ValueInfoProto &value,
                              const llvm::StringMap<int64_t> &bindings, mlir::MLIRContext *context);

/// Returns a problem of a declared type that is independent of the value's actual type, as `is
/// declared as a sequence, …`; empty if there is none.
std::string declarationProblem(const ::onnx::ValueInfoProto &value, mlir::MLIRContext *context);

/// Returns the type of a graph input, as `declaredType` does. Adds a problem and returns null if
/// the input has no valid type.
mlir::TensorType inputType(const ::onnx::ValueInfoProto &input,
                           const llvm::StringMap<int64_t> &bindings, mlir::MLIRContext *context,
                           Problems &problems);

/// Returns the names or expressions of the input's dimensions as declared. Unnamed dimensions are
/// INPUT.AXIS, static dimensions are empty.
llvm::SmallVector<std::string> dimensionTexts(const ::onnx::ValueInfoProto &input);

/// Parses TEXT of `--bind NAME=TEXT` for an input of this type: a .npy file, or numbers, `true` and
/// `false` separated by commas. A single value is broadcast to a static shape.
llvm::Expected<mlir::DenseElementsAttr> boundValue(llvm::StringRef text, mlir::TensorType type);

} // namespace mtc::onnx

#endif // MTC_FRONTEND_ONNX_READER_GRAPHINPUTS_H

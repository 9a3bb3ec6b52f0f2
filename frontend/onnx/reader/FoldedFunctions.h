//===- FoldedFunctions.h - Restore parameters folded by the exporter --------------------------===//

#ifndef MTC_FRONTEND_ONNX_READER_FOLDEDFUNCTIONS_H
#define MTC_FRONTEND_ONNX_READER_FOLDEDFUNCTIONS_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/Support/Error.h"

namespace onnx {
class GraphProto;
class TensorProto;
} // namespace onnx

namespace mtc::onnx {

class ExporterMetadata;

/// Returns a tensor's elements in memory layout.
using TensorReader =
    llvm::function_ref<llvm::Expected<llvm::ArrayRef<char>>(const ::onnx::TensorProto &)>;

/// Restores parameters that PyTorch's newer exporter folded into an elementwise function, such as
/// `exp(logit_scale)` or `-exp(A_log)`. Training the folded value would take different steps than
/// training the module's parameter. If the metadata shows that an f32 or f64 initializer was folded
/// from one parameter by exp, sigmoid or tanh, a negation, and layout changes, it is replaced by
/// the parameter. The parameter has the values of the inverse function and, without layout changes,
/// its module name. Nodes at the beginning of the main graph recompute the folded value. If the
/// exporter merged the folded values of several modules, each module gets its own parameter.
///
/// Initializers outside the function's range, or for which `read` fails, are not changed. Data
/// returned by `read` for an initializer is invalid afterwards.
void unfoldFunctions(::onnx::GraphProto &graph, const ExporterMetadata &metadata,
                     TensorReader read);

} // namespace mtc::onnx

#endif // MTC_FRONTEND_ONNX_READER_FOLDEDFUNCTIONS_H

//===- FoldedFunctions.h - Parameters behind functions that an exporter folded ---------------===//

#ifndef MTC_FRONTEND_READER_FOLDEDFUNCTIONS_H
#define MTC_FRONTEND_READER_FOLDEDFUNCTIONS_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/Support/Error.h"

namespace onnx {
class GraphProto;
class TensorProto;
} // namespace onnx

namespace mtc::onnx {

class ExporterMetadata;

/// Elements of a tensor as they lie in memory.
using TensorReader =
    llvm::function_ref<llvm::Expected<llvm::ArrayRef<char>>(const ::onnx::TensorProto &)>;

/// PyTorch's newer exporter folds what a module computes from a parameter, such as
/// `exp(logit_scale)` or `-exp(A_log)`. Steps on the folded value are other steps than the
/// module's. Where the metadata says that an initializer of f32 or f64 was folded from one
/// parameter by exp, sigmoid or tanh, a negation, and changes of layout, the parameter takes its
/// place, with the inverse's values and, if no layout changed, its name in the module. Nodes at the
/// front of the main graph compute the folded value from it. A module whose folded value the
/// exporter merged with another's has a parameter of its own.
///
/// Values that the function does not take, and those that `read` fails for, stay as they are. What
/// `read` gave for an initializer before is not valid afterwards.
void unfoldFunctions(::onnx::GraphProto &graph, const ExporterMetadata &metadata,
                     TensorReader read);

} // namespace mtc::onnx

#endif // MTC_FRONTEND_READER_FOLDEDFUNCTIONS_H

//===- ModuleImages.h - Mapping of initializers to the module's tensors -----------------------===//

#ifndef MTC_FRONTEND_ONNX_PARAMETERS_MODULEIMAGES_H
#define MTC_FRONTEND_ONNX_PARAMETERS_MODULEIMAGES_H

#include "frontend/onnx/dialect/Onnx.h"

namespace mtc::onnx {

/// Sets `module_images` of initializers whose form in the user's module differs from the file's.
/// Parameters must have been chosen; existing images are kept.
///   - A folded matrix whose uses are all matrix multiplications is transposed.
///   - The weights of a recurrent layer are several tensors (RecurrentImages.h).
///   - A parameter may have several names (ModuleAliases.h), and tied copies names of their own.
///   - A renamed vector is unchanged.
/// The list is empty for other initializers that the exporter created or renamed, since their form
/// in the module is unknown. Also creates an `onnx.buffer` for tensors without elements, and for
/// `num_batches_tracked` of PyTorch's batch normalizations.
void describeModuleImages(GraphOp graph);

} // namespace mtc::onnx

#endif // MTC_FRONTEND_ONNX_PARAMETERS_MODULEIMAGES_H

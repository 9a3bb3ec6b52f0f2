//===- ModuleImages.h - How the user's module stores what an exporter changed -----------------===//

#ifndef MTC_FRONTEND_PARAMETERS_MODULEIMAGES_H
#define MTC_FRONTEND_PARAMETERS_MODULEIMAGES_H

#include "frontend/dialect/Onnx.h"

namespace mtc::onnx {

/// Gives the initializers of a graph whose parameters are chosen their `module_images`, unless they
/// have some, where the module stores them otherwise than the file does:
///   - a matrix that the exporter folded and matrix products multiply by is the transpose;
///   - the weights of a recurrent layer are several tensors (RecurrentImages.h);
///   - a parameter may have several names (ModuleAliases.h);
///   - a vector that was renamed is as it is.
/// Of others that the exporter made or renamed the list is empty: how the module has them is not
/// known. Batch normalizations of PyTorch have a count of batches, an `onnx.buffer`.
void describeModuleImages(GraphOp graph);

} // namespace mtc::onnx

#endif // MTC_FRONTEND_PARAMETERS_MODULEIMAGES_H

//===- ModuleImages.h - How the user's module stores what an exporter renamed -----------------===//

#ifndef MTC_FRONTEND_PARAMETERS_MODULEIMAGES_H
#define MTC_FRONTEND_PARAMETERS_MODULEIMAGES_H

#include "frontend/dialect/Onnx.h"

namespace mtc::onnx {

/// Gives the initializers of a graph whose parameters are chosen their `module_images`, unless they
/// have some: of those that the exporter computed, or named otherwise than the module. A vector is
/// the module's, a matrix that only matrix products read is its transpose; of others, and where the
/// module's name is not known, the list is empty.
void describeModuleImages(GraphOp graph);

} // namespace mtc::onnx

#endif // MTC_FRONTEND_PARAMETERS_MODULEIMAGES_H

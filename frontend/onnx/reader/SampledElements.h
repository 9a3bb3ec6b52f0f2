//===- SampledElements.h - Elements of initializers by which they are classified --------------===//

#ifndef MTC_FRONTEND_ONNX_READER_SAMPLEDELEMENTS_H
#define MTC_FRONTEND_ONNX_READER_SAMPLEDELEMENTS_H

#include "frontend/onnx/reader/Model.h"

#include "mlir/IR/BuiltinAttributes.h"

namespace mtc::onnx {

/// Returns the elements of a small initializer, or the first elements of a large float initializer.
/// Returns null if the data is missing, which is reported when the data is used.
mlir::DenseElementsAttr knownElements(Model &model, const Initializer &initializer,
                                      mlir::RankedTensorType type);

} // namespace mtc::onnx

#endif // MTC_FRONTEND_ONNX_READER_SAMPLEDELEMENTS_H

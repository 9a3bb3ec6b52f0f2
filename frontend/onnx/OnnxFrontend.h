//===- OnnxFrontend.h - The frontend of ONNX models -------------------------------------------===//

#ifndef MTC_FRONTEND_ONNX_ONNXFRONTEND_H
#define MTC_FRONTEND_ONNX_ONNXFRONTEND_H

#include "frontend/Frontend.h"

namespace mtc::onnx {

/// Returns the frontend of ONNX models.
const Frontend &getFrontend();

} // namespace mtc::onnx

#endif // MTC_FRONTEND_ONNX_ONNXFRONTEND_H

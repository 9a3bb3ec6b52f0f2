//===- SafeSoftmax.h - The softmax that exporters guard against fully masked rows
//----------------===//

#ifndef MTC_FRONTEND_CONVERT_SAFESOFTMAX_H
#define MTC_FRONTEND_CONVERT_SAFESOFTMAX_H

#include "frontend/dialect/Onnx.h"

namespace mtc::onnx {

/// Rewrites, in the whole graph,
///
///     s = Softmax(x), Where(IsNaN(s), 0, s)  =>  mtc.SafeSoftmax(x)
///
/// PyTorch's exporter writes the former for scaled dot-product attention. As three nodes its
/// gradient is NaN where a row is fully masked, because Where stops the cotangent but the softmax
/// behind it multiplies by NaN.
void rewriteSafeSoftmax(GraphOp graph);

} // namespace mtc::onnx

#endif // MTC_FRONTEND_CONVERT_SAFESOFTMAX_H

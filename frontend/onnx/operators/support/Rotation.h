//===- Rotation.h - Rotary position embedding -------------------------------------------------===//

#ifndef MTC_FRONTEND_ONNX_OPERATORS_SUPPORT_ROTATION_H
#define MTC_FRONTEND_ONNX_OPERATORS_SUPPORT_ROTATION_H

#include "ir/builders/TensorBuilder.h"

namespace mtc::onnx {

/// Rotates pairs of the first elements of each head in x, a tensor with four axes of which the last
/// one is a head. `cosine` and `sine` have the shape of x with one element per pair. A pair is
/// elements i and i + half, or two adjacent elements if `interleaved`. Elements without a pair are
/// kept.
mlir::Value rotate(TensorBuilder &b, mlir::Value x, mlir::Value cosine, mlir::Value sine,
                   bool interleaved);

/// Returns the rows offset, offset + 1, .. of `table` [positions, half] as [length, half]. The
/// offset is an integer tensor of one element; if it is null, the offset is 0.
mlir::Value consecutiveRows(TensorBuilder &b, mlir::Value table, int64_t length,
                            mlir::Value offset);

} // namespace mtc::onnx

#endif // MTC_FRONTEND_ONNX_OPERATORS_SUPPORT_ROTATION_H

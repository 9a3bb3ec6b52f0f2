//===- Convolution.h - Convolutions with and without epilogues --------------------------------===//
//
// Shared implementation of `mtc.convolve`, its adjoints and `mtc.fused_convolve`: verification,
// layouts and call descriptions.
//
//===------------------------------------------------------------------------------------------===//

#ifndef MTC_IR_OPS_CONVOLUTION_H
#define MTC_IR_OPS_CONVOLUTION_H

#include "ir/Mtc.h"
#include "ir/TypeCode.h"
#include "ir/builders/Shape.h"
#include "ir/builders/TensorBuilder.h"
#include "ir/interfaces/TargetInfo.h"
#include "ir/ops/NaturalOrder.h"

#include "llvm/Support/CheckedArithmetic.h"

namespace mtc {

/// Returns whether ranks and extents satisfy convolve_c1.
template <typename Op> bool haveExtents(Op op) {
  llvm::ArrayRef<int64_t> input = shapeOf(op.getInput()), weights = shapeOf(op.getWeights()),
                          output = shapeOf(op.getOutput());
  size_t axes = op.getStrides().size();
  int64_t groups = op.getGroups();
  return axes >= 1 && axes <= MTC_MAX_WINDOW_AXES && op.getBefore().size() == axes &&
         op.getDilations().size() == axes && input.size() == axes + 2 &&
         weights.size() == axes + 2 && output.size() == axes + 2 && input[0] == output[0] &&
         weights[0] == output.back() && weights[0] % groups == 0 &&
         input.back() == weights[1] * groups;
}

/// Verifies convolve_c1 to convolve_c4.
template <typename Op> mlir::LogicalResult verifyConvolution(Op op) {
  auto isPositive = [](int64_t v) { return v > 0; };
  if (!isPositive(op.getGroups()) || !llvm::all_of(op.getStrides(), isPositive) ||
      !llvm::all_of(op.getDilations(), isPositive) ||
      llvm::any_of(op.getBefore(), [](int64_t v) { return v < 0; }))
    return op.emitOpError()
           << "has groups " << op.getGroups() << ", before " << toText(op.getBefore())
           << ", strides " << toText(op.getStrides()) << " and dilations "
           << toText(op.getDilations())
           << ", expected numbers of at least 1, and of at least 0 for before (convolve_c2)";
  if (!haveExtents(op))
    return op.emitOpError() << "input, weights and output have extents "
                            << toText(shapeOf(op.getInput())) << ", "
                            << toText(shapeOf(op.getWeights())) << " and "
                            << toText(shapeOf(op.getOutput())) << ", expected [N, I.., G * C], "
                            << "[G * M, C, K..] and [N, O.., G * M] for " << op.getGroups()
                            << " groups and " << op.getStrides().size() << " axes of windows, 1 to "
                            << MTC_MAX_WINDOW_AXES << " (convolve_c1)";
  for (size_t i = 0; i < op.getStrides().size(); ++i) {
    int64_t positions = shapeOf(op.getOutput())[1 + i], taps = shapeOf(op.getWeights())[2 + i];
    std::optional<int64_t> first = llvm::checkedMul(positions, op.getStrides()[i]),
                           reach = llvm::checkedMul(taps, op.getDilations()[i]);
    if (!first || !reach || !llvm::checkedAdd(*first, *reach))
      return op.emitOpError() << "along window axis " << i << " the positions of " << positions
                              << " windows of " << taps << " taps with stride "
                              << op.getStrides()[i] << " and dilation " << op.getDilations()[i]
                              << " do not fit into 64 bits (convolve_c3)";
  }
  mlir::Type element = typeOf(op->getOperand(0)).getElementType();
  if (typeOf(op->getOperand(1)).getElementType() != element ||
      !holdsSumsOf(element, typeOf(op->getResult(0)).getElementType()))
    return op.emitOpError() << "element types of input, weights and output differ, expected the "
                               "same, or a result of f32 where operands are narrower (convolve_c4)";
  return mlir::success();
}

/// Returns the call description without an epilogue.
template <typename Op> MtcConvolution describeConvolution(Op op) {
  llvm::ArrayRef<int64_t> input = shapeOf(op.getInput()), weights = shapeOf(op.getWeights()),
                          output = shapeOf(op.getOutput());
  MtcConvolution c = {};
  mlir::Type element = typeOf(op->getOperand(0)).getElementType();
  mtc_set_convolution_types(&c, typeCode(element));
  c.result_type = typeCode(typeOf(op->getResult(0)).getElementType());
  c.product_type = typeCode(TargetInfo::of(op).getProductType(element));
  c.window_rank = op.getStrides().size();
  c.batch = input[0];
  c.groups = op.getGroups();
  c.input_channels = weights[1];
  c.output_channels = weights[0] / op.getGroups();
  llvm::copy(input.slice(1, c.window_rank), c.input);
  llvm::copy(output.slice(1, c.window_rank), c.output);
  llvm::copy(weights.drop_front(2), c.kernel);
  llvm::copy(op.getStrides(), c.strides);
  llvm::copy(op.getDilations(), c.dilations);
  llvm::copy(op.getBefore(), c.before);
  return c;
}

inline bool isDense(mlir::Operation *op, unsigned operand, llvm::ArrayRef<int64_t> strides) {
  return strides == llvm::ArrayRef<int64_t>(rowMajorStrides(shapeOf(op->getOperand(operand))));
}

} // namespace mtc

#endif // MTC_IR_OPS_CONVOLUTION_H

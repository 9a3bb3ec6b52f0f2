//===- ValuePatterns.h - Patterns in the elements of constants --------------------------------===//
//
// Constants follow formulas, and trained parameters do not. The functions below accept the first
// elements of a tensor as `sampledValues` returns them. Each pattern has enough elements that
// random values do not match by chance.
//
//===------------------------------------------------------------------------------------------===//

#ifndef MTC_FRONTEND_ONNX_PARAMETERS_VALUEPATTERNS_H
#define MTC_FRONTEND_ONNX_PARAMETERS_VALUEPATTERNS_H

#include "frontend/onnx/dialect/Onnx.h"

#include <vector>

namespace mtc::onnx {

/// Returns up to 4096 first elements of a floating-point initializer, as far as they are known.
std::vector<double> sampledValues(InitializerOp initializer);

/// Returns whether a number of this type is a literal of a program or derived from one: a whole
/// number, a decimal of few digits, 1/n, √n, 1/√n, or a multiple of π, √π, ln 2 or ln 10. In f32,
/// about one of a hundred random numbers is such a number.
bool isLiteral(double value, mlir::FloatType type);

/// Returns whether all axes but one have extent 1.
bool isVector(llvm::ArrayRef<int64_t> shape);

/// Returns whether at least four values are an arithmetic or geometric progression that is not
/// constant.
bool isProgression(llvm::ArrayRef<double> values);

/// Returns whether at least 16 values strictly increase or decrease.
bool isMonotonic(llvm::ArrayRef<double> values);

/// Returns whether rows of `width` elements are even or odd around their center, as windows,
/// Fourier bases and low-pass filters are: all rows, or at least a third of many.
bool areSymmetricRows(llvm::ArrayRef<double> values, int64_t width);

/// Returns whether a matrix with rows of `width` elements is a bank of filters that overlap little,
/// such as a mel filter bank: no value is negative, most are zero, and the others are adjacent in
/// each row or in each column.
bool isFilterBank(llvm::ArrayRef<double> values, int64_t width);

/// Returns whether there are several blocks of `size` elements, at least four each, that are equal
/// and have more than one value.
bool areEqualBlocks(llvm::ArrayRef<double> values, int64_t size);

/// Returns whether at least four values are multiples of 0.5, and not all are equal.
bool areHalves(llvm::ArrayRef<double> values);

} // namespace mtc::onnx

#endif // MTC_FRONTEND_ONNX_PARAMETERS_VALUEPATTERNS_H

//===- AccessAnalysis.cpp - Contiguity and alignment of a kernel's accesses -------------------===//

#include "codegen/gpu/AccessAnalysis.h"

#include "llvm/Support/MathExtras.h"

#include <numeric>

using namespace mlir;
using namespace mtc;

int64_t mtc::gpu::iterationsOf(const NormalKernel &kernel, ArrayRef<unsigned> dims) {
  int64_t iterations = 1;
  for (unsigned dim : dims)
    iterations *= kernel.space[dim];
  return iterations;
}

namespace {

/// A load or store.
struct Access {
  LinearForm form;
  Type element;
  DimSet dims;        ///< of the offset, including its symbols
  DimSet symbolsDims; ///< of the symbols

  /// Returns whether the access is contiguous along the dimension.
  bool runsAlong(unsigned dim) const {
    return form.stride(dim) == 1 && !contains(symbolsDims, dim);
  }
};

SmallVector<Access> accessesOf(const NormalKernel &kernel) {
  SmallVector<Access> accesses;
  auto add = [&](const LinearForm &form, Type element, ValueRange symbols) {
    DimSet ofSymbols = 0;
    for (Value symbol : symbols)
      ofSymbols |= kernel.values.lookup(symbol).dims;
    accesses.push_back({form, element, form.dependence() | ofSymbols, ofSymbols});
  };
  // Iterates in the order of the body, since the order of the map is not deterministic.
  kernel.body->walk([&](Operation *op) {
    if (auto load = dyn_cast<KernelLoadOp>(op))
      add(kernel.loads.find(op)->second, load.getSource().getType().getElementType(),
          load.getSymbols());
    else if (auto sum = dyn_cast<KernelAddRowsOp>(op))
      add(kernel.loads.find(op)->second, sum.getSource().getType().getElementType(), {});
  });
  KernelYieldOp yield = kernel.yield;
  for (auto [form, type] : llvm::zip_equal(kernel.stores, kernel.outputs))
    add(form, type.getElementType(), yield.getSymbols());
  return accesses;
}

} // namespace

std::optional<unsigned> mtc::gpu::contiguousDim(const NormalKernel &kernel, DimSet among) {
  // A rank may have a part of a dimension, which must not change the order of sums.
  constexpr double extentOfFixedOrder = 64;
  SmallVector<double> weights(kernel.rank(), 0);
  for (const Access &access : accessesOf(kernel)) {
    double iterations = elementBytes(access.element);
    for (unsigned dim = 0; dim < kernel.rank(); ++dim)
      if (contains(access.dims, dim))
        iterations *=
            kernel.hasFixedOrder ? extentOfFixedOrder : static_cast<double>(kernel.space[dim]);
    for (unsigned dim = 0; dim < kernel.rank(); ++dim)
      if (access.runsAlong(dim))
        weights[dim] += iterations;
  }
  std::optional<unsigned> best;
  for (unsigned dim = 0; dim < kernel.rank(); ++dim)
    if (contains(among, dim) && (kernel.lastRow == 0 || dim != 0) && weights[dim] > 0 &&
        (!best || weights[dim] >= weights[*best]))
      best = dim;
  return best;
}

/// Returns the largest power of two, at most `limit`, that divides the access's offset at all
/// multiples of `limit` along `dim`.
static int64_t alignmentOf(const NormalKernel &kernel, const Access &access, unsigned dim,
                           int64_t limit) {
  uint64_t divisor = limit;
  auto divide = [&](int64_t term) { divisor = std::gcd(divisor, static_cast<uint64_t>(term)); };
  for (unsigned other = 0; other < kernel.rank(); ++other)
    if (other != dim)
      divide(access.form.dims[other]);
  for (int64_t stride : access.form.symbols)
    divide(stride);
  auto constant = dyn_cast<AffineConstantExpr>(access.form.rest);
  divide(constant ? constant.getValue() : access.form.rest.getLargestKnownDivisor());
  return divisor & -divisor;
}

int64_t mtc::gpu::vectorWidth(const NormalKernel &kernel, unsigned dim, bool exact) {
  constexpr int64_t accessBytes = 16, widest = 8;
  // The widest element determines the width, but 64-bit indices do not narrow the accesses of f32.
  int64_t bytes = 0;
  bool hasNarrow = false;
  for (const Access &access : accessesOf(kernel))
    if (access.runsAlong(dim)) {
      bytes = std::max(bytes, elementBytes(access.element));
      hasNarrow |= elementBytes(access.element) <= 4;
    }
  if (bytes == 0)
    return 1;
  if (hasNarrow)
    bytes = std::min<int64_t>(bytes, 4);
  int64_t width = std::min(accessBytes / bytes, widest);
  for (const Access &access : accessesOf(kernel))
    if (access.runsAlong(dim))
      width = std::min(width, alignmentOf(kernel, access, dim, width));
  auto divides = [&] {
    return exact ? kernel.space[dim] % width == 0 && kernel.lastRow % width == 0
                 : kernel.space[dim] >= width;
  };
  while (width > 1 && !divides())
    width /= 2;
  return width;
}

bool mtc::gpu::fixesSumOrder(const NormalKernel &kernel) {
  return kernel.hasFixedOrder && kernel.levels > 0 && kernel.columnSums.empty();
}

int64_t mtc::gpu::fixedVectorWidth(const NormalKernel &kernel, unsigned dim) {
  return std::gcd(std::gcd(kernel.space[dim], kernel.lastRow), int64_t{4});
}

SmallVector<KernelLoadOp> mtc::gpu::loadsAlong(const NormalKernel &kernel, DimSet dims) {
  SmallVector<KernelLoadOp> result;
  kernel.body->walk([&](KernelLoadOp load) {
    if (kernel.values.lookup(load.getValue()).dims & dims)
      result.push_back(load);
  });
  return result;
}

/// Returns an upper bound of the magnitude of an expression and of its subexpressions.
static double boundOf(AffineExpr expr, ArrayRef<int64_t> space) {
  if (auto constant = dyn_cast<AffineConstantExpr>(expr))
    return std::abs(static_cast<double>(constant.getValue()));
  if (auto dim = dyn_cast<AffineDimExpr>(expr))
    return static_cast<double>(space[dim.getPosition()]);
  auto binary = dyn_cast<AffineBinaryOpExpr>(expr);
  if (!binary)
    return INFINITY; // a symbol may be any integer
  double lhs = boundOf(binary.getLHS(), space), rhs = boundOf(binary.getRHS(), space);
  if (expr.getKind() == AffineExprKind::Add)
    return lhs + rhs;
  if (expr.getKind() == AffineExprKind::Mul)
    return lhs * rhs;
  return std::max(lhs, rhs);
}

bool mtc::gpu::fitsInto32Bits(const NormalKernel &kernel) {
  constexpr double limit = 2147483648.0, strideOfGrid = 1 << 24;
  double iterations = 1;
  for (int64_t extent : kernel.space)
    iterations *= static_cast<double>(extent);
  if (iterations + strideOfGrid >= limit)
    return false;
  auto fits = [&](const LinearForm &form) {
    double bound = boundOf(form.rest, kernel.space);
    for (auto [stride, extent] : llvm::zip_equal(form.dims, kernel.space))
      bound += std::abs(static_cast<double>(stride)) * static_cast<double>(extent);
    return bound < limit;
  };
  auto isSmall = [](RankedTensorType type) { return type.getNumElements() < INT32_MAX; };
  return llvm::all_of(kernel.inputs, isSmall) && llvm::all_of(kernel.outputs, isSmall) &&
         llvm::all_of(kernel.stores, fits) &&
         llvm::all_of(kernel.loads, [&](const auto &pair) { return fits(pair.second); }) &&
         llvm::all_of(kernel.indices, [&](const auto &pair) { return fits(pair.second); });
}

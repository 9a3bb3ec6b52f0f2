//===- KernelWindows.cpp - Tiling of a kernel along its rows ----------------------------------===//

#include "passes/kernels/KernelWindows.h"

#include "passes/kernels/KernelEditing.h"

#include "mlir/IR/IRMapping.h"
#include "llvm/Support/MathExtras.h"

#include <numeric>

using namespace mlir;
using namespace mtc;

FailureOr<KernelWindows> KernelWindows::of(KernelOp kernel, std::string &why) {
  KernelWindows windows(kernel);
  why = windows.find();
  if (!why.empty())
    return failure();
  return windows;
}

std::string KernelWindows::find() {
  ArrayRef<int64_t> space = kernel.getSpace();
  auto outermost = llvm::find_if(space, [](int64_t extent) { return extent != 1; });
  if (outermost == space.end())
    return "a kernel that reads or writes it has one row";
  dim = outermost - space.begin();
  rows = *outermost;
  if (kernel.getIterations() && dim != 0)
    return "a kernel that reads or writes it has a part of a row";
  Block &body = kernel.getBody().front();
  if (llvm::is_contained(kernel.getReduced(), static_cast<int64_t>(dim)) &&
      !body.getOps<KernelReduceOp>().empty())
    return "a kernel that reads or writes it reduces its rows";
  KernelYieldOp yield = yieldOf(kernel);
  if (!yield.getAdded().empty() || yield.scatters())
    return "a kernel that reads or writes it adds to results";
  for (auto index : body.getOps<KernelIndexOp>())
    if (index.getMap().isFunctionOfDim(dim))
      return "a kernel that reads or writes it computes with the number of a row";
  if (!body.getOps<KernelAddRowsOp>().empty())
    return "a kernel that reads or writes it adds rows of another value";
  for (BlockArgument argument : body.getArguments()) {
    auto maps =
        llvm::map_to_vector(loadsOf(argument), [](KernelLoadOp load) { return load.getMap(); });
    if (std::string why = add(argument, maps); !why.empty())
      return why;
  }
  for (auto [number, result] : llvm::enumerate(kernel.getOutputs())) {
    if (std::string why = add(result, storedAt(kernel, number)); !why.empty())
      return why;
    // A result that is invariant along a reduced dim has the same value for every row (kernel_c5).
    if (!axes.back() && !llvm::is_contained(kernel.getReduced(), static_cast<int64_t>(dim)))
      return "rows of a kernel that reads or writes it have a result in common";
  }
  return "";
}

/// Returns `index` - `row`, simplified. Most indices are a sum that begins with the row.
static AffineExpr subtractRow(AffineExpr index, AffineExpr row, AffineMap map) {
  if (index == row)
    return getAffineConstantExpr(0, map.getContext());
  if (auto sum = dyn_cast<AffineBinaryOpExpr>(index);
      sum && sum.getKind() == AffineExprKind::Add && sum.getLHS() == row)
    return sum.getRHS();
  return simplifyAffineExpr(index - row, map.getNumDims(), map.getNumSymbols());
}

/// Operands are tiled along the first axis whose index depends on the row. This index must be
/// step * row + rest with 0 <= rest < step, and all axes before it must have size 1.
std::string KernelWindows::add(Value operand, ArrayRef<AffineMap> maps) {
  auto type = cast<RankedTensorType>(operand.getType());
  types.push_back(type);
  axes.push_back(std::nullopt);
  steps.push_back(0);
  bytesPerRow.push_back(0);
  if (llvm::none_of(maps, [&](AffineMap map) { return map.isFunctionOfDim(dim); }))
    return "";
  constexpr const char *scattered = "a kernel that reads or writes it does so in another order";
  unsigned axis = 0;
  while (axis < type.getRank() && type.getDimSize(axis) == 1)
    ++axis;
  if (axis == type.getRank())
    return scattered;
  const int64_t step = llvm::divideCeil(type.getDimSize(axis), rows);
  // Only the last row may be partial, and only in kernels with `iterations`.
  const int64_t missing = step * rows - type.getDimSize(axis);
  if (missing >= step || (missing != 0 && !kernel.getIterations()))
    return scattered;
  SmallVector<std::optional<int64_t>> lowers, uppers;
  for (int64_t extent : kernel.getSpace()) {
    lowers.push_back(0);
    uppers.push_back(extent - 1);
  }
  for (AffineMap map : maps) {
    for (auto [i, index] : llvm::enumerate(map.getResults()))
      if (i != axis && index.isFunctionOfDim(dim))
        return scattered;
    lowers.resize(map.getNumDims() + map.getNumSymbols());
    uppers.resize(map.getNumDims() + map.getNumSymbols());
    AffineExpr row = getAffineDimExpr(dim, map.getContext());
    if (step == 1 && map.getResult(axis) == row)
      continue; // There is no rest. Most maps are of this kind.
    AffineExpr rest = subtractRow(map.getResult(axis), row * step, map);
    if (rest.isFunctionOfDim(dim))
      return scattered;
    auto bound = [&](bool isUpper) {
      return getBoundForAffineExpr(rest, map.getNumDims(), map.getNumSymbols(), lowers, uppers,
                                   isUpper);
    };
    std::optional<int64_t> lower = bound(false), upper = bound(true);
    if (!lower || !upper || *lower < 0 || *upper >= step)
      return scattered;
  }
  axes.back() = axis;
  steps.back() = step;
  bytesPerRow.back() = byteSize(type) / type.getDimSize(axis) * step;
  return "";
}

int64_t KernelWindows::getGranule(ArrayRef<unsigned> operands, int64_t alignment) const {
  int64_t granule = 1;
  for (auto [operand, bytes] : llvm::enumerate(bytesPerRow)) {
    const int64_t own = llvm::is_contained(operands, operand) ? alignment : paddedBytes(1);
    if (bytes)
      granule = std::lcm(granule, own / std::gcd(bytes, own));
  }
  return granule;
}

int64_t KernelWindows::getMaxRows(int64_t slotBytes, ArrayRef<unsigned> operands,
                                  int64_t alignment) const {
  KernelOp whole = kernel;
  const int64_t granule = getGranule(operands, alignment), extra = whole.getIterations() ? 1 : 0;
  auto fits = [&](int64_t count) {
    int64_t bytes = 0;
    for (unsigned operand : operands)
      bytes += llvm::alignTo(bytesPerRow[operand] * std::min(count + extra, rows), alignment);
    return bytes <= slotBytes;
  };
  int64_t perRow = 0;
  for (unsigned operand : operands)
    perRow += bytesPerRow[operand];
  int64_t count = std::min(rows, slotBytes / std::max<int64_t>(perRow, 1));
  if (count < rows)
    count = count / granule * granule;
  while (count > 0 && !fits(count))
    count = count > granule ? llvm::divideCeil(count, granule) * granule - granule : 0;
  return count;
}

int64_t KernelWindows::getEvenRows(int64_t maxRows, ArrayRef<unsigned> operands,
                                   int64_t alignment) const {
  const int64_t count = llvm::divideCeil(rows, maxRows);
  return std::min(maxRows, static_cast<int64_t>(llvm::alignTo(llvm::divideCeil(rows, count),
                                                              getGranule(operands, alignment))));
}

SmallVector<std::pair<int64_t, int64_t>> KernelWindows::partition(int64_t count) const {
  KernelOp whole = kernel;
  SmallVector<std::pair<int64_t, int64_t>> windows;
  for (int64_t begin = 0; begin < rows;) {
    int64_t size = std::min(count, rows - begin);
    // A partial row cannot be a window of its own.
    if (whole.getIterations() && rows - begin - size == 1)
      ++size;
    windows.push_back({begin, size});
    begin += size;
  }
  return windows;
}

RankedTensorType KernelWindows::getType(unsigned operand, int64_t begin, int64_t count) const {
  RankedTensorType type = types[operand];
  if (!axes[operand])
    return type;
  SmallVector<int64_t> shape(type.getShape());
  int64_t &extent = shape[*axes[operand]];
  extent = std::min(steps[operand] * count, extent - steps[operand] * begin);
  return type.clone(shape);
}

KernelOp KernelWindows::cut(OpBuilder &builder, int64_t begin, int64_t count) const {
  KernelOp whole = kernel;
  Block &body = whole.getBody().front();
  SmallVector<int64_t> space(whole.getSpace());
  std::optional<int64_t> iterations;
  if (whole.getIterations() && begin + count == rows)
    iterations = static_cast<int64_t>(*whole.getIterations()) - begin * space[1];
  space[dim] = count;
  unsigned inputs = body.getNumArguments();
  auto outputs = llvm::map_to_vector(llvm::seq<unsigned>(whole.getNumResults()), [&](unsigned i) {
    return Type(getType(inputs + i, begin, count));
  });
  auto window = KernelOp::create(builder, whole.getLoc(), outputs, space, whole.getReduced(),
                                 iterations, ValueRange(), whole.getOnHost());
  Block &copy = window.getBody().emplaceBlock();
  IRMapping mapping;
  for (BlockArgument argument : body.getArguments())
    mapping.map(argument, copy.addArgument(getType(argument.getArgNumber(), begin, count),
                                           argument.getLoc()));
  OpBuilder inside = OpBuilder::atBlockEnd(&copy);
  for (Operation &op : body)
    inside.clone(op, mapping);
  return window;
}

//===- KernelAxes.cpp - Dimensions of a kernel along which values can be divided --------------===//

#include "passes/splitting/KernelAxes.h"

#include "llvm/ADT/BitVector.h"

using namespace mlir;
using namespace mtc;

namespace {

/// Reads the maps of a kernel's loads and results.
class MapReader {
public:
  /// `operands` are those of the operation that the kernel computes.
  MapReader(KernelOp kernel, OperandRange operands)
      : kernel(kernel), operands(operands), divisible(kernel.getSpace().size(), true) {}

  /// Reads all maps. Returns false if the results depend on divided dimensions in other ways.
  bool read();
  /// Returns the divisible dimension of each axis that a map computes.
  SmallVector<std::optional<unsigned>> dimensionsOf(AffineMap map) const;
  std::optional<AffineMap> mapOfInput(unsigned input) const { return inputs[input]; }
  ReductionKind getKind() const { return kind; }

private:
  /// Excludes the dimensions that a map uses.
  void exclude(AffineMap map);
  /// Excludes the dimensions that a map uses otherwise than as an axis.
  void restrict(AffineMap map);
  bool readReduction(KernelReduceOp reduce);

  KernelOp kernel;
  OperandRange operands;
  llvm::BitVector divisible;
  SmallVector<std::optional<AffineMap>> inputs;
  ReductionKind kind = ReductionKind::Add;
};

} // namespace

void MapReader::exclude(AffineMap map) {
  for (unsigned i = 0; i < map.getNumDims(); ++i)
    if (map.isFunctionOfDim(i))
      divisible.reset(i);
}

void MapReader::restrict(AffineMap map) {
  for (AffineExpr expr : map.getResults())
    if (!isa<AffineDimExpr>(expr))
      for (unsigned i = 0; i < map.getNumDims(); ++i)
        if (expr.isFunctionOfDim(i))
          divisible.reset(i);
}

/// Parts of a reduction can be combined if its result is the kernel's result.
bool MapReader::readReduction(KernelReduceOp reduce) {
  kind = reduce.getKind();
  return llvm::all_of(reduce->getUsers(), [](Operation *user) { return isa<KernelYieldOp>(user); });
}

bool MapReader::read() {
  inputs.resize(kernel.getInputs().size());
  unsigned reductions = 0;
  bool areReductionsResults = true;
  for (Operation &op : kernel.getBody().front()) {
    if (auto load = dyn_cast<KernelLoadOp>(op)) {
      const unsigned input = cast<BlockArgument>(load.getSource()).getArgNumber();
      if (!llvm::is_contained(operands, kernel.getInputs()[input])) {
        exclude(load.getMap()); // A constant of the kernel, which is not divided.
        continue;
      }
      if (inputs[input] && *inputs[input] != load.getMap())
        return false; // Reads several elements of the operand.
      inputs[input] = load.getMap();
      restrict(load.getMap());
    } else if (auto index = dyn_cast<KernelIndexOp>(op)) {
      exclude(index.getMap());
    } else if (isa<KernelAddRowsOp>(op)) {
      return false;
    } else if (auto reduce = dyn_cast<KernelReduceOp>(op)) {
      ++reductions;
      areReductionsResults &= readReduction(reduce);
    }
  }
  auto yield = cast<KernelYieldOp>(kernel.getBody().front().getTerminator());
  if (!yield.getAdded().empty() && !yield.scatters())
    return false;
  for (Attribute map : yield.getMaps())
    restrict(cast<AffineMapAttr>(map).getValue());
  if (reductions != 1 || !areReductionsResults)
    for (int64_t dimension : kernel.getReduced())
      divisible.reset(static_cast<unsigned>(dimension));
  return true;
}

SmallVector<std::optional<unsigned>> MapReader::dimensionsOf(AffineMap map) const {
  SmallVector<std::optional<unsigned>> dimensions;
  for (AffineExpr expr : map.getResults()) {
    auto dimension = dyn_cast<AffineDimExpr>(expr);
    dimensions.push_back(dimension && divisible[dimension.getPosition()]
                             ? std::optional<unsigned>(dimension.getPosition())
                             : std::nullopt);
  }
  return dimensions;
}

std::optional<KernelAxes> KernelAxes::find(Operation *op) {
  auto fusible = dyn_cast<FusibleOpInterface>(op);
  if (!fusible)
    return std::nullopt;
  OpBuilder builder(op);
  auto kernel = cast<KernelOp>(fusible.buildKernel(builder));
  MapReader reader(kernel, op->getOperands());
  std::optional<KernelAxes> axes;
  if (reader.read() && !cast<KernelYieldOp>(kernel.getBody().front().getTerminator()).getOnto()) {
    axes.emplace();
    auto yield = cast<KernelYieldOp>(kernel.getBody().front().getTerminator());
    for (Attribute map : yield.getMaps())
      axes->results.push_back(reader.dimensionsOf(cast<AffineMapAttr>(map).getValue()));
    bool isKnown = true;
    for (Value operand : op->getOperands()) {
      auto input = llvm::find(kernel.getInputs(), operand);
      std::optional<AffineMap> map;
      if (input != kernel.getInputs().end())
        map = reader.mapOfInput(input - kernel.getInputs().begin());
      // A splat constant of an elementwise operation is a scalar of the body.
      if (map)
        axes->operands.push_back(reader.dimensionsOf(*map));
      else if (isa<ElementwiseOpInterface>(op))
        axes->operands.push_back(axes->results.front());
      else
        isKnown = false;
    }
    llvm::append_range(axes->reduced, kernel.getReduced());
    axes->kind = reader.getKind();
    // Maps do not say which part of a splat constant other operations need.
    if (!isKnown)
      axes.reset();
  }
  kernel->erase();
  return axes;
}

//===- KernelAnalysis.cpp - Normal form of kernels for code generation ------------------------===//

#include "codegen/kernels/KernelAnalysis.h"

#include "ir/attributes/DiscardableAttributes.h"
#include "ir/builders/KernelBuilder.h"

using namespace mlir;
using namespace mtc;

DimSet LinearForm::dependence() const {
  DimSet set = restDims;
  for (auto [dim, stride] : llvm::enumerate(dims))
    if (stride != 0)
      set |= DimSet(1) << dim;
  return set;
}

std::optional<int64_t> LinearForm::stride(unsigned dim) const {
  if (contains(restDims, dim))
    return std::nullopt;
  return dims[dim];
}

int64_t NormalKernel::iterations() const {
  int64_t count = 1;
  for (int64_t extent : space)
    count *= extent;
  return lastRow > 0 ? count - space[1] + lastRow : count;
}

DimSet NormalKernel::storeDims(unsigned i) const {
  KernelYieldOp op = yield;
  DimSet set = stores[i].dependence() | values.lookup(op.getValues()[i]).dims;
  for (Value symbol : op.getSymbols())
    set |= values.lookup(symbol).dims;
  return set;
}

namespace {

/// An affine expression of the kernel that is rewritten to normal form.
struct Access {
  AffineExpr expr;
  unsigned symbolCount;
};

class Normalizer {
public:
  Normalizer(Block &body, ArrayRef<int64_t> space, ArrayRef<int64_t> reduced,
             std::optional<int64_t> iterations, ArrayRef<RankedTensorType> outputs)
      : context(body.getParentOp()->getContext()), space(space), isReduced(space.size(), false),
        isOwned(space.size(), false) {
    for (int64_t dim : reduced)
      isReduced[dim] = true;
    kernel.body = &body;
    kernel.hasFixedOrder = body.getParentOp()->hasAttr(fixedOrderAttribute);
    kernel.yield = cast<KernelYieldOp>(body.getTerminator());
    for (Type type : body.getArgumentTypes())
      kernel.inputs.push_back(cast<RankedTensorType>(type));
    kernel.outputs.assign(outputs.begin(), outputs.end());
    if (iterations)
      kernel.lastRow = *iterations - (space[0] - 1) * space[1];
  }

  NormalKernel run() {
    collect();
    if (kernel.lastRow == 0) { // A ragged space must keep its two dimensions.
      dropUnitDims();
      while (splitOneDim()) {
      }
      while (mergeOnePair()) {
      }
    }
    linearize();
    analyzeValues();
    return std::move(kernel);
  }

private:
  void collect() {
    kernel.body->walk([&](Operation *op) {
      if (auto load = dyn_cast<KernelLoadOp>(op))
        add(op, offset(load.getMap(), load.getSource().getType().getShape()),
            load.getSymbols().size());
      else if (auto sum = dyn_cast<KernelAddRowsOp>(op))
        add(op, offset(sum.getMap(), sum.getSource().getType().getShape()), /*symbolCount=*/1);
      else if (auto index = dyn_cast<KernelIndexOp>(op))
        add(op, index.getMap().getResult(0), 0);
    });
    for (auto [map, type] : llvm::zip_equal(yieldMaps(), kernel.outputs))
      add(kernel.yield, offset(map, type.getShape()), kernel.yield.getSymbols().size());
    if (kernel.scatters())
      findOwnedDims();
    simplify();
  }

  SmallVector<AffineMap> yieldMaps() {
    return llvm::to_vector(kernel.yield.getMaps().getAsValueRange<AffineMapAttr>());
  }

  void add(Operation *op, AffineExpr expr, unsigned symbolCount) {
    accesses.push_back({expr, symbolCount});
    users.push_back(op);
  }

  /// Returns the row-major offset of an element, in elements.
  AffineExpr offset(AffineMap map, ArrayRef<int64_t> shape) {
    AffineExpr result = getAffineConstantExpr(0, context);
    for (auto [index, extent] : llvm::zip_equal(map.getResults(), shape))
      result = result * extent + index;
    return result;
  }

  void findOwnedDims() {
    for (unsigned dim = 0; dim < space.size(); ++dim) {
      if (isReduced[dim] || space[dim] == 1)
        continue;
      AffineExpr expr = getAffineDimExpr(dim, context);
      isOwned[dim] = llvm::all_of(llvm::zip_equal(yieldMaps(), kernel.outputs), [&](auto pair) {
        auto [map, type] = pair;
        return llvm::any_of(llvm::zip_equal(map.getResults(), type.getShape()), [&](auto axis) {
          return std::get<0>(axis) == expr && std::get<1>(axis) == space[dim];
        });
      });
    }
    for (auto [map, type] : llvm::zip_equal(yieldMaps(), kernel.outputs)) {
      auto &axes = kernel.freeAxes.emplace_back();
      int64_t stride = 1;
      for (int64_t axis = type.getRank() - 1; axis >= 0; --axis) {
        auto dim = dyn_cast<AffineDimExpr>(map.getResult(axis));
        if (!dim || !isOwned[dim.getPosition()])
          axes.insert(axes.begin(), {type.getDimSize(axis), stride});
        stride *= type.getDimSize(axis);
      }
    }
  }

  void simplify() {
    for (Access &access : accesses) {
      AffineMap map = AffineMap::get(space.size(), access.symbolCount, access.expr);
      access.expr = simplifyOverSpace(map, space).getResult(0);
    }
  }

  /// Rewrites all expressions for a new list of dimensions.
  void substitute(ArrayRef<AffineExpr> dims, ArrayRef<int64_t> newSpace) {
    for (Access &access : accesses)
      access.expr = access.expr.replaceDims(dims);
    space.assign(newSpace.begin(), newSpace.end());
    simplify();
  }

  void dropUnitDims() {
    SmallVector<AffineExpr> dims;
    SmallVector<int64_t> extents;
    SmallVector<bool> reduced, owned;
    for (unsigned dim = 0; dim < space.size(); ++dim) {
      if (space[dim] == 1) {
        dims.push_back(getAffineConstantExpr(0, context));
        continue;
      }
      dims.push_back(getAffineDimExpr(extents.size(), context));
      extents.push_back(space[dim]);
      reduced.push_back(isReduced[dim]);
      owned.push_back(isOwned[dim]);
    }
    isReduced = reduced;
    isOwned = owned;
    substitute(dims, extents);
  }

  /// Splits a dimension that an expression divides by a divisor of its extent. Returns whether
  /// there was such a dimension.
  bool splitOneDim() {
    for (const Access &access : accesses) {
      std::optional<std::pair<unsigned, int64_t>> split;
      access.expr.walk([&](AffineExpr expr) {
        auto binary = dyn_cast<AffineBinaryOpExpr>(expr);
        if (!binary ||
            (expr.getKind() != AffineExprKind::FloorDiv && expr.getKind() != AffineExprKind::Mod))
          return;
        auto dim = dyn_cast<AffineDimExpr>(binary.getLHS());
        auto divisor = dyn_cast<AffineConstantExpr>(binary.getRHS());
        if (!dim || !divisor || divisor.getValue() <= 1 ||
            (isReduced[dim.getPosition()] && kernel.hasFixedOrder))
          return;
        int64_t extent = space[dim.getPosition()];
        if (divisor.getValue() < extent && extent % divisor.getValue() == 0)
          split = {dim.getPosition(), divisor.getValue()};
      });
      if (split) {
        splitDim(split->first, split->second);
        return true;
      }
    }
    return false;
  }

  void splitDim(unsigned split, int64_t divisor) {
    SmallVector<AffineExpr> dims;
    SmallVector<int64_t> extents;
    for (unsigned dim = 0; dim < space.size(); ++dim) {
      AffineExpr first = getAffineDimExpr(extents.size(), context);
      if (dim != split) {
        dims.push_back(first);
        extents.push_back(space[dim]);
        continue;
      }
      dims.push_back(first * divisor + getAffineDimExpr(extents.size() + 1, context));
      extents.push_back(space[dim] / divisor);
      extents.push_back(divisor);
    }
    isReduced.insert(isReduced.begin() + split, isReduced[split]);
    isOwned.insert(isOwned.begin() + split, isOwned[split]);
    substitute(dims, extents);
  }

  /// Merges two adjacent dimensions if every expression is linear over both as over one dimension.
  bool mergeOnePair() {
    for (unsigned dim = 0; dim + 1 < space.size(); ++dim) {
      if (isReduced[dim] != isReduced[dim + 1] || isOwned[dim] != isOwned[dim + 1] ||
          (isReduced[dim] && kernel.hasFixedOrder))
        continue;
      bool mergeable = llvm::all_of(accesses, [&](const Access &access) {
        LinearForm form = linearForm(access);
        std::optional<int64_t> outer = form.stride(dim), inner = form.stride(dim + 1);
        return outer && inner && *outer == *inner * space[dim + 1];
      });
      if (!mergeable)
        continue;
      // The inner dimension becomes the merged one: an expression has a term for it exactly if it
      // has one for the outer dimension.
      SmallVector<AffineExpr> dims;
      SmallVector<int64_t> extents;
      for (unsigned old = 0; old < space.size(); ++old) {
        if (old == dim) {
          dims.push_back(getAffineConstantExpr(0, context));
          continue;
        }
        dims.push_back(getAffineDimExpr(extents.size(), context));
        extents.push_back(old == dim + 1 ? space[dim] * space[dim + 1] : space[old]);
      }
      isReduced.erase(isReduced.begin() + dim);
      isOwned.erase(isOwned.begin() + dim);
      substitute(dims, extents);
      return true;
    }
    return false;
  }

  LinearForm linearForm(const Access &access) {
    LinearForm form;
    form.dims.assign(space.size(), 0);
    form.symbols.assign(access.symbolCount, 0);
    form.rest = getAffineConstantExpr(0, context);
    addTerm(form, access.expr, 1);
    for (unsigned dim = 0; dim < space.size(); ++dim)
      if (form.rest.isFunctionOfDim(dim))
        form.restDims |= DimSet(1) << dim;
    for (unsigned symbol = 0; symbol < access.symbolCount; ++symbol)
      if (form.rest.isFunctionOfSymbol(symbol))
        form.restSymbols |= uint64_t(1) << symbol;
    return form;
  }

  void addTerm(LinearForm &form, AffineExpr expr, int64_t factor) {
    if (auto dim = dyn_cast<AffineDimExpr>(expr)) {
      form.dims[dim.getPosition()] += factor;
      return;
    }
    if (auto symbol = dyn_cast<AffineSymbolExpr>(expr)) {
      form.symbols[symbol.getPosition()] += factor;
      return;
    }
    if (auto binary = dyn_cast<AffineBinaryOpExpr>(expr)) {
      if (expr.getKind() == AffineExprKind::Add) {
        addTerm(form, binary.getLHS(), factor);
        addTerm(form, binary.getRHS(), factor);
        return;
      }
      auto constant = dyn_cast<AffineConstantExpr>(binary.getRHS());
      if (expr.getKind() == AffineExprKind::Mul && constant) {
        addTerm(form, binary.getLHS(), factor * constant.getValue());
        return;
      }
    }
    form.rest = form.rest + expr * factor;
  }

  void linearize() {
    kernel.space = space;
    for (auto [dim, reduced] : llvm::enumerate(isReduced))
      if (reduced)
        kernel.reduced |= DimSet(1) << dim;
    for (auto [dim, owned] : llvm::enumerate(isOwned))
      if (owned)
        kernel.owned |= DimSet(1) << dim;
    for (auto [access, user] : llvm::zip_equal(accesses, users)) {
      LinearForm form = linearForm(access);
      if (isa<KernelLoadOp, KernelAddRowsOp>(user))
        kernel.loads[user] = form;
      else if (isa<KernelIndexOp>(user))
        kernel.indices[user] = form;
      else
        kernel.stores.push_back(form);
    }
    for (int64_t sum : kernel.yield.getAdded()) {
      if (!kernel.yield.isColumnSum(sum))
        continue;
      kernel.columnSums.push_back(sum);
      kernel.summedDims |= kernel.allDims() & ~kernel.reduced & ~kernel.stores[sum].dependence();
    }
  }

  void analyzeValues() {
    for (Operation &op : kernel.body->without_terminator()) {
      NormalKernel::ValueInfo info;
      for (Value operand : op.getOperands()) {
        NormalKernel::ValueInfo from = kernel.values.lookup(operand);
        info.dims |= from.dims;
        info.level = std::max(info.level, from.level);
      }
      if (auto it = kernel.loads.find(&op); it != kernel.loads.end())
        info.dims |= it->second.dependence();
      if (auto it = kernel.indices.find(&op); it != kernel.indices.end())
        info.dims |= it->second.dependence();
      if (auto reduce = dyn_cast<KernelReduceOp>(op)) {
        info.dims &= ~kernel.reduced;
        ++info.level;
        kernel.levels = std::max(kernel.levels, info.level);
        kernel.reductions.push_back(reduce);
      }
      for (Value result : op.getResults())
        kernel.values[result] = info;
    }
  }

  NormalKernel kernel;
  MLIRContext *context;
  SmallVector<int64_t> space;
  SmallVector<bool> isReduced, isOwned;
  SmallVector<Access> accesses;
  SmallVector<Operation *> users;
};

} // namespace

Type mtc::typeOfPartial(const NormalKernel &kernel, unsigned result) {
  KernelYieldOp yield = kernel.yield;
  return yield.getValues()[result].getType();
}

KernelLoadOp NormalKernel::getLoad(unsigned i) const {
  for (KernelLoadOp load : body->getOps<KernelLoadOp>())
    if (i-- == 0)
      return load;
  return {};
}

bool NormalKernel::isSpace(std::initializer_list<ArrayRef<unsigned>> lists) const {
  SmallVector<unsigned> dims;
  for (ArrayRef<unsigned> list : lists)
    llvm::append_range(dims, list);
  llvm::sort(dims);
  return llvm::equal(dims, llvm::seq<unsigned>(rank()));
}

NormalKernel mtc::normalizeKernel(KernelFunctionOp function) {
  return Normalizer(function.getBody().front(), function.getSpace(), function.getReduced(),
                    function.getIterations(), function.getOutputTypes())
      .run();
}

Cost mtc::costOfKernel(Operation *op) {
  if (auto function = dyn_cast<KernelFunctionOp>(op))
    return function.getCost();
  return cast<KernelOp>(op).getCost();
}

NormalKernel mtc::normalizeKernel(Operation *op) {
  if (auto function = dyn_cast<KernelFunctionOp>(op))
    return normalizeKernel(function);
  auto kernel = cast<KernelOp>(op);
  SmallVector<RankedTensorType> outputs;
  for (Type type : kernel.getOutputs().getTypes())
    outputs.push_back(cast<RankedTensorType>(type));
  return Normalizer(kernel.getBody().front(), kernel.getSpace(), kernel.getReduced(),
                    kernel.getIterations(), outputs)
      .run();
}

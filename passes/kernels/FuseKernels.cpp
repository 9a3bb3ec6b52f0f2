//===- FuseKernels.cpp - Elementwise kernels move into the kernels that read them -------------===//
//
// Knows shapes of kernels, not operators: a producer is fused by computing its body at the points
// at which its result is read, which is a composition of index maps.
//
//===------------------------------------------------------------------------------------------===//

#include "ir/KernelBuilder.h"
#include "ir/Mtc.h"
#include "passes/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/IRMapping.h"
#include "llvm/ADT/BitVector.h"
#include "llvm/Support/Debug.h"

#define DEBUG_TYPE "mtc-fuse-kernels"

namespace mtc {
#define GEN_PASS_DEF_FUSEKERNELS
#include "passes/Passes.h.inc"
} // namespace mtc

using namespace mlir;
using namespace mtc;

namespace {

int64_t pointsOf(KernelOp kernel) {
  int64_t points = 1;
  for (int64_t extent : kernel.getSpace())
    points *= extent;
  return points;
}

KernelYieldOp yieldOf(KernelOp kernel) {
  return cast<KernelYieldOp>(kernel.getBody().front().getTerminator());
}

bool onlyMoves(KernelOp kernel) {
  return llvm::all_of(kernel.getBody().front(), [](Operation &op) {
    return isa<KernelLoadOp, KernelIndexOp, KernelYieldOp>(op) ||
           op.hasTrait<OpTrait::ConstantLike>();
  });
}

bool divides(AffineMap map) {
  bool found = false;
  map.walkExprs([&](AffineExpr expr) {
    AffineExprKind kind = expr.getKind();
    found |= kind == AffineExprKind::FloorDiv || kind == AffineExprKind::Mod ||
             kind == AffineExprKind::CeilDiv;
  });
  return found;
}

/// The map that reads `from` (of the same elements in another shape) where `map` reads `to`.
AffineMap reshapeMap(AffineMap map, ArrayRef<int64_t> to, ArrayRef<int64_t> from,
                     ArrayRef<int64_t> space) {
  MLIRContext *context = map.getContext();
  AffineExpr linear = getAffineConstantExpr(0, context);
  for (auto [expr, extent] : llvm::zip_equal(map.getResults(), to))
    linear = linear * extent + expr;
  SmallVector<AffineExpr> index(from.size());
  for (size_t i = from.size(); i-- > 0;) {
    index[i] = i == 0 ? linear : linear % from[i];
    linear = linear.floorDiv(from[i]);
  }
  AffineMap result = AffineMap::get(map.getNumDims(), map.getNumSymbols(), index, context);
  return simplifyOverSpace(result, space);
}

SmallVector<KernelLoadOp> loadsOf(BlockArgument argument) {
  return llvm::map_to_vector(argument.getUsers(),
                             [](Operation *user) { return cast<KernelLoadOp>(user); });
}

/// load(view(x))[m] => load(x)[m'] where m' needs no division. Symbols of the body have no known
/// range, so that gathers through a view stay as they are.
bool readThroughView(KernelOp kernel, unsigned input) {
  Value value = kernel.getInputs()[input];
  Operation *view = value.getDefiningOp();
  if (!view || !view->hasTrait<mtc::View>())
    return false;
  Value source = view->getOperand(0);
  BlockArgument argument = kernel.getBody().front().getArgument(input);
  auto to = cast<RankedTensorType>(value.getType());
  auto from = cast<RankedTensorType>(source.getType());
  SmallVector<KernelLoadOp> loads = loadsOf(argument);
  SmallVector<AffineMap> maps;
  for (KernelLoadOp load : loads) {
    AffineMap map = load.getMap();
    if (to != from) {
      if (load.getGuard())
        return false; // Outside its guard a dim's combination may leave the range that divisions
                      // rely on.
      map = reshapeMap(map, to.getShape(), from.getShape(), kernel.getSpace());
    }
    if (divides(map) && !divides(load.getMap()))
      return false;
    maps.push_back(map);
  }
  kernel.getInputsMutable()[input].set(source);
  argument.setType(source.getType());
  for (auto [load, map] : llvm::zip_equal(loads, maps))
    load.setMap(map);
  if (view->use_empty())
    view->erase(); // It would count as another reader of its source.
  return true;
}

AffineMap storedAt(KernelOp kernel, unsigned result) {
  return cast<AffineMapAttr>(yieldOf(kernel).getMaps()[result]).getValue();
}

/// The point at which a kernel computes the element of a result that `index` names: the inverse of
/// the map at which it is stored. Null unless that map only permutes dimensions and leaves out
/// those of extent 1.
AffineMap pointOf(KernelOp kernel, unsigned result, AffineMap index) {
  AffineMap stored = storedAt(kernel, result);
  SmallVector<AffineExpr> point;
  for (auto [d, extent] : llvm::enumerate(kernel.getSpace())) {
    auto dim = getAffineDimExpr(d, kernel.getContext());
    auto position = llvm::find(stored.getResults(), dim);
    if (position != stored.getResults().end())
      point.push_back(index.getResult(position - stored.getResults().begin()));
    else if (extent == 1)
      point.push_back(getAffineConstantExpr(0, kernel.getContext()));
    else
      return {};
  }
  return AffineMap::get(index.getNumDims(), index.getNumSymbols(), point, kernel.getContext());
}

/// Computes a producer's result where one load of a reader reads it.
class ProducerInliner {
public:
  ProducerInliner(KernelOp producer, KernelOp reader, ArrayRef<Value> arguments)
      : producer(producer), reader(reader), arguments(arguments) {}

  /// Every load of the producer becomes one at the composition of its map with the point at which
  /// it computes what the reader's load names. Returns the values of all results there.
  SmallVector<Value> inlineAt(KernelLoadOp load, unsigned result) {
    OpBuilder b(load);
    AffineMap point = pointOf(producer, result, load.getMap());
    Block &body = producer.getBody().front();
    IRMapping mapping;
    for (auto [from, to] : llvm::zip_equal(body.getArguments(), arguments))
      mapping.map(from, to);
    for (Operation &op : body.without_terminator()) {
      if (auto inner = dyn_cast<KernelLoadOp>(op))
        mapping.map(inner.getValue(), inlineLoad(b, inner, load, point, mapping));
      else if (auto index = dyn_cast<KernelIndexOp>(op))
        mapping.map(index.getValue(), inlineIndex(b, index, load, point));
      else
        b.clone(op, mapping);
    }
    SmallVector<Value> values;
    for (Value value : yieldOf(producer).getValues())
      values.push_back(mapping.lookup(value));
    if (load.getGuard())
      values[result] = arith::SelectOp::create(b, load.getLoc(), load.getGuard(), values[result],
                                               load.getOtherwise());
    return values;
  }

private:
  /// Symbols of the composition: those of the inner map first, then the outer's.
  AffineMap compose(AffineMap inner, AffineMap point) {
    SmallVector<AffineExpr> symbols;
    for (unsigned i = 0; i < inner.getNumSymbols(); ++i)
      symbols.push_back(getAffineSymbolExpr(i, inner.getContext()));
    SmallVector<AffineExpr> dims;
    for (AffineExpr expr : point.getResults())
      dims.push_back(expr.shiftSymbols(point.getNumSymbols(), inner.getNumSymbols()));
    AffineMap composed = inner.replaceDimsAndSymbols(dims, symbols, point.getNumDims(),
                                                     inner.getNumSymbols() + point.getNumSymbols());
    return simplifyOverSpace(composed, reader.getSpace());
  }

  Value inlineLoad(OpBuilder &b, KernelLoadOp inner, KernelLoadOp load, AffineMap point,
                   IRMapping &mapping) {
    SmallVector<Value> symbols;
    for (Value symbol : inner.getSymbols())
      symbols.push_back(mapping.lookup(symbol));
    llvm::append_range(symbols, load.getSymbols());
    // Where the reader's guard is false the point may lie outside the producer's space.
    Value guard = load.getGuard(), otherwise;
    if (inner.getGuard()) {
      Value own = mapping.lookup(inner.getGuard());
      guard = guard ? arith::AndIOp::create(b, load.getLoc(), guard, own).getResult() : own;
      otherwise = mapping.lookup(inner.getOtherwise());
    } else if (guard) {
      otherwise = scalarConstant(b, load.getLoc(), inner.getValue().getType(), 0);
    }
    return KernelLoadOp::create(b, inner.getLoc(), inner.getValue().getType(),
                                mapping.lookup(inner.getSource()), compose(inner.getMap(), point),
                                symbols, guard, otherwise);
  }

  Value inlineIndex(OpBuilder &b, KernelIndexOp index, KernelLoadOp load, AffineMap point) {
    return KernelIndexOp::create(b, index.getLoc(), index.getValue().getType(),
                                 compose(index.getMap(), point));
  }

  KernelOp producer, reader;
  ArrayRef<Value> arguments;
};

class FuseKernelsPass : public mtc::impl::FuseKernelsBase<FuseKernelsPass> {
public:
  using FuseKernelsBase::FuseKernelsBase;

private:
  void runOnOperation() override {
    // Readers before producers: what is fused into a reader is then fused further up.
    SmallVector<KernelOp> kernels;
    getOperation().walk([&](KernelOp kernel) { kernels.push_back(kernel); });
    llvm::SmallPtrSet<Operation *, 16> erased;
    for (KernelOp reader : llvm::reverse(kernels)) {
      if (erased.contains(reader))
        continue;
      for (unsigned i = 0; i < reader.getInputs().size();) {
        if (readThroughView(reader, i))
          continue; // What was behind the view may be a view, or a producer.
        if (KernelOp producer = fuse(reader, i)) {
          if (producer->use_empty()) {
            erased.insert(producer);
            producer.erase();
          }
          i = 0; // Inputs have moved.
          continue;
        }
        ++i;
      }
    }
    joinShared();
  }

  /// Producers whose result is needed elsewhere too are computed by the reader all the same where
  /// both visit the same points: the reader gives their results as its own.
  void joinShared() {
    SmallVector<KernelOp> kernels;
    getOperation().walk([&](KernelOp kernel) { kernels.push_back(kernel); });
    llvm::SmallPtrSet<Operation *, 16> erased;
    for (KernelOp reader : llvm::reverse(kernels)) {
      if (erased.contains(reader))
        continue;
      for (unsigned i = 0; i < reader.getInputs().size();) {
        auto producer = reader.getInputs()[i].getDefiningOp<KernelOp>();
        if (!producer || !mayJoin(producer, reader)) {
          ++i;
          continue;
        }
        erased.insert(producer);
        erased.insert(reader);
        reader = join(producer, reader);
        i = 0;
      }
    }
  }

  bool mayJoin(KernelOp producer, KernelOp reader) {
    if (producer.getShape() != FusibleShape::Elementwise ||
        reader.getShape() != FusibleShape::Elementwise ||
        producer.getSpace() != reader.getSpace() || !exceedsLimits(producer, reader).empty())
      return false;
    for (unsigned i = 0; i < producer->getNumResults(); ++i)
      if (!storedAt(producer, i).isIdentity())
        return false;
    for (Operation *user : producer->getUsers())
      if (user != reader && user->isBeforeInBlock(reader))
        return false;
    Block &body = reader.getBody().front();
    for (auto [value, argument] : llvm::zip_equal(reader.getInputs(), body.getArguments()))
      if (value.getDefiningOp() == producer)
        for (KernelLoadOp load : loadsOf(argument))
          if (!load.getMap().isIdentity() || load.getGuard())
            return false;
    return true;
  }

  /// One kernel that gives the reader's results, then the producer's; both are erased.
  KernelOp join(KernelOp producer, KernelOp reader) {
    OpBuilder builder(reader);
    SmallVector<Type> types(reader->getResultTypes());
    llvm::append_range(types, producer->getResultTypes());
    auto loc = FusedLoc::get(builder.getContext(), {producer.getLoc(), reader.getLoc()});
    auto joined = KernelOp::create(builder, loc, types, reader.getSpaceAttr(),
                                   reader.getReducedAttr(), reader.getInputs());
    joined.getBody().takeBody(reader.getBody());
    Block &body = joined.getBody().front();
    SmallVector<Value> arguments = shareInputs(producer, joined);

    // The values are computed once, at the start.
    SmallVector<Value> values;
    IRMapping mapping;
    for (auto [from, to] : llvm::zip_equal(producer.getBody().front().getArguments(), arguments))
      mapping.map(from, to);
    OpBuilder start = OpBuilder::atBlockBegin(&body);
    for (Operation &op : producer.getBody().front().without_terminator())
      start.clone(op, mapping);
    for (Value value : yieldOf(producer).getValues())
      values.push_back(mapping.lookup(value));

    llvm::BitVector dropped(joined.getInputs().size());
    for (auto [i, input] : llvm::enumerate(joined.getInputs())) {
      if (input.getDefiningOp() != producer)
        continue;
      unsigned number = cast<OpResult>(input).getResultNumber();
      for (KernelLoadOp load : loadsOf(body.getArgument(i))) {
        load.getValue().replaceAllUsesWith(values[number]);
        load.erase();
      }
      dropped.set(i);
    }
    body.eraseArguments(dropped);
    joined->eraseOperands(dropped);

    KernelYieldOp yield = yieldOf(joined);
    yield.getValuesMutable().append(values);
    SmallVector<Attribute> maps(yield.getMaps().getValue());
    llvm::append_range(maps, yieldOf(producer).getMaps());
    yield.setMapsAttr(builder.getArrayAttr(maps));

    unsigned own = reader->getNumResults();
    reader->replaceAllUsesWith(joined->getResults().take_front(own));
    producer->replaceAllUsesWith(joined->getResults().drop_front(own));
    reader.erase();
    producer.erase();
    return joined;
  }

  /// The reason why a producer stays apart; empty if it need not.
  StringRef refuse(KernelOp producer, KernelOp reader, unsigned result) {
    if (producer.getShape() != FusibleShape::Elementwise)
      return "the producer is not elementwise";
    if (!pointOf(producer, result, storedAt(producer, result)))
      return "the producer stores several points at one place";
    bool isShared =
        !llvm::all_of(producer->getUsers(), [&](Operation *user) { return user == reader; });
    bool moves = onlyMoves(producer);
    if (isShared && !moves)
      return "its result is needed elsewhere too";
    // A few points more, as padding has, are worth a pass over memory less.
    if (!moves && pointsOf(reader) > pointsOf(producer) * 3 / 2)
      return "its elements would be computed several times";
    if (moves && reader.getShape() != FusibleShape::Elementwise && isShared)
      return "its result is needed elsewhere too";
    return exceedsLimits(producer, reader);
  }

  StringRef exceedsLimits(KernelOp producer, KernelOp reader) {
    if (producer.getInputs().size() + reader.getInputs().size() > maxInputs + 1)
      return "the kernel would have too many operands";
    size_t operations =
        std::distance(producer.getBody().front().begin(), producer.getBody().front().end()) +
        std::distance(reader.getBody().front().begin(), reader.getBody().front().end());
    if (operations > maxOperations)
      return "the kernel would hold too many operations";
    return {};
  }

  /// The reader's arguments for the producer's inputs; those that it lacks are added.
  static SmallVector<Value> shareInputs(KernelOp producer, KernelOp reader) {
    Block &body = reader.getBody().front();
    SmallVector<Value> arguments;
    for (Value value : producer.getInputs()) {
      auto known = llvm::find(reader.getInputs(), value);
      if (known != reader.getInputs().end()) {
        arguments.push_back(body.getArgument(known - reader.getInputs().begin()));
        continue;
      }
      reader.getInputsMutable().append(value);
      arguments.push_back(body.addArgument(value.getType(), producer.getLoc()));
    }
    return arguments;
  }

  /// Fuses the producer of an input, and returns it.
  KernelOp fuse(KernelOp reader, unsigned input) {
    auto result = dyn_cast<OpResult>(reader.getInputs()[input]);
    auto producer = result ? dyn_cast<KernelOp>(result.getOwner()) : KernelOp();
    if (!producer)
      return {};
    BlockArgument argument = reader.getBody().front().getArgument(input);
    SmallVector<KernelLoadOp> loads = loadsOf(argument);
    StringRef reason = refuse(producer, reader, result.getResultNumber());
    if (reason.empty() && !onlyMoves(producer) && loads.size() > 1)
      reason = "it is read at several places of the reader";
    if (!reason.empty()) {
      LLVM_DEBUG(llvm::dbgs() << "not fused: " << producer.getLoc() << ": " << reason << "\n");
      return {};
    }
    SmallVector<Value> arguments = shareInputs(producer, reader);
    ProducerInliner inliner(producer, reader, arguments);
    for (KernelLoadOp load : loads) {
      unsigned number = result.getResultNumber();
      load.getValue().replaceAllUsesWith(inliner.inlineAt(load, number)[number]);
      load.erase();
    }
    reader.getBody().front().eraseArgument(input);
    reader->eraseOperand(input);
    reader->setLoc(FusedLoc::get(reader.getContext(), {producer.getLoc(), reader.getLoc()}));
    return producer;
  }
};

} // namespace

//===- GatherWindows.cpp - Gathers of divided variables ---------------------------------------===//

#include "passes/sharding/GatherWindows.h"

#include "ir/builders/TensorBuilder.h"
#include "passes/sharding/Pieces.h"

#include "mlir/IR/IRMapping.h"
#include "llvm/ADT/MapVector.h"
#include <numeric>

using namespace mlir;
using namespace mtc;

/// The minimum number of windows, so that even a small model does not hold all of its variables at
/// a time.
static constexpr int64_t minWindows = 16;

GatherWindows::GatherWindows(func::FuncOp function, const llvm::StringSet<> &variables,
                             RankGroup group)
    : function(function), group(group) {
  int64_t bytes = 0;
  for (Operation &op : function.front()) {
    positions[&op] = static_cast<int64_t>(operations.size());
    operations.push_back(&op);
  }
  function.walk([&](ReadOp read) {
    if (!variables.contains(read.getVariable()))
      return;
    reads.push_back(read);
    bytes += byteSize(typeOf(read.getResult()));
  });
  windowBytes = std::min(defaultBucketBytes, bytes / minWindows);
}

/// Returns whether an operation is repeated for each gather of its operand.
static bool isRepeated(Operation *op) {
  return op->hasTrait<mtc::View>() || isa<TransposeOp, CastOp>(op);
}

void GatherWindows::collectUses(Value value, SmallVectorImpl<Use> &uses) {
  for (OpOperand &use : value.getUses()) {
    if (isRepeated(use.getOwner())) {
      collectUses(use.getOwner()->getResult(0), uses);
      continue;
    }
    Operation *inFunction = function.front().findAncestorOpInBlock(*use.getOwner());
    uses.push_back({&use, positions.lookup(inFunction)});
  }
}

std::vector<GatherWindows::Cluster> GatherWindows::makeClusters() {
  std::vector<std::pair<ReadOp, SmallVector<Use>>> usesOfReads;
  // The bytes of the variables that are used before each position, counted for every use.
  std::vector<int64_t> used(operations.size() + 1, 0);
  for (ReadOp read : reads) {
    SmallVector<Use> uses;
    collectUses(read, uses);
    llvm::sort(uses, [](const Use &a, const Use &b) { return a.position < b.position; });
    const int64_t bytes = byteSize(typeOf(read.getResult()));
    for (const Use &use : uses)
      used[static_cast<size_t>(use.position) + 1] += bytes;
    usesOfReads.emplace_back(read, std::move(uses));
  }
  std::partial_sum(used.begin(), used.end(), used.begin());
  std::vector<Cluster> clusters;
  for (auto &[read, uses] : usesOfReads) {
    const int64_t own = byteSize(typeOf(read.getResult()));
    for (const Use &use : uses) {
      Cluster *last = clusters.empty() || clusters.back().read != read ? nullptr : &clusters.back();
      if (last) {
        // Bytes that other variables need after the last use of this one and before the next.
        const int64_t between = used[static_cast<size_t>(use.position)] -
                                used[static_cast<size_t>(last->uses.back().position) + 1];
        if (between <= std::max(2 * windowBytes, own)) {
          last->uses.push_back(use);
          continue;
        }
      }
      clusters.push_back({read, clusters.size(), {use}});
    }
  }
  llvm::sort(clusters, [](const Cluster &a, const Cluster &b) {
    return std::tuple(a.begin(), a.number) < std::tuple(b.begin(), b.number);
  });
  return clusters;
}

std::vector<GatherWindows::Window>
GatherWindows::makeWindows(std::vector<Cluster> &clusters) const {
  std::vector<Window> windows;
  for (Cluster &cluster : clusters) {
    RankedTensorType type = typeOf(cluster.read.getResult());
    if (windows.empty() || windows.back().bytes + byteSize(type) > windowBytes)
      windows.emplace_back();
    windows.back().clusters.push_back(&cluster);
    windows.back().bytes += byteSize(type);
  }
  return windows;
}

/// Returns the value of a use's chain of views and casts over `root`, repeated before the user.
static Value repeatChain(Value used, Value read, Value root, OpBuilder &builder) {
  if (used == read)
    return root;
  Operation *op = used.getDefiningOp();
  IRMapping mapping;
  mapping.map(op->getOperand(0), repeatChain(op->getOperand(0), read, root, builder));
  return builder.clone(*op, mapping)->getResult(0);
}

void GatherWindows::gather(const Window &window, Operation *before) {
  llvm::MapVector<Type, SmallVector<Cluster *>> byElement;
  for (Cluster *cluster : window.clusters)
    byElement[typeOf(cluster->read.getResult()).getElementType()].push_back(cluster);
  for (ArrayRef<Cluster *> clusters : llvm::make_second_range(byElement))
    gather(clusters, before);
}

void GatherWindows::gather(ArrayRef<Cluster *> clusters, Operation *before) {
  OpBuilder builder(before);
  SmallVector<Type> types;
  SmallVector<Value> pieces;
  SmallVector<Location> locations;
  for (Cluster *cluster : clusters) {
    ReadOp read = cluster->read;
    RankedTensorType whole = typeOf(read.getResult());
    types.push_back(whole);
    pieces.push_back(ReadOp::create(builder, read.getLoc(), pieceTypeOf(whole, group.count),
                                    read.getVariable()));
    locations.push_back(read.getLoc());
  }
  auto all = AllGatherOp::create(builder, builder.getFusedLoc(locations), types, pieces, group);
  for (auto [cluster, value] : llvm::zip_equal(clusters, all.getValues()))
    for (const Use &use : cluster->uses) {
      builder.setInsertionPoint(operations[static_cast<size_t>(use.position)]);
      use.operand->set(repeatChain(use.operand->get(), cluster->read.getResult(), value, builder));
    }
}

/// Erases an operation and its users, which have no other uses.
static void eraseWithUsers(Operation *op) {
  for (Operation *user : llvm::make_early_inc_range(op->getUsers()))
    eraseWithUsers(user);
  op->erase();
}

void GatherWindows::insert() {
  std::vector<Cluster> clusters = makeClusters();
  const std::vector<Window> windows = makeWindows(clusters);
  for (auto [i, window] : llvm::enumerate(windows)) {
    // While the preceding window is used, this one arrives.
    const Window &preceding = windows[i ? i - 1 : 0];
    gather(window, operations[static_cast<size_t>(preceding.clusters.front()->begin())]);
  }
  for (ReadOp read : reads)
    eraseWithUsers(read);
}

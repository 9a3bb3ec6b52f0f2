//===- MergeEqual.cpp - Merging of equal operations -------------------------------------------===//
//
// Common subexpression elimination like MLIR's, but with hashes that include the bodies of kernels.
// MLIR's hashes ignore them, so it would compare each kernel with all kernels that have the same
// operands, and a value may have thousands of users.
//
//===------------------------------------------------------------------------------------------===//

#include "passes/Passes.h"

#include "mlir/IR/OperationSupport.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

namespace mtc {
#define GEN_PASS_DEF_MERGEEQUAL
#include "passes/Passes.h.inc"
} // namespace mtc

using namespace mlir;
using namespace mtc;

namespace {

using Equivalence = OperationEquivalence;

struct EqualInfo : llvm::DenseMapInfo<Operation *> {
  static unsigned getHashValue(Operation *op) {
    llvm::hash_code hash =
        Equivalence::computeHash(op, Equivalence::directHashValue, Equivalence::ignoreHashValue,
                                 Equivalence::IgnoreLocations);
    for (Region &region : op->getRegions())
      region.walk([&](Operation *inner) {
        hash =
            llvm::hash_combine(hash, Equivalence::computeHash(inner, Equivalence::ignoreHashValue,
                                                              Equivalence::ignoreHashValue,
                                                              Equivalence::IgnoreLocations));
      });
    return static_cast<unsigned>(static_cast<size_t>(hash));
  }
  static bool isEqual(Operation *lhs, Operation *rhs) {
    if (lhs == rhs)
      return true;
    if (lhs == getTombstoneKey() || lhs == getEmptyKey() || rhs == getTombstoneKey() ||
        rhs == getEmptyKey())
      return false;
    return Equivalence::isEquivalentTo(lhs, rhs, Equivalence::IgnoreLocations);
  }
};

/// The operations of a block that precede the current one.
class BlockMerger {
public:
  explicit BlockMerger(Block &block) : block(block) {}

  /// Merges equal operations and erases dead ones. Returns the number of erased operations.
  int64_t run() {
    for (Operation &op : block.without_terminator())
      if (!isOpTriviallyDead(&op))
        visit(&op);
      else
        dead.push_back(&op);
    for (Operation *op : llvm::reverse(dead))
      op->erase();
    return static_cast<int64_t>(dead.size());
  }

private:
  void visit(Operation *op) {
    const bool isFree = isMemoryEffectFree(op);
    if (!isFree && !hasSingleEffect<MemoryEffects::Read>(op)) {
      ++writes;
      return;
    }
    if (llvm::any_of(op->getRegions(),
                     [](Region &region) { return region.getBlocks().size() > 1; }))
      return;
    auto [entry, isNew] = known.try_emplace(op, writes);
    if (isNew)
      return;
    // A value that is read again after a write is another one.
    if (!isFree && entry->second != writes) {
      known.erase(entry);
      known.try_emplace(op, writes);
      return;
    }
    Operation *first = entry->first;
    op->replaceAllUsesWith(first);
    if (isa<UnknownLoc>(first->getLoc()))
      first->setLoc(op->getLoc());
    dead.push_back(op);
  }

  Block &block;
  llvm::DenseMap<Operation *, int64_t, EqualInfo> known; ///< with the number of earlier writes
  SmallVector<Operation *, 0> dead;
  int64_t writes = 0;
};

struct MergeEqualPass : mtc::impl::MergeEqualBase<MergeEqualPass> {
  void runOnOperation() override {
    getOperation()->walk([&](Block *block) {
      if (block->mightHaveTerminator())
        merged += BlockMerger(*block).run();
    });
  }
};

} // namespace

//===- LiveProfile.h - Live bytes of a sequence under moves -----------------------------------===//

#ifndef MTC_PASSES_MEMORY_LIVEPROFILE_H
#define MTC_PASSES_MEMORY_LIVEPROFILE_H

#include "mlir/Support/LLVM.h"

#include <vector>

namespace mtc {

/// Score of a schedule: its peak in bytes and the number of operations at which the peak is
/// reached. Lower is better.
struct OrderScore {
  int64_t peak, times;
  auto operator<=>(const OrderScore &) const = default;
};

/// A sequence of nodes that allocate bytes before they run and free bytes after. The sequence is
/// divided into blocks with sums, so that a move and the next score visit a few blocks and the
/// sums, not all nodes.
class LiveProfile {
public:
  /// Represents the position before the first node.
  static constexpr unsigned kBegin = ~0U;

  /// The sequence 0, 1, …, `count` - 1 of nodes that allocate and free nothing.
  explicit LiveProfile(size_t count);

  size_t size() const { return places.size(); }
  bool isBefore(unsigned a, unsigned b) const;
  /// Returns the node directly before a node, or `kBegin`.
  unsigned getPrevious(unsigned node) const;
  /// Moves a node to directly after `previous`, which may be `kBegin`.
  void moveAfter(unsigned node, unsigned previous);

  void addAllocated(unsigned node, int64_t bytes);
  void addFreed(unsigned node, int64_t bytes);

  /// Returns the score of the sequence, which must not be empty.
  OrderScore score();
  /// Returns the peak of the nodes from `first` to `last`.
  int64_t findPeakBetween(unsigned first, unsigned last);
  /// Returns the first node of the most recently scored sequence at which the peak is reached.
  unsigned findPeak() const;

  mlir::SmallVector<unsigned, 0> getOrder() const;

private:
  struct Block {
    mlir::SmallVector<unsigned, 0> nodes;
    int64_t change = 0;             ///< Bytes allocated less bytes freed.
    int64_t maximum = 0, times = 0; ///< Peak relative to the bytes before the block.
    bool isStale = true;            ///< Whether the sums must be computed.
  };
  struct Place {
    unsigned block, index;
  };

  void divide(mlir::ArrayRef<unsigned> order);
  void renumber(unsigned block, size_t from);
  void summarize(Block &block) const;

  static constexpr size_t kBlockSize = 128;
  std::vector<Block> blocks;
  std::vector<Place> places; ///< By node.
  mlir::SmallVector<int64_t, 0> allocated, freed;
  size_t peakBlock = 0;
};

} // namespace mtc

#endif // MTC_PASSES_MEMORY_LIVEPROFILE_H

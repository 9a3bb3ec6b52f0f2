//===- CopyOrder.h - Order of the copies to the device of a step ------------------------------===//

#ifndef MTC_PASSES_OVERLAP_COPYORDER_H
#define MTC_PASSES_OVERLAP_COPYORDER_H

#include "llvm/ADT/SmallVector.h"

#include <cstdint>
#include <functional>
#include <limits>
#include <queue>

namespace mtc {

/// Simulates a step to find an order of its copies to the device, which one stream runs. Of the
/// copies that can start when the stream is idle, the one that is needed first does: a copy whose
/// memory is still in use does not delay others.
class CopyOrder {
public:
  explicit CopyOrder(int64_t size) : works(size), released(size + 1), awaited(size + 1) {}

  /// Sets the time of an operation, and its stream if it is asynchronous, 0 otherwise.
  void setWork(int64_t number, int64_t stream, double seconds) {
    works[number] = {stream, seconds, false};
  }
  /// Adds a copy to the device, which can start after operation `after`, or at once if `after` is
  /// the number of operations. Operation `user`, which follows both, waits for it.
  void add(int64_t copy, int64_t after, int64_t user);
  /// Returns the copies in the order in which they start.
  llvm::SmallVector<int64_t, 0> find();

private:
  struct Work {
    int64_t stream = 0;
    double seconds = 0;
    bool isOrdered = false; ///< a copy to the device
  };
  using Release = std::pair<double, int64_t>; ///< of a copy, by its number
  template <typename Element>
  using MinQueue = std::priority_queue<Element, std::vector<Element>, std::greater<>>;

  void release(int64_t number, double time);
  bool startNext(double before);

  llvm::SmallVector<Work, 0> works;
  llvm::SmallVector<llvm::SmallVector<int64_t, 2>, 0> released; ///< copies after each operation
  llvm::SmallVector<llvm::SmallVector<int64_t, 2>, 0> awaited;  ///< copies before each operation
  MinQueue<Release> pending;
  MinQueue<int64_t> ready;
  llvm::SmallVector<double, 0> ended; ///< of copies, by number; negative before they start
  double idle = 0;                    ///< when the stream has ended the copies so far
  llvm::SmallVector<int64_t, 0> order;
};

} // namespace mtc

#endif // MTC_PASSES_OVERLAP_COPYORDER_H

//===- Technique.h - Ways to need less memory for more time -----------------------------------===//

#ifndef MTC_PASSES_SEARCH_TECHNIQUE_H
#define MTC_PASSES_SEARCH_TECHNIQUE_H

#include "mlir/Support/LLVM.h"

#include <optional>

namespace mtc {

/// Changes a function so that less is alive at its peak. Techniques take turns on one function.
class Technique {
public:
  /// What the next change frees at the peak, and what it takes.
  struct Offer {
    int64_t bytes;
    double time; ///< in seconds
  };

  Technique() = default;
  Technique(const Technique &) = delete;
  Technique &operator=(const Technique &) = delete;
  virtual ~Technique() = default;

  /// The change that is cheapest for its bytes or, of those that free `excess` bytes, the one that
  /// takes the least time. Fails with a diagnostic where
  /// there is no plan.
  virtual mlir::FailureOr<std::optional<Offer>> findOffer(int64_t excess) = 0;
  /// Makes the change that was offered last, or as much of it as is needed. False where the peak
  /// does not fall: it is not offered again before another change is made.
  virtual mlir::FailureOr<bool> take() = 0;
  /// To be told when the function was changed by another technique.
  virtual void noticeChange() = 0;

  /// To be called when the function fits: takes back what it fits without. Fails with a diagnostic
  /// where there is no plan.
  virtual mlir::LogicalResult finish() { return mlir::success(); }

  /// Whether there is another function to start from, which costs more but allows of more.
  virtual bool hasOtherStart() { return false; }
  /// Makes it of the unchanged function.
  virtual mlir::LogicalResult startOver() { return mlir::success(); }

  /// Emits remarks on what was done, be it taken back by `finish`.
  virtual void report() const = 0;
};

} // namespace mtc

#endif // MTC_PASSES_SEARCH_TECHNIQUE_H

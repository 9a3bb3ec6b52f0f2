//===- PeakReducer.h - Changes of a function that trade time for memory -----------------------===//

#ifndef MTC_PASSES_SEARCH_PEAKREDUCER_H
#define MTC_PASSES_SEARCH_PEAKREDUCER_H

#include "mlir/Support/LLVM.h"

#include <optional>
#include <string>

namespace mtc {

/// Lowers the peak memory of one function by one technique, change by change, at the cost of time.
/// A search applies the changes of several reducers to one function alternately.
class PeakReducer {
public:
  /// Bytes that the next change frees at the peak, and the time that it adds.
  struct Candidate {
    int64_t bytes;
    double time; ///< in seconds
  };

  PeakReducer() = default;
  PeakReducer(const PeakReducer &) = delete;
  PeakReducer &operator=(const PeakReducer &) = delete;
  virtual ~PeakReducer() = default;

  /// Returns the change with the lowest time per byte or, among changes that free `excess` bytes,
  /// the one with the lowest time. Returns nothing if there is none. Fails with a diagnostic if
  /// there is no memory plan.
  virtual mlir::FailureOr<std::optional<Candidate>> findCandidate(int64_t excess) = 0;
  /// Applies the candidate that was found last, or the part of it that is needed. Returns false if
  /// the peak does not fall; the change is then no candidate again until another change is made.
  virtual mlir::FailureOr<bool> applyCandidate() = 0;
  /// Notifies the reducer that another one has changed the function.
  virtual void noticeChange() = 0;

  /// Called when the function meets the budget. Reverts changes that turned out to be unnecessary.
  /// Fails with a diagnostic if there is no memory plan.
  virtual mlir::LogicalResult finish() { return mlir::success(); }

  /// Called on the plan that is kept, if it meets the budget. Makes the function faster within the
  /// budget. Fails with a diagnostic if there is no memory plan.
  virtual mlir::LogicalResult improve() { return mlir::success(); }

  /// Returns whether there is an alternative start, which costs more time but permits a lower peak.
  virtual bool hasOtherStart() { return false; }
  /// Applies the alternative start to the unchanged function.
  virtual mlir::LogicalResult startOver() { return mlir::success(); }

  /// The name of the registered technique; "" if it is not registered.
  llvm::StringRef getName() const { return name; }
  void setName(llvm::StringRef given) { name = given.str(); }
  /// Returns whether a change was applied, even if `finish` reverted it.
  bool isUsed() const { return used; }
  void setUsed() { used = true; }

  /// Emits remarks on the applied changes, including those that `finish` reverted.
  virtual void report() const = 0;

private:
  std::string name;
  bool used = false;
};

} // namespace mtc

#endif // MTC_PASSES_SEARCH_PEAKREDUCER_H

// A library call, planned once and run in every step.
#ifndef MTC_RUNTIME_DEVICES_CPU_LIBRARY_CALL_H
#define MTC_RUNTIME_DEVICES_CPU_LIBRARY_CALL_H

#include "runtime/abi/library_call.h"

#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>

namespace mtc::runtime {

class LibraryCall {
public:
  /// Plans a call for at most `threads` threads; returns null if this machine does not support the
  /// element type. Generates code only if `executable` is set; otherwise the object only answers
  /// queries.
  static std::unique_ptr<LibraryCall> create(const char *kind, const void *description, int threads,
                                             bool executable = true);
  virtual ~LibraryCall() = default;

  /// Returns the bytes that `run` needs at `scratch`, which is aligned to MTC_ALIGNMENT.
  virtual int64_t scratchBytes() const = 0;
  virtual MtcSupportLevel supportLevel() const = 0;
  /// Returns the name of the implementation, for profiles and tests.
  virtual std::string implementation() const = 0;
  /// Runs the call. `buffers` are the addresses of element 0 of the operands, then the results. Not
  /// thread-safe.
  virtual void run(char *const *buffers, char *scratch) = 0;
};

/// Rounds the size of a scratch buffer up, so that the next one is aligned.
inline int64_t alignedBytes(int64_t bytes) {
  return (bytes + MTC_ALIGNMENT - 1) / MTC_ALIGNMENT * MTC_ALIGNMENT;
}

/// Returns the number of threads, at most `threads`, that reduce the time of a call: short calls
/// end before waking threads would pay off.
inline int usefulThreads(double flops, int threads) {
  constexpr double flopsOfAThread = 5e5; // about 5 microseconds
  return static_cast<int>(std::clamp(flops / flopsOfAThread, 1.0, static_cast<double>(threads)));
}

/// The CPU implementation of a kind of call.
struct CallKind {
  const char *name; ///< kind in the ABI
  /// See LibraryCall::create.
  std::unique_ptr<LibraryCall> (*create)(const void *record, int threads, bool executable);
  /// Returns whether a generated kernel is faster.
  bool (*isFasterAsKernel)(const void *record);
};

/// Returns null for a kind without a CPU implementation.
const CallKind *findCallKind(const char *name);

} // namespace mtc::runtime

#endif // MTC_RUNTIME_DEVICES_CPU_LIBRARY_CALL_H

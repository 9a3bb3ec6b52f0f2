// One call of a library, prepared once and run in every step.
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
  /// Plans for at most `threads` threads; null if this machine does not support the element type.
  /// Generates code only when `executable`; otherwise the object only answers questions.
  static std::unique_ptr<LibraryCall> create(const char *kind, const void *description, int threads,
                                             bool executable = true);
  virtual ~LibraryCall() = default;

  /// Bytes that `run` needs at `scratch`, which is aligned to MTC_ALIGNMENT.
  virtual int64_t scratchBytes() const = 0;
  virtual MtcSupportLevel supportLevel() const = 0;
  /// For the profile and for tests.
  virtual std::string implementation() const = 0;
  /// Operands, then results, each the address of its element 0. Not to be called by two threads at
  /// once.
  virtual void run(char *const *buffers, char *scratch) = 0;
};

/// Bytes of a piece of scratch, so that the next one is aligned.
inline int64_t alignedBytes(int64_t bytes) {
  return (bytes + MTC_ALIGNMENT - 1) / MTC_ALIGNMENT * MTC_ALIGNMENT;
}

/// How many of `threads` threads are worth waking: a call of microseconds is done before they come.
inline int usefulThreads(double flops, int threads) {
  constexpr double flopsOfAThread = 5e5; // about 5 microseconds
  return static_cast<int>(std::clamp(flops / flopsOfAThread, 1.0, static_cast<double>(threads)));
}

/// How the processor computes a kind of call.
struct CallKind {
  const char *name; ///< of its ABI
  /// See LibraryCall::create.
  std::unique_ptr<LibraryCall> (*create)(const void *record, int threads, bool executable);
  /// Whether a generated kernel is faster.
  bool (*isFasterAsKernel)(const void *record);
};

/// Null for a kind that the processor does not compute.
const CallKind *findCallKind(const char *name);

} // namespace mtc::runtime

#endif // MTC_RUNTIME_DEVICES_CPU_LIBRARY_CALL_H

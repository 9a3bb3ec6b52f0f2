// A library call, planned once and run in every step.
#ifndef MTC_RUNTIME_DEVICES_CPU_LIBRARY_CALL_H
#define MTC_RUNTIME_DEVICES_CPU_LIBRARY_CALL_H

#include "runtime/abi/library_call.h"
#include "runtime/abi/tensor.h"

#include <algorithm>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

namespace mtc::runtime {

struct CallLibrary;

class LibraryCall {
public:
  /// Plans a call for at most `threads` threads; returns null if the library does not support it on
  /// this machine. Generates code only if `executable` is set; otherwise the object only answers
  /// queries.
  static std::unique_ptr<LibraryCall> create(const CallLibrary &library, const char *kind,
                                             const void *description, int threads,
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

/// Implementations of kinds of calls.
struct CallLibrary {
  std::span<const CallKind *const> kinds;
  /// See `mtc_multiplies`.
  bool (*multiplies)(uint32_t type);
  /// See `mtc_library_version`.
  const char *(*version)();

  /// Returns the implementation of a kind, or that of the runtime's own code, or null.
  const CallKind *find(const char *kind) const;
};

/// Returns the runtime's own code, which every program contains.
const CallLibrary &builtInLibrary();
/// Returns the library that the program is linked with: that of libmtc_onednn.a, or the built-in
/// one with libmtc_no_onednn.a.
const CallLibrary &linkedLibrary();

} // namespace mtc::runtime

#endif // MTC_RUNTIME_DEVICES_CPU_LIBRARY_CALL_H

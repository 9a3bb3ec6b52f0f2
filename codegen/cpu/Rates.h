//===- Rates.h - Rates of the CPU cost model --------------------------------------------------===//
//
// The inputs of time estimates: the rates of large library calls by kind and type, copy rates by
// size, and the fixed cost of a call. They are measured on the machine that compiles, or taken from
// the table of a processor class.
//
//===------------------------------------------------------------------------------------------===//

#ifndef MTC_CODEGEN_CPU_RATES_H
#define MTC_CODEGEN_CPU_RATES_H

#include "codegen/host/Processor.h"
#include "ir/Mtc.h"
#include "runtime/abi/library_call.h"

#include "llvm/ADT/StringMap.h"

#include <optional>
#include <vector>

namespace mtc::cpu {

struct Rates {
  /// The rate of copies by the total number of bytes read and written.
  struct Copy {
    int64_t bytes;
    double perSecond;
  };

  std::string origin; ///< where the rates come from, as printed in plans
  /// Operations per second of a large call, by its key (`keyOf`).
  llvm::StringMap<double> calls;
  std::vector<Copy> copies; ///< sorted by bytes
  double overhead = 0;      ///< fixed cost of a call or kernel, in seconds
  /// Extents M, N and K at which a matrix multiplication reaches half of its rate.
  double halfM = 0, halfN = 0, halfK = 0;

  /// Returns the estimated time of a call, a kernel or a copy, in seconds.
  double getSeconds(CallAttrInterface call) const;
  double getSeconds(const Cost &kernel) const;
  double getCopySeconds(int64_t bytes) const;
  /// Returns the estimated time of a kernel, in seconds, whose operands are in no cache.
  double getUncachedSeconds(const Cost &kernel) const;

  /// Returns the key of a kind of call and its operand types in `calls`.
  static std::string keyOf(llvm::StringRef kind, const MatrixProduct &product);
  /// Returns the fraction of its rate that a matrix multiplication of these extents reaches.
  double efficiency(const MatrixProduct &product) const;

private:
  double bandwidth(int64_t bytes) const;
  double rateOf(llvm::StringRef kind, const MatrixProduct &product) const;
};

/// Fails if `name` is not a processor class, as in `rates` of `#mtc_cpu.target`. An empty name is
/// valid and selects no class.
llvm::Error checkRates(llvm::StringRef name);
/// Returns the class of a processor.
llvm::StringRef classOf(const Processor &processor);
/// Returns the rates of a class, which must be valid, for a number of threads.
Rates ratesOfClass(llvm::StringRef name, int threads);

/// Returns the rates of a library on this machine, read from the kernel cache or measured within a
/// second. Returns nullopt if they cannot be measured.
std::optional<Rates> measureRates(int threads, MtcCallLibrary library);

/// Returns the rates that a target's cost model uses: those of the class `rates`, or if it is
/// empty, those of this machine or of the class of the target processor. The result is cached for
/// the lifetime of the process.
const Rates &ratesOf(llvm::StringRef rates, llvm::StringRef processor, llvm::StringRef features,
                     int threads, MtcCallLibrary library = MTC_ONEDNN);

} // namespace mtc::cpu

#endif // MTC_CODEGEN_CPU_RATES_H

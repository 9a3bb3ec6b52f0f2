//===- Rates.h - How fast a processor computes and copies -------------------------------------===//
//
// What estimates of time stand on: rates of large library calls by kind and type, of copies by
// size, and what a call costs before it does anything. They are measured on the machine that
// compiles, or those of a class of processors.
//
//===------------------------------------------------------------------------------------------===//

#ifndef MTC_CODEGEN_CPU_RATES_H
#define MTC_CODEGEN_CPU_RATES_H

#include "codegen/host/Processor.h"
#include "ir/Mtc.h"

#include "llvm/ADT/StringMap.h"

#include <optional>
#include <vector>

namespace mtc::cpu {

struct Rates {
  /// Of copies that read and write so many bytes together.
  struct Copy {
    int64_t bytes;
    double perSecond;
  };

  std::string origin; ///< what a plan says of them
  /// Operations a second of a large call, by `keyOf` its kind and operands.
  llvm::StringMap<double> calls;
  std::vector<Copy> copies; ///< by ascending bytes
  double overhead = 0;      ///< seconds of a call or a kernel that has nothing to do
  /// Rows, columns and terms at which a product runs at half of its rate.
  double halfM = 0, halfN = 0, halfK = 0;

  double getSeconds(CallAttrInterface call) const;
  double getSeconds(const Cost &kernel) const;
  double getCopySeconds(int64_t bytes) const;

  static std::string keyOf(llvm::StringRef kind, const MatrixProduct &product);
  /// The part of its rate that a product of these extents runs at.
  double efficiency(const MatrixProduct &product) const;

private:
  double bandwidth(int64_t bytes) const;
  double rateOf(llvm::StringRef kind, const MatrixProduct &product) const;
};

/// The classes of processors, as `rates` of `#mtc_cpu.target` names them.
/// An error at another name; "" is no class.
llvm::Error checkRates(llvm::StringRef name);
llvm::StringRef classOf(const Processor &processor);
Rates ratesOfClass(llvm::StringRef name, int threads);

/// This machine's, from the cache of compiled kernels or measured within a second; nothing if they
/// cannot be measured.
std::optional<Rates> measureRates(int threads);

/// What a target is estimated by: `rates` names a class; without, it is this machine or the class
/// of the processor that is compiled for. Kept for the process.
const Rates &ratesOf(llvm::StringRef rates, llvm::StringRef processor, llvm::StringRef features,
                     int threads);

} // namespace mtc::cpu

#endif // MTC_CODEGEN_CPU_RATES_H

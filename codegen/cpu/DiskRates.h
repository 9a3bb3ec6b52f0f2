//===- DiskRates.h - Read and write rates of the offload disk ---------------------------------===//

#ifndef MTC_CODEGEN_CPU_DISKRATES_H
#define MTC_CODEGEN_CPU_DISKRATES_H

#include "llvm/ADT/StringRef.h"

namespace mtc::cpu {

/// Rates of copies between memory and a file, without the page cache.
struct DiskRates {
  double read = 1e9, write = 1e9; ///< bytes per second, with concurrent reads and writes
  double overhead = 1e-4;         ///< fixed cost of a copy, in seconds
};

/// Returns the rates of the default offload disk (runtime/abi/offload.h) if the program is compiled
/// for this machine. They are read from the kernel cache, or measured in about a second.
/// Returns the rates of a typical solid-state disk if `rates` names a class, for another processor,
/// and if the measurement fails. The result is cached for the lifetime of the process.
const DiskRates &diskRatesOf(llvm::StringRef rates, llvm::StringRef processor);

} // namespace mtc::cpu

#endif // MTC_CODEGEN_CPU_DISKRATES_H

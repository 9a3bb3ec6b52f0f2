//===- DiskRates.h - How fast a disk reads and writes -----------------------------------------===//

#ifndef MTC_CODEGEN_CPU_DISKRATES_H
#define MTC_CODEGEN_CPU_DISKRATES_H

#include "llvm/ADT/StringRef.h"

namespace mtc::cpu {

/// Of copies between memory and a file, past the system's cache.
struct DiskRates {
  double read = 1e9, write = 1e9; ///< bytes a second, while the other goes on too
  double overhead = 1e-4;         ///< seconds of a copy
};

/// Those of the disk that programs offload to unless they are told (runtime/abi/offload.h), where a
/// program is for this machine: from the cache of compiled kernels, or measured in about half a
/// second. Where `rates` names a class, for another processor, and where nothing can be measured,
/// those of a plain solid-state disk. Kept for the process.
const DiskRates &diskRatesOf(llvm::StringRef rates, llvm::StringRef processor);

} // namespace mtc::cpu

#endif // MTC_CODEGEN_CPU_DISKRATES_H

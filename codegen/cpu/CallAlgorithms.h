//===- CallAlgorithms.h - Measured algorithms of library calls --------------------------------===//
//
// oneDNN is up to three times slower on some layouts than on others of the same shape, and the slow
// layouts differ by processor. Therefore each algorithm (MtcAlgorithm) of large contractions and
// convolutions is measured on the machine that compiles, and the fastest one is recorded in the
// program.
//
//===------------------------------------------------------------------------------------------===//

#ifndef MTC_CODEGEN_CPU_CALLALGORITHMS_H
#define MTC_CODEGEN_CPU_CALLALGORITHMS_H

#include "ir/Mtc.h"

#include "llvm/Support/Error.h"

namespace mtc::cpu {

/// Fails unless `tune` is empty, `off`, `cached` or `full`, as in `tune` of `#mtc_cpu.target`.
llvm::Error checkTuning(llvm::StringRef tune);

/// Returns a call that takes milliseconds and whose algorithms have the same relative speeds as
/// those of `call`, a call for `threads` threads. Returns null if there is only one algorithm, or
/// if a measurement would not pay off.
CallAttrInterface sampleOf(CallAttrInterface call, int threads);

/// Returns the fastest algorithm of `call`, a call for `threads` threads that reads its operands as
/// stored. Each sample is measured once on a machine, up to a limit of seconds per process. With
/// `again`, it is measured once in this process without a limit. Without a measurement, no
/// algorithm is returned. Algorithms that need much scratch memory for their operands, or that are
/// hardly faster, are not chosen. Thread-safe.
ChosenAlgorithm measureAlgorithms(CallAttrInterface call, int threads, bool again);

} // namespace mtc::cpu

#endif // MTC_CODEGEN_CPU_CALLALGORITHMS_H

//===- CallAlgorithms.h - Measured algorithms of library calls --------------------------------===//
//
// oneDNN is up to three times slower on some layouts than on others of the same shape, and which
// these are differs by processor. So large contractions and convolutions are measured in each of
// their algorithms (MtcAlgorithm) on the machine that compiles, and the fastest one is recorded in
// the program.
//
//===------------------------------------------------------------------------------------------===//

#ifndef MTC_CODEGEN_CPU_CALLALGORITHMS_H
#define MTC_CODEGEN_CPU_CALLALGORITHMS_H

#include "ir/Mtc.h"

#include "llvm/Support/Error.h"

namespace mtc::cpu {

/// Fails unless `tune` is empty, `off`, `cached` or `full`, as in `tune` of `#mtc_cpu.target`.
llvm::Error checkTuning(llvm::StringRef tune);

/// Returns a call that takes milliseconds and whose algorithms compare as those of `call`, a call
/// for `threads` threads. Returns null if there is only one algorithm, or nothing worth measuring.
CallAttrInterface sampleOf(CallAttrInterface call, int threads);

/// Returns the fastest algorithm of `call`, a call for `threads` threads that reads its operands as
/// stored. Samples are measured once on a machine, or `again` once in this process, up to a limit
/// of seconds per process unless `again`; without a measurement, there is no algorithm. An
/// algorithm that needs much scratch for its operands is not chosen, nor one that is hardly faster.
/// Thread-safe.
ChosenAlgorithm measureAlgorithms(CallAttrInterface call, int threads, bool again);

} // namespace mtc::cpu

#endif // MTC_CODEGEN_CPU_CALLALGORITHMS_H

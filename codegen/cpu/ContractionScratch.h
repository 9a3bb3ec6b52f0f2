//===- ContractionScratch.h - Scratch of the CPU's contraction library ------------------------===//

#ifndef MTC_CODEGEN_CPU_CONTRACTIONSCRATCH_H
#define MTC_CODEGEN_CPU_CONTRACTIONSCRATCH_H

#include "passes/memory/ContractionShape.h"

namespace mtc {

/// Bytes of scratch that oneDNN needs for a contraction with up to `threads` threads on this
/// machine; -1 where it cannot run it. Asks the library itself, by the code that produced programs
/// run.
int64_t cpuContractionScratch(const ContractionShape &shape, unsigned threads);

} // namespace mtc

#endif // MTC_CODEGEN_CPU_CONTRACTIONSCRATCH_H

//===- LibraryCalls.h - What the CPU's libraries say of calls ---------------------------------===//

#ifndef MTC_CODEGEN_CPU_LIBRARYCALLS_H
#define MTC_CODEGEN_CPU_LIBRARYCALLS_H

#include "passes/memory/LibraryTarget.h"

namespace mtc::cpu {

/// Scratch and rates on this machine for any number of threads up to `threads`. Asks the code that
/// produced programs run.
LibraryTarget libraryCalls(unsigned threads);

} // namespace mtc::cpu

#endif // MTC_CODEGEN_CPU_LIBRARYCALLS_H

//===- LimitUnrolling.h - Limit of the memory accesses of unrolled loops ----------------------===//

#ifndef MTC_CODEGEN_HOST_LIMITUNROLLING_H
#define MTC_CODEGEN_HOST_LIMITUNROLLING_H

#include "llvm/Passes/PassBuilder.h"

namespace mtc::cpu {

/// Unrolls loops partially, or not at all, that would access memory in more than a fixed number of
/// registers if they were unrolled completely.
///
/// LLVM's own limit counts a load of 64 lanes, which are several registers, as one instruction.
/// Complete unrolling would therefore yield blocks of many hundred accesses. The code generator
/// compares the accesses of a block in pairs, so these blocks would take most of the compile time.
///
/// Also excludes loops from the second unrolling of the pipeline, which would not unroll them but
/// estimate their cost again.
void limitUnrolling(llvm::PassBuilder &builder);

} // namespace mtc::cpu

#endif // MTC_CODEGEN_HOST_LIMITUNROLLING_H

//===- MemoryFloor.h - What no plan of a function needs less than -----------------------------===//

#ifndef MTC_PASSES_MEMORY_MEMORYFLOOR_H
#define MTC_PASSES_MEMORY_MEMORYFLOOR_H

#include "passes/memory/FunctionMemory.h"

namespace mtc {

/// Bytes, besides variables and inputs, that a function needs at least, whatever the order of its
/// operations, whatever is computed again or in tiles, and wherever buffers lie: the largest
/// working set of one operation. The function must have been planned.
///
/// Each operation of the function runs once at least, recomputation only adds some. While it runs,
/// what it reads, what it gives and its scratch are alive, and different values that are alive at
/// once have different bytes. So any plan has at least the sum of these, but for what plans differ
/// in, which is left out: values that are written to a variable may lie in the variable, a result
/// that may share an operand's buffer may lie there, what may be computed in tiles need not be
/// there as a whole, nor does its scratch, and of the sizes of scratch that a call may need the
/// smallest counts. Operations that recomputation added, or that
/// compute tiles, are left out too.
int64_t findFloor(const FunctionMemory &function, const TargetInfo &target);

} // namespace mtc

#endif // MTC_PASSES_MEMORY_MEMORYFLOOR_H

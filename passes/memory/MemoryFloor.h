//===- MemoryFloor.h - Lower bound on the memory of a function --------------------------------===//

#ifndef MTC_PASSES_MEMORY_MEMORYFLOOR_H
#define MTC_PASSES_MEMORY_MEMORYFLOOR_H

#include "passes/memory/FunctionMemory.h"

namespace mtc {

/// Returns a lower bound, in bytes and excluding variables and inputs, on the memory of a function
/// under any schedule, recomputation, tiling and layout: the largest working set of a single
/// operation. The function must have been planned.
///
/// Each operation runs at least once. While it runs, its operands, its results and its scratch are
/// live, and distinct live values occupy distinct bytes. The sum of their sizes is therefore a
/// lower bound. The sum excludes everything that some plan can avoid: values that are written to a
/// variable may be stored in the variable; a result that may share an operand's buffer adds
/// nothing; values that can be tiled need not exist as a whole, and neither does their scratch. Of
/// the scratch sizes that a library call may need, the smallest counts. Operations added by
/// recomputation and operations that compute tiles are skipped.
int64_t findFloor(const FunctionMemory &function, const TargetInfo &target);

} // namespace mtc

#endif // MTC_PASSES_MEMORY_MEMORYFLOOR_H

// Programs in a limited address space.
#ifndef MTC_RUNTIME_SUPPORT_MEMORY_LIMIT_H
#define MTC_RUNTIME_SUPPORT_MEMORY_LIMIT_H

namespace mtc::runtime {

/// If the address space is limited, reports a library's crash for lack of memory as such, and ends
/// the process with the exit code of system faults. Other crashes are not affected.
void guardMemoryLimit();

/// If the address space is limited, throws a system error unless it has space for the stacks of
/// `threads` threads, for which libgomp would end the process.
void checkStacks(int threads);

} // namespace mtc::runtime

#endif // MTC_RUNTIME_SUPPORT_MEMORY_LIMIT_H

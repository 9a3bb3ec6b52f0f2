//===- OutOfMemory.h - Messages about exhausted memory ----------------------------------------===//

#ifndef MTC_SUPPORT_COMPILER_OUTOFMEMORY_H
#define MTC_SUPPORT_COMPILER_OUTOFMEMORY_H

namespace mtc::tool {

/// Ends the process with one message and the exit code of system faults when memory is exhausted,
/// where LLVM would print a stack trace and ask for a bug report. Called before `llvm::InitLLVM`,
/// whose signal handlers then run later. Exits if the process starts with too little memory.
void guardMemory(const char *tool);

} // namespace mtc::tool

#endif // MTC_SUPPORT_COMPILER_OUTOFMEMORY_H

//===- Resources.h - What a kernel takes of a multiprocessor ----------------------------------===//

#ifndef MTC_CODEGEN_CUDA_RESOURCES_H
#define MTC_CODEGEN_CUDA_RESOURCES_H

#include "codegen/cuda/Architecture.h"

#include <string>
#include <vector>

namespace mtc::cuda {

/// Of one function of a cubin, as the assembler says.
struct Resources {
  std::string symbol;
  unsigned registers = 0;                   ///< of a thread
  unsigned sharedBytes = 0;                 ///< of a block, static
  unsigned stackBytes = 0;                  ///< of a thread, in local memory
  unsigned spillStores = 0, spillLoads = 0; ///< bytes of a thread that did not fit into registers
};

/// Reads the log of `assemble`.
std::vector<Resources> readResources(llvm::StringRef log);

/// How many threads of a multiprocessor a launch can occupy.
struct Occupancy {
  unsigned blocks = 0, threads = 0, maximumThreads = 0;
  llvm::StringRef limit; ///< what allows no more: threads, blocks, registers, shared memory
};

/// By the limits that the CUDA C++ Programming Guide documents for the compute capability.
Occupancy computeOccupancy(const Resources &resources, unsigned threadsOfBlock,
                           const Architecture &architecture);

struct LaunchResources {
  Resources resources;
  unsigned threadsOfBlock;
};

/// A table with a line for each launch; one that spills is marked.
void printResources(llvm::ArrayRef<LaunchResources> launches, const Architecture &architecture,
                    llvm::raw_ostream &os);

} // namespace mtc::cuda

#endif // MTC_CODEGEN_CUDA_RESOURCES_H

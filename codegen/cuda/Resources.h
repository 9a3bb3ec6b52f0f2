//===- Resources.h - Multiprocessor resources of kernels --------------------------------------===//

#ifndef MTC_CODEGEN_CUDA_RESOURCES_H
#define MTC_CODEGEN_CUDA_RESOURCES_H

#include "codegen/cuda/Architecture.h"

#include <string>
#include <vector>

namespace mtc::cuda {

/// The resource usage of one function of a cubin, as reported by the assembler.
struct Resources {
  std::string symbol;
  unsigned registers = 0;                   ///< per thread
  unsigned sharedBytes = 0;                 ///< static, per block
  unsigned stackBytes = 0;                  ///< per thread, in local memory
  unsigned spillStores = 0, spillLoads = 0; ///< bytes per thread
};

/// Parses the log of `assemble`.
std::vector<Resources> readResources(llvm::StringRef log);

/// The number of concurrent threads of a launch on a multiprocessor.
struct Occupancy {
  unsigned blocks = 0, threads = 0, maximumThreads = 0;
  llvm::StringRef limit; ///< the limiting resource: threads, blocks, registers, shared memory
};

/// Computes occupancy from the limits of the compute capability in the CUDA C++ Programming Guide.
Occupancy computeOccupancy(const Resources &resources, unsigned threadsOfBlock,
                           const Architecture &architecture);

struct LaunchResources {
  Resources resources;
  unsigned threadsOfBlock;
};

/// Prints a table with one line per launch, and marks launches with register spills.
void printResources(llvm::ArrayRef<LaunchResources> launches, const Architecture &architecture,
                    llvm::raw_ostream &os);

} // namespace mtc::cuda

#endif // MTC_CODEGEN_CUDA_RESOURCES_H

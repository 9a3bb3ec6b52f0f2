//===- RecurrentCells.h - Block size of the kernels of recurrent layers -----------------------===//
//
// Shared by the compiler, which plans launches, and the device code.
//
//===------------------------------------------------------------------------------------------===//

#ifndef MTC_CODEGEN_CUDA_DEVICE_RECURRENTCELLS_H
#define MTC_CODEGEN_CUDA_DEVICE_RECURRENTCELLS_H

namespace mtc::cuda {

/// Each thread of a block computes one unit of one row.
constexpr int cellThreads = 128;

} // namespace mtc::cuda

#endif // MTC_CODEGEN_CUDA_DEVICE_RECURRENTCELLS_H

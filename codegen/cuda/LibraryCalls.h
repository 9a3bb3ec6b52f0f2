//===- LibraryCalls.h - What runs library calls on a GPU, and how well ------------------------===//

#ifndef MTC_CODEGEN_CUDA_LIBRARYCALLS_H
#define MTC_CODEGEN_CUDA_LIBRARYCALLS_H

#include "passes/memory/TargetInfo.h"

namespace mtc::cuda {

/// Fills in what passes ask about library calls. The answers are the same on every machine, with a
/// GPU or without, and for device code and its emulation. `usesTf32`: f32 need not be exact.
void describeLibraryCalls(TargetInfo &info, bool usesTf32);

} // namespace mtc::cuda

#endif // MTC_CODEGEN_CUDA_LIBRARYCALLS_H

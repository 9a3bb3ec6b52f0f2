// The sample for the target `cuda`, whose kernels are launches of emulated functions with one
// thread per item.
#include "runtime/abi/cpu.h"
#include "runtime/abi/cuda.h"
#include "runtime/abi/emulation.h"
#include "runtime/devices/cuda/emulated/execution/emulator.h"

#define mtc_program mtc_sample_of_cpu
#include "test/runtime/sample/sample_program.cpp"
#undef mtc_program

#include <array>
#include <utility>
#include <vector>

namespace {

constexpr size_t kernelCount = std::size(kernels);
constexpr uint32_t blockSize = 32;

/// Records of the operations that launch the kernels.
constexpr size_t operandCounts[kernelCount] = {6, 2, 2, 2, 5, 5, 1};

/// The parameters are the operands of the kernel's operation, then the fault record if the kernel
/// may fault.
template <size_t number> void runThread(char *const *parameters) {
  const MtcEmulatedThread &thread = *mtc_emulated_enter(0, 4);
  const MtcCpuStage &stage = stages[number];
  const int64_t item = int64_t{thread.block->index[0]} * blockSize + thread.index[0];
  if (item < stage.extent)
    stage.function(parameters, item, item + 1,
                   kernels[number].may_fault
                       ? reinterpret_cast<MtcFault *>(parameters[operandCounts[number]])
                       : nullptr);
  // This code is handwritten, without the compiler's instrumentation of writes.
  for (size_t i = 0; i < operandCounts[number]; ++i)
    mtc::runtime::emulation::markDefined(parameters[i], 16);
}

template <size_t... numbers>
std::array<MtcGpuLaunch, kernelCount> makeLaunches(std::index_sequence<numbers...>) {
  auto gridOf = [](int64_t extent) {
    return (static_cast<uint32_t>(extent) + blockSize - 1) / blockSize;
  };
  return {MtcGpuLaunch{kernels[numbers].name,
                       runThread<numbers>,
                       {gridOf(stages[numbers].extent), 1, 1},
                       {blockSize, 1, 1},
                       0}...};
}

/// Data of the program's tables.
struct CudaSample {
  std::array<MtcGpuLaunch, kernelCount> launches =
      makeLaunches(std::make_index_sequence<kernelCount>());
  std::vector<MtcGpuKernel> codes;
  std::vector<MtcKernel> tables;
  MtcCudaProgram data = {.is_emulated = 1,
                         .precision = MTC_CUDA_F32,
                         .driver_version = 0,
                         .image_count = 0,
                         .architecture_count = 0,
                         .architectures = nullptr,
                         .host = nullptr};

  CudaSample() {
    codes.reserve(kernelCount);
    for (size_t i = 0; i < kernelCount; ++i) {
      codes.push_back({0, 1, &launches[i]});
      tables.push_back(kernels[i]);
      tables.back().code = &codes.back();
    }
  }
};

MtcProgram makeProgram() {
  static const CudaSample sample;
  MtcProgram program = mtc_sample_of_cpu;
  program.target = "cuda:sm_90";
  program.target_data = &sample.data;
  program.kernels = sample.tables.data();
  return program;
}

} // namespace

extern const MtcProgram mtc_program = makeProgram();

//===- KernelRunner.cpp - Execution of kernels on their target --------------------------------===//

#include "tools/mtc-run/KernelRunner.h"

#include "codegen/Jit.h"
#include "runtime/abi/cuda.h"
#include "runtime/devices/cuda/emulated/execution/emulator.h"

#include <cstring>

using namespace mlir;
using namespace mtc;
namespace emulation = mtc::runtime::emulation;

namespace {

/// Runs kernels as functions over ranges of work items.
class CpuRunner final : public KernelRunner {
public:
  Buffer allocate(int64_t bytes, int fill) override {
    size_t size = paddedBytes(std::max<int64_t>(bytes, 1));
    Buffer buffer(static_cast<char *>(std::aligned_alloc(64, size)),
                  [](char *memory) { std::free(memory); });
    std::memset(buffer.get(), fill, size);
    return buffer;
  }

  void describe(const MtcKernel &kernel, raw_ostream &os) override {
    for (const MtcCpuStage &stage : stagesOf(kernel))
      os << " items " << stage.extent << " grain " << stage.grain;
  }

  /// Runs tiles of uneven size, the last one first.
  llvm::Error run(const MtcKernel &kernel, ArrayRef<char *> operands, MtcFault &fault) override {
    for (const MtcCpuStage &stage : stagesOf(kernel)) {
      int64_t end = stage.extent, tile = 1;
      while (end > 0) {
        int64_t begin = std::max<int64_t>(0, end - tile);
        stage.function(operands.data(), begin, end, &fault);
        end = begin;
        tile = tile * 2 + 1;
      }
    }
    return llvm::Error::success();
  }

  void runOnce(const MtcKernel &kernel, ArrayRef<char *> operands, MtcFault &fault) override {
    for (const MtcCpuStage &stage : stagesOf(kernel))
      stage.function(operands.data(), 0, stage.extent, &fault);
  }
};

/// Runs kernels as launches in the emulator.
class EmulatedRunner final : public KernelRunner {
public:
  Buffer allocate(int64_t bytes, int fill) override {
    Buffer buffer(emulation::allocate(bytes), emulation::release);
    std::memset(buffer.get(), fill, bytes);
    return buffer;
  }
  void markDefined(char *memory, int64_t bytes) override { emulation::markDefined(memory, bytes); }

  void describe(const MtcKernel &kernel, raw_ostream &os) override {
    for (const MtcGpuLaunch &launch : launchesOf(kernel)) {
      os << " grid " << launch.grid[0];
      if (launch.grid[1] > 1)
        os << 'x' << launch.grid[1];
      os << " block " << launch.block[0];
      if (launch.block[1] > 1)
        os << 'x' << launch.block[1];
    }
  }

  llvm::Error run(const MtcKernel &kernel, ArrayRef<char *> operands, MtcFault &fault) override {
    Buffer faultBuffer = allocate(sizeof(MtcFault), 0);
    markDefined(faultBuffer.get(), sizeof(MtcFault));
    SmallVector<char *> parameters(operands);
    if (kernel.may_fault)
      parameters.push_back(faultBuffer.get());
    for (const MtcGpuLaunch &launch : launchesOf(kernel)) {
      std::string wrong = emulation::launch(launch, parameters.data(), "", /*hostThreads=*/2);
      if (!wrong.empty())
        return llvm::createStringError(wrong);
    }
    std::memcpy(&fault, faultBuffer.get(), sizeof(MtcFault));
    return llvm::Error::success();
  }
  void runOnce(const MtcKernel &kernel, ArrayRef<char *> operands, MtcFault &fault) override {
    llvm::consumeError(run(kernel, operands, fault));
  }

private:
  static ArrayRef<MtcGpuLaunch> launchesOf(const MtcKernel &kernel) {
    const auto *code = static_cast<const MtcGpuKernel *>(kernel.code);
    return {code->launches, code->launch_count};
  }
};

} // namespace

std::unique_ptr<KernelRunner> KernelRunner::create(const MtcProgram &program) {
  if (StringRef(program.target).starts_with("cuda"))
    return std::make_unique<EmulatedRunner>();
  return std::make_unique<CpuRunner>();
}

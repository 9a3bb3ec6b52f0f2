//===- EmulatedTarget.cpp - Kernels compiled for the emulator ---------------------------------===//

#include "codegen/cuda/CudaTarget.h"

#include "codegen/cuda/emulated/Emulation.h"
#include "codegen/target/KernelCache.h"
#include "runtime/abi/cuda.h"

using namespace mlir;
using namespace mtc;
using namespace mtc::cuda;

namespace {

/// Compiles kernels to host functions of the program, which run in the emulator.
class EmulatedTarget final : public CudaTarget {
public:
  using CudaTarget::CudaTarget;

  std::string getName() const override { return "cuda, emulated"; }
  LinkInputs getLinkInputs() const override {
    return {{"libmtc_runtime.a", "libmtc_runtime_cuda.a", "libmtc_cuda_emulated.a",
             "libmtc_cuda_calls.a", "libmtc_emulation.a", "libmtc_runtime_cpu.a",
             "libmtc_library_calls.a", "libmtc_onednn.a", "libmtc_contraction_problem.a"},
            {"dnnl", "gomp", "stdc++", "m", "pthread"}};
  }

  FailureOr<std::vector<CompiledObject>> compile(const CodeSources &sources,
                                                 KernelCache *cache) override;
  FailureOr<std::vector<OwnedModule>> generateModules(const CodeSources &sources) override;
  llvm::Constant *describeProgram(ConstantBuilder &c) override {
    return c.array({c.record(
        field<&MtcCudaProgram::is_emulated>(true), field<&MtcCudaProgram::precision>(precision),
        field<&MtcCudaProgram::driver_version>(0), field<&MtcCudaProgram::image_count>(0),
        field<&MtcCudaProgram::architecture_count>(0),
        field<&MtcCudaProgram::architectures>(c.null()),
        field<&MtcCudaProgram::host>(describeHost(c)))});
  }

protected:
  llvm::Expected<std::string> printModule(llvm::Module &module, KernelText form) override;
  llvm::Constant *describeFunction(StringRef symbol, ConstantBuilder &builder) override {
    return builder.function(emulatedSymbol(symbol));
  }

private:
  /// Converts a translated device module to the host processor and optimizes it.
  llvm::Expected<std::unique_ptr<llvm::TargetMachine>> emulate(llvm::Module &module) const;
};

} // namespace

llvm::Expected<std::unique_ptr<llvm::TargetMachine>>
EmulatedTarget::emulate(llvm::Module &module) const {
  if (llvm::Error error = emulateDeviceModule(module, optLevel))
    return error;
  auto machine = cpu::createTargetMachine(host, optLevel);
  if (machine)
    cpu::optimize(module, **machine, optLevel);
  return machine;
}

FailureOr<std::vector<CompiledObject>> EmulatedTarget::compile(const CodeSources &all,
                                                               KernelCache *cache) {
  CodeSources sources = selectSources(all);
  std::string machine = "emulated " + host.cpu + ' ' + host.features + " O" +
                        std::to_string(optLevel) + describePrecision();
  auto compileMissing = [&](const CodeSources &missing, function_ref<void(size_t, Object)> keep) {
    return forEachModule(missing, [&](size_t i, OwnedModule owned) -> llvm::Error {
      auto machine = emulate(*owned.module);
      if (!machine)
        return machine.takeError();
      llvm::Expected<Object> object = cpu::emitObject(*owned.module, **machine);
      if (!object)
        return object.takeError();
      keep(i, std::move(*object));
      return llvm::Error::success();
    });
  };
  FailureOr<std::vector<Object>> objects = compileCached(sources, cache, machine, compileMissing);
  if (failed(objects))
    return failure();
  FailureOr<std::vector<CompiledObject>> result = compileForHost(all, cache);
  if (failed(result))
    return failure();
  for (auto [launches, object] : llvm::zip_equal(planSources(sources), *objects))
    result->push_back({launches.front().symbol + ".o", std::move(object)});
  return result;
}

FailureOr<std::vector<OwnedModule>> EmulatedTarget::generateModules(const CodeSources &all) {
  CodeSources sources = selectSources(all);
  std::vector<OwnedModule> result(sources.kernels.size() + sources.calls.size());
  auto keep = [&](size_t i, OwnedModule owned) -> llvm::Error {
    if (auto machine = emulate(*owned.module); !machine)
      return machine.takeError();
    result[i] = std::move(owned);
    return llvm::Error::success();
  };
  if (failed(forEachModule(sources, keep)))
    return failure();
  FailureOr<std::vector<OwnedModule>> ofHost = generateForHost(all);
  if (failed(ofHost))
    return failure();
  llvm::move(*ofHost, std::back_inserter(result));
  return result;
}

llvm::Expected<std::string> EmulatedTarget::printModule(llvm::Module &module, KernelText form) {
  auto machine = emulate(module);
  if (!machine)
    return machine.takeError();
  if (form == KernelText::Assembly)
    return cpu::emitAssembly(module, **machine);
  std::string text;
  llvm::raw_string_ostream(text) << module;
  return text;
}

std::unique_ptr<Target> cuda::createEmulatedTarget(TargetAttr target, cpu::Processor host,
                                                   unsigned optLevel) {
  return std::make_unique<EmulatedTarget>(target, std::move(host), optLevel);
}

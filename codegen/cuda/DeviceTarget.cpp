//===- DeviceTarget.cpp - Kernels as GPU machine code and PTX ---------------------------------===//

#include "codegen/cuda/CudaTarget.h"

#include "codegen/cuda/Architecture.h"
#include "codegen/cuda/Cubin.h"
#include "codegen/cuda/DeviceCode.h"
#include "codegen/cuda/Resources.h"
#include "codegen/cuda/Toolkit.h"
#include "codegen/gpu/LaunchPlan.h"
#include "codegen/target/KernelCache.h"
#include "runtime/abi/cuda.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/xxhash.h"

using namespace mlir;
using namespace mtc;
using namespace mtc::cuda;
using namespace mtc::gpu;

namespace {

/// Compiles kernels to images for the GPU's driver: machine code, and PTX for later GPUs.
class DeviceTarget final : public CudaTarget {
public:
  DeviceTarget(TargetAttr target, cpu::Processor host, unsigned optLevel)
      : CudaTarget(target, std::move(host), optLevel),
        architectures(llvm::cantFail(parseArchitectures(target.getArchitectures()))) {}

  std::string getName() const override {
    return "cuda:" +
           llvm::join(llvm::map_range(architectures, std::mem_fn(&Architecture::name)), ",");
  }
  LinkInputs getLinkInputs() const override {
    return {{"libmtc_runtime.a", "libmtc_runtime_cuda.a", "libmtc_cuda_native.a",
             "libmtc_cuda_calls.a", "libmtc_runtime_cpu.a", "libmtc_library_calls.a",
             "libmtc_no_onednn.a", "libmtc_contraction_problem.a"},
            {"stdc++", "m", "pthread", "dl"}};
  }

  FailureOr<std::vector<CompiledObject>> compile(const CodeSources &sources,
                                                 KernelCache *cache) override;
  FailureOr<std::vector<OwnedModule>> generateModules(const CodeSources &sources) override {
    return mlir::emitError(UnknownLoc::get(sources.context),
                           "GPU kernels run only in the emulator here; use --emulate");
  }
  LogicalResult printResources(const CodeSources &sources, raw_ostream &os) override;
  llvm::Constant *describeProgram(ConstantBuilder &builder) override;

protected:
  llvm::Expected<std::string> printModule(llvm::Module &module, KernelText form) override;
  llvm::Constant *describeFunction(StringRef, ConstantBuilder &builder) override {
    return builder.null();
  }
  uint32_t imageOf(StringRef symbol) override { return imageIndex.lookup(symbol); }

private:
  /// Assembles a translated device module to machine code.
  llvm::Expected<Cubin> assembleModule(llvm::Module &module,
                                       const Architecture &architecture) const;
  /// Returns the image that the program contains for a module: machine code, or null-terminated
  /// PTX.
  llvm::Expected<Object> makeImage(llvm::Module &module, const Architecture &architecture) const;
  uint32_t neededDriver() const;

  SmallVector<Architecture> architectures;
  /// The images of the last compilation: for each architecture an image for each source.
  std::vector<std::vector<Object>> images;
  llvm::StringMap<uint32_t> imageIndex; ///< by the symbol of the first launch
  AssemblerVersion assembler = {0, 0};
};

} // namespace

/// Identifies the linked libdevice in cache keys. Kernels without libdevice functions do not
/// require it.
static std::string describeLibdevice() {
  llvm::Expected<llvm::MemoryBufferRef> bitcode = getLibdevice();
  if (bitcode)
    return "libdevice " + llvm::utohexstr(llvm::xxh3_64bits(bitcode->getBuffer()));
  llvm::consumeError(bitcode.takeError());
  return "no libdevice";
}

llvm::Expected<Cubin> DeviceTarget::assembleModule(llvm::Module &module,
                                                   const Architecture &architecture) const {
  llvm::Expected<std::string> ptx = emitPtx(module, architecture, optLevel);
  if (!ptx)
    return ptx.takeError();
  return assemble(*ptx, module.getName(), architecture, optLevel);
}

llvm::Expected<Target::Object> DeviceTarget::makeImage(llvm::Module &module,
                                                       const Architecture &architecture) const {
  if (!architecture.isPtx()) {
    llvm::Expected<Cubin> cubin = assembleModule(module, architecture);
    if (!cubin)
      return cubin.takeError();
    return std::move(cubin->code);
  }
  llvm::Expected<std::string> ptx = emitPtx(module, architecture, optLevel);
  if (!ptx)
    return ptx.takeError();
  return llvm::MemoryBuffer::getMemBufferCopy(StringRef(ptx->c_str(), ptx->size() + 1),
                                              module.getName());
}

FailureOr<std::vector<CompiledObject>> DeviceTarget::compile(const CodeSources &all,
                                                             KernelCache *cache) {
  CodeSources sources = selectSources(all);
  images.clear();
  imageIndex.clear();
  SmallVector<SmallVector<Launch>> plans = planSources(sources);
  for (auto [i, launches] : llvm::enumerate(plans))
    imageIndex[launches.front().symbol] = i;
  if (plans.empty()) {
    images.resize(architectures.size());
    return compileForHost(all, cache);
  }
  if (!llvm::all_of(architectures, std::mem_fn(&Architecture::isPtx))) {
    llvm::Expected<AssemblerVersion> version = getAssemblerVersion();
    if (!version)
      return mlir::emitError(UnknownLoc::get(sources.context), llvm::toString(version.takeError()));
    assembler = *version;
  }
  for (const Architecture &architecture : architectures) {
    std::string machine = describeLibdevice() + ' ' + architecture.name() + " O" +
                          std::to_string(optLevel) + describePrecision();
    if (!architecture.isPtx())
      machine += " nvJitLink " + assembler.text();
    auto compileMissing = [&](const CodeSources &missing, function_ref<void(size_t, Object)> keep) {
      return forEachModule(missing, [&](size_t i, OwnedModule owned) -> llvm::Error {
        llvm::Expected<Object> image = makeImage(*owned.module, architecture);
        if (!image)
          return image.takeError();
        keep(i, std::move(*image));
        return llvm::Error::success();
      });
    };
    FailureOr<std::vector<Object>> compiled =
        compileCached(sources, cache, machine, compileMissing);
    if (failed(compiled))
      return failure();
    images.push_back(std::move(*compiled));
  }
  return compileForHost(all, cache);
}

/// The assembler reports the resources, so all sources are assembled, even those in the cache.
LogicalResult DeviceTarget::printResources(const CodeSources &all, raw_ostream &os) {
  CodeSources sources = selectSources(all);
  SmallVector<SmallVector<Launch>> plans = planSources(sources);
  for (const Architecture &architecture : onePerProcessor(architectures)) {
    std::vector<std::vector<LaunchResources>> found(plans.size());
    auto assembleOne = [&](size_t i, OwnedModule owned) -> llvm::Error {
      llvm::Expected<Cubin> cubin = assembleModule(*owned.module, architecture);
      if (!cubin)
        return cubin.takeError();
      std::vector<Resources> all = readResources(cubin->log);
      for (const Launch &launch : plans[i])
        for (const Resources &resources : all)
          if (launch.symbol == resources.symbol)
            found[i].push_back({resources, static_cast<unsigned>(launch.block[0] * launch.block[1] *
                                                                 launch.block[2])});
      return llvm::Error::success();
    };
    if (failed(forEachModule(sources, assembleOne)))
      return failure();
    std::vector<LaunchResources> launches;
    for (std::vector<LaunchResources> &ofSource : found)
      llvm::append_range(launches, ofSource);
    mtc::cuda::printResources(launches, architecture, os);
  }
  return success();
}

/// Returns the minimum driver version, in the format of cuDriverGetVersion, for the version of a
/// PTX text (PTX ISA, "PTX Release Notes"): CUDA 11.x for 7.x, 12.0 to 12.5 for 8.0 to 8.5, 12.7
/// and later for 8.6 and later, 13.x for 9.x.
static uint32_t driverOfPtx(StringRef text) {
  StringRef version = text.split(".version ").second;
  unsigned major = 0, minor = 0;
  [[maybe_unused]] bool isWrong = version.consumeInteger(10, major) ||
                                  !version.consume_front(".") || version.consumeInteger(10, minor);
  assert(!isWrong && "LLVM's PTX starts with its version");
  if (major == 8 && minor > 5)
    ++minor;
  return (major + 4) * 1000 + minor * 10;
}

/// A driver can load the images of every assembler with the same major version.
uint32_t DeviceTarget::neededDriver() const {
  uint32_t needed = assembler.major * 1000;
  for (auto [architecture, ofArchitecture] : llvm::zip_equal(architectures, images))
    if (architecture.isPtx() && !ofArchitecture.empty())
      needed = std::max(needed, driverOfPtx(ofArchitecture.front()->getBuffer()));
  return needed;
}

llvm::Constant *DeviceTarget::describeProgram(ConstantBuilder &c) {
  SmallVector<llvm::Constant *> tables;
  for (auto [architecture, ofArchitecture] : llvm::zip_equal(architectures, images)) {
    SmallVector<llvm::Constant *> entries;
    for (const Object &image : ofArchitecture)
      entries.push_back(c.record(field<&MtcGpuImage::bytes>(c.bytes(image->getBuffer())),
                                 field<&MtcGpuImage::byte_count>(image->getBufferSize())));
    tables.push_back(c.record(field<&MtcCudaArchitecture::major>(architecture.major),
                              field<&MtcCudaArchitecture::minor>(architecture.minor),
                              field<&MtcCudaArchitecture::code>(architecture.code),
                              field<&MtcCudaArchitecture::images>(c.array(entries))));
  }
  uint32_t count = images.empty() ? 0 : images.front().size();
  return c.array({c.record(field<&MtcCudaProgram::is_emulated>(false),
                           field<&MtcCudaProgram::precision>(precision),
                           field<&MtcCudaProgram::driver_version>(neededDriver()),
                           field<&MtcCudaProgram::image_count>(count),
                           field<&MtcCudaProgram::architecture_count>(tables.size()),
                           field<&MtcCudaProgram::architectures>(c.array(tables)),
                           field<&MtcCudaProgram::host>(describeHost(c)))});
}

llvm::Expected<std::string> DeviceTarget::printModule(llvm::Module &module, KernelText form) {
  llvm::Expected<std::string> ptx = emitPtx(module, architectures.front(), optLevel);
  if (!ptx || form == KernelText::Assembly)
    return ptx;
  std::string text;
  llvm::raw_string_ostream(text) << module;
  return text;
}

std::unique_ptr<Target> cuda::createDeviceTarget(TargetAttr target, cpu::Processor host,
                                                 unsigned optLevel) {
  return std::make_unique<DeviceTarget>(target, std::move(host), optLevel);
}

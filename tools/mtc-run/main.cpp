//===- main.cpp - In-process execution of programs and kernels, for tests ---------------------===//

#include "codegen/Codegen.h"
#include "codegen/Link.h"
#include "ir/Mtc.h"
#include "support/compiler/Errors.h"
#include "support/compiler/OutputFile.h"
#include "support/compiler/StandardStreams.h"
#include "tools/mtc-run/CheckKernels.h"
#include "tools/mtc-run/DeviceModules.h"
#include "tools/mtc-run/EmulateModules.h"
#include "tools/mtc-run/RunSteps.h"

#include "mlir/IR/MLIRContext.h"
#include "mlir/Parser/Parser.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/InitLLVM.h"
#include "llvm/Support/SourceMgr.h"

using namespace mlir;

namespace cl = llvm::cl;

static int report(llvm::Error error) { return mtc::tool::report("mtc-run", std::move(error)); }

/// Links a program. A module without mtc.program gets the batch size of the first axis of its first
/// non-scalar input.
static int linkExecutable(ModuleOp module, mtc::Target &target,
                          const mtc::tool::OutputTarget &output) {
  mtc::ProgramFiles files;
  files.compilerVersion = "test";
  files.planJson = "{}";
  if (!mtc::ProgramOp::find(module)) {
    auto builder = OpBuilder::atBlockBegin(module.getBody());
    auto program = mtc::ProgramOp::create(builder, module.getLoc(), "test", mtc::Stage::Allocated);
    program.setLoss("none");
    program.setOptimizer("none");
    for (mtc::StepOp step : module.getOps<mtc::StepOp>())
      for (auto at : step.getInputs().getAsRange<mtc::AtAttr>())
        if (at.getType().getRank() > 0 && program.getBatch() == 1)
          program.setBatch(at.getType().getDimSize(0));
  }
  FailureOr<std::unique_ptr<llvm::MemoryBuffer>> code = mtc::generateCode(module, files, target);
  if (failed(code))
    return 1;
  auto file = mtc::tool::OutputFile::create(output);
  if (!file)
    return report(file.takeError());
  if (llvm::Error error =
          mtc::linkProgram({**code, file->getTemporaryPath(), target.getLinkInputs()}))
    return report(
        mtc::tool::makeSystemFault(output.what + ": " + llvm::toString(std::move(error))));
  return report(mtc::tool::commit(*file));
}

int main(int argc, char **argv) {
  mtc::tool::guardStandardStreams("mtc-run");
  llvm::InitLLVM init(argc, argv, /*InstallPipeSignalExitHandler=*/false);
  cl::opt<std::string> file(cl::Positional, cl::desc("FILE.mlir"), cl::init("-"));
  cl::opt<bool> check("check", cl::desc("run every kernel function on generated inputs and compare "
                                        "with the interpreter"));
  cl::opt<double> tolerance("tolerance", cl::desc("greatest relative error of floats with --check"),
                            cl::init(1e-6));
  cl::opt<bool> time("time", cl::desc("measure every kernel function's time and bandwidth"));
  cl::opt<std::string> emit("emit", cl::desc("print instead: kernels (loops), llvm or asm; of "
                                             "gpu.modules asm, cubin or resources"));
  cl::opt<std::string> output("o", cl::desc("link an executable of the allocated program instead"));
  cl::opt<bool> force("force", cl::desc("replace files that mtc did not write"));
  cl::opt<std::string> cpu("cpu", cl::desc("processor: host, or a name that LLVM knows"),
                           cl::init("host"));
  cl::opt<std::string> targetName("target", cl::desc(mtc::Target::describeNames()),
                                  cl::init("cpu"));
  cl::opt<bool> emulate("emulate", cl::desc("device code for this machine's processor"));
  cl::opt<unsigned> optLevel("opt", cl::desc("optimization, 0 to 3"), cl::init(3));
  cl::ParseCommandLineOptions(argc, argv,
                              "mtc-run: executes allocated programs and kernels in place\n\n"
                              "Every mtc.step whose attribute `run.inputs` gives its inputs is run "
                              "in order, and its outputs are printed.\n");

  DialectRegistry registry;
  mtc::registerCodegenDialects(registry);
  MLIRContext context(registry);
  context.loadAllAvailableDialects();
  OwningOpRef<ModuleOp> module = parseSourceFile<ModuleOp>(file, &context);
  if (!module)
    return 1;
  if (mtc::hasDeviceModules(*module) && emulate)
    return failed(emit == "llvm" ? mtc::printEmulatedModules(*module, optLevel)
                                 : mtc::emulateDeviceModules(*module, optLevel));
  if (mtc::hasDeviceModules(*module))
    return failed(mtc::printDeviceModules(*module, targetName, emit, optLevel));
  mtc::TargetFlags flags;
  flags.target = targetName;
  flags.emulate = emulate;
  flags.cpu = cpu;
  llvm::Expected<mtc::TargetAttrInterface> parsed = mtc::Target::parse(context, flags);
  if (!parsed)
    return report(parsed.takeError());
  llvm::Expected<std::unique_ptr<mtc::Target>> target = mtc::Target::create(*parsed, optLevel);
  if (!target)
    return report(target.takeError());
  if (!emit.empty()) {
    auto form = llvm::StringSwitch<std::optional<mtc::KernelText>>(emit)
                    .Case("kernels", mtc::KernelText::Loops)
                    .Case("llvm", mtc::KernelText::LLVM)
                    .Case("asm", mtc::KernelText::Assembly)
                    .Default(std::nullopt);
    if (!form) {
      llvm::errs() << "error: --emit: invalid value '" << emit
                   << "'; expected one of: kernels, llvm, asm\n";
      return 1;
    }
    auto sources = (*target)->collectSources(*module);
    return failed(sources) || failed((*target)->print(*sources, *form, llvm::outs()));
  }
  if (!output.empty()) {
    mtc::tool::OutputPolicy policy(force);
    policy.addInput("the module", file);
    auto resolved = policy.add("-o " + output, output, /*isStream=*/false);
    return resolved ? linkExecutable(*module, **target, *resolved) : report(resolved.takeError());
  }
  if (check || time)
    return failed(mtc::checkKernels(*module, **target, {check, time, tolerance}));
  return failed(mtc::runSteps(*module, **target));
}

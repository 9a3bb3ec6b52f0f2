//===- CpuDialect.td - The target `cpu` as an attribute -------------------------------------------===//

#ifndef MTC_CODEGEN_CPU_DIALECT
#define MTC_CODEGEN_CPU_DIALECT

include "mlir/IR/AttrTypeBase.td"
include "ir/interfaces/MtcInterfaces.td"

def MtcCpuDialect : Dialect {
  let name = "mtc_cpu";
  let cppNamespace = "::mtc::cpu";
  let summary = "Programs for the processor that runs them";
  let useDefaultAttributePrinterParser = 1;
}

def MtcCpu_TargetAttr : AttrDef<MtcCpuDialect, "Target", [DeclareAttrInterfaceMethods<TargetAttrInterface, ["multipliesInF32"]>]> {
  let mnemonic = "target";
  let summary = "kernels are functions of the program, oneDNN computes library calls";
  let description = [{
    `processor` is `host`, the machine that compiles, or a name that LLVM knows; `features` are added to it, as LLVM
    writes them. What passes between kernels is stored as `precision` says. Library calls are planned for `threads` threads.
    Estimates of time are of this machine, or of the class of another processor; `rates` names a class (`avx512bf16`, `avx512`, `avx2`, `sse`).

    ```mlir
    module attributes {mtc.target = #mtc_cpu.target<threads = 16>} { … }
    ```
  }];
  let parameters = (ins DefaultValuedParameter<"::mtc::Precision", "::mtc::Precision::F32">:$precision,
                        DefaultValuedParameter<"unsigned", "1">:$threads,
                        StringRefParameter<"", [{"host"}]>:$processor,
                        StringRefParameter<"", [{""}]>:$features,
                        StringRefParameter<"", [{""}]>:$rates);
  let assemblyFormat = "`<` struct(params) `>`";
  let genVerifyDecl = 1;
}

def MtcCpu_LoopsAttr : AttrDef<MtcCpuDialect, "Loops", [DeclareAttrInterfaceMethods<KernelPlanAttrInterface>]> {
  let mnemonic = "loops";
  let summary = "how a kernel's space becomes items, loops and vectors";
  let description = [{
    The fields of a `LoopPlan` (codegen/cpu/LoopPlan.h). Dims are those of the kernel in normal form, loads are counted as
    the body has them.

    ```mlir
    #mtc_cpu.loops<blocked = 0, block = 4096, vector = 0, lanes = 64, extent = 4, grain = 4>
    ```
  }];
  let parameters = (ins AttrParameter<"::mtc::cpu::LoopPlan", "", "const ::mtc::cpu::LoopPlan &">:$plan);
  let hasCustomAssemblyFormat = 1;
}

#endif // MTC_CODEGEN_CPU_DIALECT

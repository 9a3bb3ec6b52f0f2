//===- CpuDialect.td - The cpu target attribute ---------------------------------------------------===//

#ifndef MTC_CODEGEN_CPU_DIALECT
#define MTC_CODEGEN_CPU_DIALECT

include "mlir/IR/AttrTypeBase.td"
include "ir/interfaces/MtcInterfaces.td"

def MtcCpuDialect : Dialect {
  let name = "mtc_cpu";
  let cppNamespace = "::mtc::cpu";
  let summary = "CPU target";
  let useDefaultAttributePrinterParser = 1;
}

def MtcCpu_TargetAttr : AttrDef<MtcCpuDialect, "Target", [DeclareAttrInterfaceMethods<TargetAttrInterface, ["getProductType", "chooseAlgorithm"]>]> {
  let mnemonic = "target";
  let summary = "CPU target: native kernels, library calls by oneDNN or the runtime";
  let description = [{
    `processor` is `host`, the machine that compiles, or an LLVM CPU name. `features` are LLVM target features added to the
    processor's. Values between kernels are stored in `precision`. Library calls are planned for `threads` threads. The cost model
    uses rates measured on this machine, or those of the class of another processor; `rates` selects a class explicitly
    (`avx512bf16`, `avx512`, `avx2`, `sse`, `neon`). `without` lists libraries that the program must not use: without `onednn`,
    the runtime computes library calls itself. `is_static` programs contain all of their libraries, and do not use oneDNN. `tune`
    says whether the algorithms of large contractions are measured: `off`, `cached` (each once on this machine) or `full` (again). Only
    the rates and the processor of this machine are measured.

    ```mlir
    module attributes {mtc.target = #mtc_cpu.target<threads = 16>} { … }
    ```
  }];
  let parameters = (ins DefaultValuedParameter<"::mtc::Precision", "::mtc::Precision::F32">:$precision,
                        DefaultValuedParameter<"unsigned", "1">:$threads,
                        StringRefParameter<"", [{"host"}]>:$processor,
                        StringRefParameter<"", [{""}]>:$features,
                        StringRefParameter<"", [{""}]>:$rates,
                        StringRefParameter<"", [{""}]>:$without,
                        DefaultValuedParameter<"bool", "false">:$is_static,
                        StringRefParameter<"", [{"cached"}]>:$tune);
  let assemblyFormat = "`<` struct(params) `>`";
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    /// Returns who computes library calls.
    MtcCallLibrary getLibrary() const { return getWithout().empty() ? MTC_ONEDNN : MTC_BUILT_IN; }
  }];
}

def MtcCpu_LoopsAttr : AttrDef<MtcCpuDialect, "Loops", [DeclareAttrInterfaceMethods<KernelPlanAttrInterface>]> {
  let mnemonic = "loops";
  let summary = "mapping of a kernel's iteration space to work items, loops and vectors";
  let description = [{
    The fields of a `LoopPlan` (codegen/cpu/LoopPlan.h). Dimensions are those of the kernel in normal form. Loads are numbered in
    the order of the body.

    ```mlir
    #mtc_cpu.loops<blocked = 0, block = 4096, vector = 0, lanes = 64, extent = 4, grain = 4>
    ```
  }];
  let parameters = (ins AttrParameter<"::mtc::cpu::LoopPlan", "", "const ::mtc::cpu::LoopPlan &">:$plan);
  let hasCustomAssemblyFormat = 1;
}

#endif // MTC_CODEGEN_CPU_DIALECT

//===- CudaDialect.td - The cuda target attribute -------------------------------------------------===//

#ifndef MTC_CODEGEN_CUDA_DIALECT
#define MTC_CODEGEN_CUDA_DIALECT

include "mlir/IR/AttrTypeBase.td"
include "ir/MtcBase.td"

def MtcCudaDialect : Dialect {
  let name = "mtc_cuda";
  let cppNamespace = "::mtc::cuda";
  let summary = "NVIDIA GPU target";
  let useDefaultAttributePrinterParser = 1;
  let dependentDialects = ["::mtc::cpu::MtcCpuDialect"]; // Of kernels on the host.
}

def MtcCuda_TargetAttr : AttrDef<MtcCudaDialect, "Target", [DeclareAttrInterfaceMethods<TargetAttrInterface, ["getHostTarget", "getHostKernelSeconds"]>]> {
  let mnemonic = "target";
  let summary = "NVIDIA GPU target: kernel launches, cuBLASLt, cuDNN";
  let description = [{
    `architectures` is a comma-separated list of compute capabilities in nvcc's notation: machine code for `sm_90`, PTX for
    `compute_90`. Operands of f32 contractions and convolutions are rounded to `precision`. An `emulated` program runs device code
    on the CPU and checks every memory access. `without` lists libraries that the program must not use: without `cudnn`,
    convolutions are lowered to contractions of windows. Library calls are computed by cuBLASLt, cuDNN and mtc's own device code
    (attention, the cells of recurrent layers). `processor` is the program's host processor: `host`, the machine that compiles,
    or an LLVM CPU name. `features` are LLVM target features added to the processor's; the host program uses `threads` threads.
    The cost model uses the data sheet of the GPU `rates` (`a100`, `h100`, `rtx-4090`, …), or of the first architecture's usual GPU.
    Kernels on the host are those of the target `cpu`, at the rates of the class of the host processor.

    ```mlir
    module attributes {mtc.target = #mtc_cuda.target<architectures = "sm_90,compute_90", precision = tf32>} { … }
    ```
  }];
  let parameters = (ins StringRefParameter<"">:$architectures,
                        DefaultValuedParameter<"::mtc::Precision", "::mtc::Precision::F32">:$precision,
                        DefaultValuedParameter<"bool", "false">:$emulated,
                        StringRefParameter<"", [{""}]>:$without,
                        DefaultValuedParameter<"unsigned", "1">:$threads,
                        StringRefParameter<"", [{"host"}]>:$processor,
                        StringRefParameter<"", [{""}]>:$features,
                        StringRefParameter<"", [{""}]>:$rates);
  let assemblyFormat = "`<` struct(params) `>`";
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    /// The precision that f32 contractions may round their operands to.
    ::mtc::ContractionPrecision getContractionPrecision() const {
      return getPrecision() == ::mtc::Precision::TF32 ? ::mtc::ContractionPrecision::TF32 : ::mtc::ContractionPrecision::F32;
    }
  }];
}

def MtcCuda_LaunchesAttr : AttrDef<MtcCudaDialect, "Launches", [DeclareAttrInterfaceMethods<KernelPlanAttrInterface>]> {
  let mnemonic = "launches";
  let summary = "mapping of a kernel's iteration space to grids, blocks and vectors";
  let description = [{
    The fields of a `LaunchPlan` (codegen/gpu/LaunchPlan.h). Dimensions are those of the kernel in normal form. Loads are
    numbered in the order of the body.

    ```mlir
    #mtc_cuda.launches<shape = elementwise<vector = <dim = 0, width = 4>, dims = [0]>,
                       launches = [<grid = [16, 1, 1], block = [256, 1, 1]>]>
    ```
  }];
  let parameters = (ins AttrParameter<"::mtc::gpu::LaunchPlan", "", "const ::mtc::gpu::LaunchPlan &">:$plan);
  let hasCustomAssemblyFormat = 1;
}

#endif // MTC_CODEGEN_CUDA_DIALECT

//===- CudaDialect.td - The target `cuda` as an attribute -----------------------------------------===//

#ifndef MTC_CODEGEN_CUDA_DIALECT
#define MTC_CODEGEN_CUDA_DIALECT

include "mlir/IR/AttrTypeBase.td"
include "ir/MtcBase.td"

def MtcCudaDialect : Dialect {
  let name = "mtc_cuda";
  let cppNamespace = "::mtc::cuda";
  let summary = "Programs for NVIDIA's GPUs";
  let useDefaultAttributePrinterParser = 1;
}

def MtcCuda_TargetAttr : AttrDef<MtcCudaDialect, "Target", [DeclareAttrInterfaceMethods<TargetAttrInterface>]> {
  let mnemonic = "target";
  let summary = "kernels are launches on a GPU, cuBLASLt, cuDNN and device code of mtc's own compute library calls";
  let description = [{
    `architectures` are compute capabilities as nvcc names them, with commas between them: machine code for `sm_90`, PTX for `compute_90`. Operands of
    contractions and convolutions of f32 are rounded to `precision`. An `emulated` program runs device code on the CPU, with every
    access checked. The program asks none of the libraries `without`: `cudnn`, without which convolutions are contractions of windows. `processor` runs the program beside the GPU: `host`, the machine that compiles, or a name that LLVM knows;
    `features` are added to it, as LLVM writes them; it has `threads` threads.

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
                        StringRefParameter<"", [{""}]>:$features);
  let assemblyFormat = "`<` struct(params) `>`";
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    /// What products of f32 may round their operands to.
    ::mtc::ContractionPrecision getContractionPrecision() const {
      return getPrecision() == ::mtc::Precision::TF32 ? ::mtc::ContractionPrecision::TF32 : ::mtc::ContractionPrecision::F32;
    }
  }];
}

def MtcCuda_LaunchesAttr : AttrDef<MtcCudaDialect, "Launches", [DeclareAttrInterfaceMethods<KernelPlanAttrInterface>]> {
  let mnemonic = "launches";
  let summary = "how a kernel's space becomes grids, blocks, vectors and stages";
  let description = [{
    The fields of a `LaunchPlan` (codegen/cuda/LaunchPlan.h). Dims are those of the kernel in normal form, loads are counted
    as the body has them.

    ```mlir
    #mtc_cuda.launches<shape = elementwise<vector = <dim = 0, width = 4>, dims = [0]>,
                       launches = [<grid = [16, 1, 1], block = [256, 1, 1]>]>
    ```
  }];
  let parameters = (ins AttrParameter<"::mtc::cuda::LaunchPlan", "", "const ::mtc::cuda::LaunchPlan &">:$plan);
  let hasCustomAssemblyFormat = 1;
}

#endif // MTC_CODEGEN_CUDA_DIALECT

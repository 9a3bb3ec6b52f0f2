//===- Passes.td - Passes of code generation ----------------------------------------------------===//

#ifndef MTC_CODEGEN_PASSES
#define MTC_CODEGEN_PASSES

include "mlir/Pass/PassBase.td"

def LowerKernelsToCpu : Pass<"mtc-lower-kernels-to-cpu", "::mlir::ModuleOp"> {
  let summary = "Writes kernels as functions of loops over vectors";
  let description = [{
    Each `mtc.kernel_function` becomes an `llvm.func` over a range of items: `scf` loops over `arith` and `math` on
    vectors, with loads and stores of the `llvm` dialect. Nothing else is left in the module.

    ```mlir
    mtc.kernel_function @k [64] -> [tensor<64xf32>] {
    ^body(%a: tensor<64xf32>):
      %x = mtc.kernel.load %a at affine_map<(d0) -> (d0)> : tensor<64xf32> -> f32
      %y = arith.negf %x : f32
      mtc.kernel.yield %y at [affine_map<(d0) -> (d0)>] : f32
    }
    // becomes
    llvm.func @mtc_kernel.k(%operands: !llvm.ptr, %begin: i64, %end: i64, %fault: !llvm.ptr) {
      ...
      scf.for %item = %begin to %end step %c1_i64 : i64 {
        %x = llvm.load %0 {alignment = 4 : i64} : !llvm.ptr -> vector<64xf32>
        %y = arith.negf %x : vector<64xf32>
        llvm.store %y, %1 {alignment = 4 : i64} : vector<64xf32>, !llvm.ptr
      }
      llvm.return
    }
    ```
  }];
  let options = [
    Option<"permutesTables", "permutes-tables", "bool", "false", "look up entries of small tables by AVX-512's permutations">,
  ];
  let dependentDialects = ["::mtc::cpu::MtcCpuDialect", "::mlir::LLVM::LLVMDialect", "::mlir::arith::ArithDialect", "::mlir::math::MathDialect",
                           "::mlir::scf::SCFDialect", "::mlir::vector::VectorDialect"];
}

def LowerKernelsToCuda : Pass<"mtc-lower-kernels-to-cuda", "::mlir::ModuleOp"> {
  let summary = "Writes kernels as launches of a device";
  let description = [{
    Each `mtc.kernel_function` becomes a `gpu.module` with a `gpu.func` for each launch that it takes: what one thread
    computes, in `scf`, `arith`, `math` and `vector`, with loads and stores of the `llvm` dialect on global memory.
    Nothing else is left in the module.

    ```mlir
    mtc.kernel_function @k [64] -> [tensor<64xf32>] {
    ^body(%a: tensor<64xf32>):
      %x = mtc.kernel.load %a at affine_map<(d0) -> (d0)> : tensor<64xf32> -> f32
      %y = arith.negf %x : f32
      mtc.kernel.yield %y at [affine_map<(d0) -> (d0)>] : f32
    }
    // becomes
    gpu.module @mtc_kernel.k {
      gpu.func @k(%a: !llvm.ptr<1>, %r: !llvm.ptr<1>) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
        ...
        %x = llvm.load %0 {alignment = 16 : i64} : !llvm.ptr<1> -> vector<4xf32>
        %y = arith.negf %x : vector<4xf32>
        llvm.store %y, %1 {alignment = 16 : i64} : vector<4xf32>, !llvm.ptr<1>
        gpu.return
      }
    }
    ```
  }];
  let dependentDialects = ["::mtc::cuda::MtcCudaDialect", "::mlir::LLVM::LLVMDialect", "::mlir::arith::ArithDialect", "::mlir::gpu::GPUDialect",
                           "::mlir::math::MathDialect", "::mlir::NVVM::NVVMDialect", "::mlir::scf::SCFDialect",
                           "::mlir::vector::VectorDialect"];
}

def AttachTarget : Pass<"mtc-attach-target", "::mlir::ModuleOp"> {
  let summary = "Says what the module's program is compiled for";
  let description = [{
    Sets the attribute `mtc.target` to what the flags of the same names say to `mtc compile`. Passes ask it about library
    calls and kernels; code generation follows it.

    ```mlir
    module attributes {mtc.target = #mtc_cuda.target<architectures = "sm_90", precision = tf32>} { … }
    ```
  }];
  let options = [
    Option<"target", "target", "std::string", "\"cpu\"", "cpu, or cuda:ARCHITECTURE,...">,
    Option<"emulate", "emulate", "bool", "false", "device code runs on the CPU, with every access checked">,
    Option<"precision", "precision", "::mtc::Precision", "::mtc::Precision::F32",
           "what operands of contractions of f32 may be rounded to",
           [{::llvm::cl::values(clEnumValN(::mtc::Precision::F32, "f32", "f32 everywhere"),
                                clEnumValN(::mtc::Precision::TF32, "tf32", "products of operands rounded to tf32"),
                                clEnumValN(::mtc::Precision::BF16, "bf16", "bf16 between kernels"),
                                clEnumValN(::mtc::Precision::F16, "f16", "f16 between kernels"))}]>,
    ListOption<"without", "without", "std::string", "libraries that the program does without: cudnn">,
    Option<"processor", "cpu", "std::string", "\"host\"", "the program's processor: host, or a name that LLVM knows">,
    Option<"threads", "threads", "unsigned", "1", "threads that library calls are planned for">,
    Option<"rates", "rates", "std::string", "\"\"", "the class of processors that times are estimated of">,
  ];
}

def ApproximateMath : Pass<"mtc-approximate-math", "::mlir::ModuleOp"> {
  let summary = "Computes functions of math on f32 by polynomials";
  let description = [{
    Functions on scalars and vectors of f32 become arithmetic, with errors of a few units in the last place; those that
    are left call the C library.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::math::MathDialect", "::mlir::vector::VectorDialect"];
}

def ExpandNarrowFloats : Pass<"mtc-expand-narrow-floats", "::mlir::ModuleOp"> {
  let summary = "Converts 16-bit floats to and from f32 by integers";
  let description = [{
    For processors without AVX-512 BF16 or F16C, for which LLVM would call a function of the C compiler's library for each lane. To
    nearest, ties to even; NaN stays NaN, and what is too large becomes infinity.
  }];
  let options = [Option<"bfloat16", "bfloat16", "bool", "false", "bf16">, Option<"float16", "float16", "bool", "false", "f16">];
  let dependentDialects = ["::mlir::arith::ArithDialect"];
}

#endif // MTC_CODEGEN_PASSES

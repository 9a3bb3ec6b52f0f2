//===- Passes.td - Passes of code generation ----------------------------------------------------===//

#ifndef MTC_CODEGEN_PASSES
#define MTC_CODEGEN_PASSES

include "mlir/Pass/PassBase.td"

def LowerKernelsToCpu : Pass<"mtc-lower-kernels-to-cpu", "::mlir::ModuleOp"> {
  let summary = "lower kernels to functions of loops over vectors";
  let description = [{
    Lowers each `mtc.kernel_function` to an `llvm.func` over a range of work items: `scf` loops over `arith` and `math` on
    vectors, with loads and stores of the `llvm` dialect. The resulting module contains nothing else.

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
    Option<"permutesTables", "permutes-tables", "bool", "false", "look up small tables with AVX-512 permutations of words">,
    Option<"permutesBytes", "permutes-bytes", "bool", "false", "look up small tables with AVX-512 permutations of words and bytes">,
  ];
  let dependentDialects = ["::mtc::cpu::MtcCpuDialect", "::mlir::LLVM::LLVMDialect", "::mlir::arith::ArithDialect", "::mlir::math::MathDialect",
                           "::mlir::scf::SCFDialect", "::mlir::vector::VectorDialect"];
}

def LowerKernelsToCuda : Pass<"mtc-lower-kernels-to-cuda", "::mlir::ModuleOp"> {
  let summary = "lower kernels to GPU launches";
  let description = [{
    Lowers each `mtc.kernel_function` to a `gpu.module` with one `gpu.func` per launch. The function contains the code of one
    thread in `scf`, `arith`, `math` and `vector`, with loads and stores of the `llvm` dialect on global memory. The resulting
    module contains nothing else.

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
  let summary = "set the module's target attribute";
  let description = [{
    Sets the attribute `mtc.target` from options that have the names of `mtc compile`'s flags. Passes query the attribute about
    library calls and kernels, and code generation compiles for it.

    ```mlir
    module attributes {mtc.target = #mtc_cuda.target<architectures = "sm_90", precision = tf32>} { … }
    ```
  }];
  let options = [
    Option<"target", "target", "std::string", "\"cpu\"", "target: cpu, or cuda:ARCHITECTURE,...">,
    Option<"emulate", "emulate", "bool", "false", "run device code on the CPU with checked memory accesses">,
    Option<"precision", "precision", "::mtc::Precision", "::mtc::Precision::F32",
           "precision of f32 contractions and of values stored between kernels",
           [{::llvm::cl::values(clEnumValN(::mtc::Precision::F32, "f32", "f32 everywhere"),
                                clEnumValN(::mtc::Precision::TF32, "tf32", "f32 contractions with operands rounded to tf32"),
                                clEnumValN(::mtc::Precision::BF16, "bf16", "bf16 storage between kernels"),
                                clEnumValN(::mtc::Precision::F16, "f16", "f16 storage between kernels"))}]>,
    ListOption<"without", "without", "std::string", "libraries that the program must not use: cudnn, onednn">,
    Option<"isStatic", "static", "bool", "false", "programs contain all of their libraries">,
    Option<"processor", "cpu", "std::string", "\"host\"", "processor of the program: host, an LLVM CPU name, or aarch64">,
    Option<"threads", "threads", "unsigned", "1", "number of threads to plan library calls for">,
    Option<"rates", "rates", "std::string", "\"\"", "processor class of the cost model">,
    Option<"tune", "tune", "std::string", "\"\"", "whether algorithms of contractions are measured: off, cached or full">,
  ];
}

def ApproximateMath : Pass<"mtc-approximate-math", "::mlir::ModuleOp"> {
  let summary = "approximate f32 math functions by polynomials";
  let description = [{
    Expands `math` operations on scalars and vectors of f32 to arithmetic with an error of a few ULP. Operations without an
    expansion call the C library.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::math::MathDialect", "::mlir::vector::VectorDialect"];
}

def ExpandNarrowFloats : Pass<"mtc-expand-narrow-floats", "::mlir::ModuleOp"> {
  let summary = "expand conversions between 16-bit floats and f32";
  let description = [{
    Expands the conversions to integer arithmetic, for processors without AVX-512 BF16 or F16C. LLVM would otherwise call a
    function of the compiler's runtime library for each lane. Rounds to nearest, ties to even; NaN stays NaN, and overflow yields
    infinity.
  }];
  let options = [Option<"bfloat16", "bfloat16", "bool", "false", "expand conversions of bf16">,
                 Option<"float16", "float16", "bool", "false", "expand conversions of f16">];
  let dependentDialects = ["::mlir::arith::ArithDialect"];
}

#endif // MTC_CODEGEN_PASSES

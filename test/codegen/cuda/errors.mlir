// Messages contain the missing or misspelled name and a suggestion.
// RUN: not mtc-run --target=cuda:sm_75 --emit=asm %s 2>&1 | FileCheck %s --check-prefix=UNKNOWN
// RUN: not mtc-run --target=cuda:sm_90,sm_90 --emit=asm %s 2>&1 | FileCheck %s --check-prefix=TWICE
// RUN: not mtc-run --target=cuda:sm_90,compute_75 --emit=asm %s 2>&1 | FileCheck %s --check-prefix=VIRTUAL
// RUN: not mtc-run --target=cuda:compute_90a --emit=asm %s 2>&1 | FileCheck %s --check-prefix=EXACT
// RUN: not mtc-run --target=cuda:compute_90,sm_90,compute_90 --emit=asm %s 2>&1 | FileCheck %s --check-prefix=VIRTUAL-TWICE
// RUN: rm -rf %t && mkdir -p %t
// RUN: env MTC_CUDA_PATH=%t not mtc-run --target=cuda --emit=asm %s 2>&1 | FileCheck %s --check-prefix=LIBDEVICE
// RUN: not mtc-run --target=cuda --emit=asm %S/inputs/unknown-function.mlir 2>&1 | FileCheck %s --check-prefix=FUNCTION
// RUN: env MTC_CUDA_PATH=%t mtc-run --target=cuda --emit=asm %S/inputs/no-functions.mlir | FileCheck %s --check-prefix=PTX
// RUN: env MTC_CUDA_PATH=%t not mtc-run --target=cuda --emit=cubin %S/inputs/no-functions.mlir 2>&1 | FileCheck %s --check-prefix=JITLINK

// UNKNOWN: error: --target cuda:sm_75: unknown architecture; expected native, sm_80, {{.*}}sm_121
// TWICE: error: --target cuda:sm_90,sm_90: sm_90 is listed twice
// VIRTUAL: error: --target cuda:sm_90,compute_75: 'compute_75': unknown architecture; expected native, sm_80, {{.*}}sm_121, {{.*}} or one of these numbers as in compute_90{{$}}
// EXACT: error: --target cuda:compute_90a: unknown architecture
// VIRTUAL-TWICE: error: --target cuda:compute_90,sm_90,compute_90: compute_90 is listed twice
// LIBDEVICE: error: the target 'cuda' needs libdevice.10.bc {{.*}} which was not found in {{.*}}; install it with tools/setup.sh or 'pip install nvidia-nvvm', or set MTC_CUDA_PATH
// FUNCTION: error: a kernel calls '__nv_no_such_function', which libdevice does not have
// Code without math functions needs no libdevice.
// PTX: .visible .entry plain(
// JITLINK: error: the target 'cuda' needs libnvJitLink.so (CUDA's assembler), which was not found in {{.*}} 'pip install nvidia-nvjitlink'

gpu.module @mtc_kernel.tangent {
  gpu.func @tangent(%x: !llvm.ptr<1>) kernel {
    %a = llvm.load %x : !llvm.ptr<1> -> f32
    %b = math.tanh %a : f32
    llvm.store %b, %x : f32, !llvm.ptr<1>
    gpu.return
  }
}

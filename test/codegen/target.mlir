// RUN: mtc-opt %s --mtc-attach-target="target=cuda:sm_90,compute_90 precision=tf32" | FileCheck %s --check-prefix=CUDA
// RUN: mtc-opt %s --mtc-attach-target="target=cuda emulate" | FileCheck %s --check-prefix=EMULATED
// RUN: mtc-opt %s --mtc-attach-target="threads=16 cpu=x86-64-v3" | FileCheck %s --check-prefix=CPU
// RUN: mtc-opt %s --mtc-attach-target="target=cuda emulate" | mtc-opt | FileCheck %s --check-prefix=EMULATED
// RUN: not mtc-opt %s --mtc-attach-target="target=tpu" 2>&1 | FileCheck %s --check-prefix=UNKNOWN
// RUN: not mtc-opt %s --mtc-attach-target="precision=tf32" 2>&1 | FileCheck %s --check-prefix=PRECISION
// RUN: mtc-opt %s --mtc-attach-target="target=cuda without=cudnn" | mtc-opt | FileCheck %s --check-prefix=WITHOUT
// RUN: not mtc-opt %s --mtc-attach-target="target=cuda without=cublasLt" 2>&1 | FileCheck %s --check-prefix=NEEDED
// RUN: mtc-opt %s --mtc-attach-target="without=onednn" | mtc-opt | FileCheck %s --check-prefix=OWN_CODE
// RUN: mtc-opt %s --mtc-attach-target="cpu=aarch64" | mtc-opt | FileCheck %s --check-prefix=ARM
// RUN: not mtc-opt %s --mtc-attach-target="target=cuda cpu=aarch64" 2>&1 | FileCheck %s --check-prefix=ARM_HOST
// RUN: not mtc-opt %s --mtc-attach-target="without=cudnn" 2>&1 | FileCheck %s --check-prefix=FOREIGN
// RUN: mtc-opt %s --mtc-attach-target="tune=off" | mtc-opt | FileCheck %s --check-prefix=OFF
// RUN: not mtc-opt %s --mtc-attach-target="tune=fast" 2>&1 | FileCheck %s --check-prefix=FAST
// RUN: not mtc-opt %s --mtc-attach-target="tune=full cpu=x86-64-v3" 2>&1 | FileCheck %s --check-prefix=ELSEWHERE
// RUN: not mtc-opt %s --mtc-attach-target="tune=cached rates=avx2" 2>&1 | FileCheck %s --check-prefix=RATES
// RUN: not mtc-opt %s --mtc-attach-target="tune=full without=onednn" 2>&1 | FileCheck %s --check-prefix=OWN
// RUN: not mtc-opt %s --mtc-attach-target="target=cuda tune=full" 2>&1 | FileCheck %s --check-prefix=DEVICE
// RUN: mtc-opt %s --mtc-attach-target="target=cuda tune=off" | FileCheck %s --check-prefix=UNTUNED

// CUDA: module attributes {mtc.target = #mtc_cuda.target<architectures = "sm_90,compute_90", precision = tf32>}
// EMULATED: module attributes {mtc.target = #mtc_cuda.target<architectures = "sm_90", emulated = true>}
// CPU: module attributes {mtc.target = #mtc_cpu.target<threads = 16, processor = "x86-64-v3">}
// UNKNOWN: error: --target tpu: unknown target; expected one of: cpu, cuda
// PRECISION: error: --precision tf32: not supported by the target 'cpu'; expected f32
// WITHOUT: module attributes {mtc.target = #mtc_cuda.target<architectures = "sm_90", without = "cudnn">}
// OWN_CODE: module attributes {mtc.target = #mtc_cpu.target<without = "onednn">}
// ARM: module attributes {mtc.target = #mtc_cpu.target<processor = "aarch64", without = "onednn", is_static = true>}
// ARM_HOST: error: --cpu aarch64: not supported by the target 'cuda'
// NEEDED: error: without cublasLt: the target 'cuda' requires this library; expected cudnn
// FOREIGN: error: --no-cudnn: not used by the target 'cpu'; use it with --target cuda
// OFF: module attributes {mtc.target = #mtc_cpu.target<tune = "off">}
// FAST: error: --tune fast: expected one of: off, cached, full
// ELSEWHERE: error: --tune full: measures oneDNN on this machine, but --cpu selects another processor; use --tune off
// RATES: error: --tune cached: measures oneDNN on this machine, but --cost-model selects another processor's times; use --tune off
// OWN: error: --tune full: measures oneDNN on this machine, but the program does not use oneDNN; use --tune off
// DEVICE: error: --tune full: not supported by the target 'cuda', whose libraries choose their kernels on the GPU
// UNTUNED: module attributes {mtc.target = #mtc_cuda.target
module {
}

// Parameters with quantized state, and the fusion of their updates and kernels.
// RUN: mtc-opt %s --mtc-optimizer="optimizer=adamw optimizer-bits=8 group='match=n optimizer-bits=4'" 2>%t.err | FileCheck %s
// RUN: FileCheck %s --check-prefix=SAID < %t.err
// RUN: mtc-opt %s --pass-pipeline='builtin.module(mtc-optimizer{optimizer=adamw optimizer-bits=8},mtc-quantize-optimizer-state,mtc-simplify,func.func(mtc-form-kernels,mtc-fuse-kernels))' | FileCheck %s --check-prefix=KERNELS
// RUN: not mtc-opt %s --mtc-optimizer=optimizer-bits=7 2>&1 | FileCheck %s --check-prefix=BITS
// RUN: not mtc-opt %s --mtc-optimizer="group='match=n optimizer-bits=16'" 2>&1 | FileCheck %s --check-prefix=GROUP
// BITS: --optimizer-bits 7: invalid value; expected one of: 32, 8, 4
// GROUP: optimizer-bits: expected 32, 8 or 4, got '16'

// SAID: remark: parameters with quantized state: 3; with unquantized state: 2 (fewer than 4096 elements: b, c), 1 (embeddings: e)
// CHECK-DAG: mtc.variable optimizer @w.moment1 : tensor<65x65xf32> = #mtc.zeros of @w {mtc.quantization = #mtc.quantization<dynamic8>}
// CHECK-DAG: mtc.variable optimizer @w.moment2 : tensor<65x65xf32> = #mtc.zeros of @w {mtc.quantization = #mtc.quantization<unsigned_dynamic8>}
// CHECK-DAG: mtc.variable optimizer @n.moment1 : tensor<4096xf32> = #mtc.zeros of @n {mtc.quantization = #mtc.quantization<dynamic4>}
// CHECK-DAG: mtc.variable optimizer @n.moment2 : tensor<4096xf32> = #mtc.zeros of @n {mtc.quantization = #mtc.quantization<unsigned_linear4>}
// CHECK-DAG: mtc.variable optimizer @b.moment1 : tensor<65xf32> = #mtc.zeros of @b{{$}}
// CHECK-DAG: mtc.variable optimizer @e.moment1 : tensor<100x64xf32> = #mtc.zeros of @e{{$}}
// CHECK-LABEL: func.func @update
// CHECK-DAG: mtc.read_flat [@b, @c, @e]
// CHECK-DAG: mtc.read @w :

// The scalars of the step, the flat update, and the rows of a parameter's blocks have one kernel each. The last block of w is incomplete.
// KERNELS-LABEL: func.func @update
// KERNELS: mtc.kernel [17, 256] iterations 4225 reduce [1]
// KERNELS-SAME: -> (tensor<4225xf32>, tensor<4225xui8>, tensor<17xf32>, tensor<4225xui8>, tensor<17xf32>)
// KERNELS: mtc.kernel [16, 256] reduce [1]
// KERNELS: mtc.kernel [16, 256] reduce [1]
// KERNELS-NOT: mtc.kernel [{{.*}}256
// KERNELS: return
mtc.variable parameter @w : tensor<65x65xf32> = #mtc.zeros
mtc.variable parameter @b : tensor<65xf32> = #mtc.zeros
mtc.variable parameter @v : tensor<64x64xf32> = #mtc.zeros
mtc.variable parameter @c : tensor<4095xf32> = #mtc.zeros
mtc.variable parameter @n : tensor<4096xf32> = #mtc.zeros
mtc.variable parameter @e : tensor<100x64xf32> = #mtc.zeros
mtc.variable gradient @w.grad : tensor<65x65xf32> = #mtc.zeros of @w
mtc.variable gradient @b.grad : tensor<65xf32> = #mtc.zeros of @b
mtc.variable gradient @v.grad : tensor<64x64xf32> = #mtc.zeros of @v
mtc.variable gradient @c.grad : tensor<4095xf32> = #mtc.zeros of @c
mtc.variable gradient @n.grad : tensor<4096xf32> = #mtc.zeros of @n
mtc.variable gradient @e.grad : tensor<100x64xf32> = #mtc.zeros of @e
func.func @micro_step(%i: tensor<3xi64>) -> (tensor<3x64xf32> {mtc.name = "mtc.loss"}) {
  %e = mtc.read @e : tensor<100x64xf32>
  %g = mtc.gather %e, %i axis 0 batch 0 : tensor<100x64xf32>, tensor<3xi64> -> tensor<3x64xf32>
  return %g : tensor<3x64xf32>
}

// RUN: mtc-opt %s --pass-pipeline='builtin.module(func.func(mtc-form-kernels,mtc-fuse-kernels))' --remarks-filter=mtc-fuse-kernels --remark-policy=all 2>&1 | FileCheck %s

// Remarks report fused kernels, and values that still pass through memory, both with reasons.
// CHECK-DAG: remark: [Passed] joined | Category:mtc-fuse-kernels {{.*}}inputs=1, results=2
// CHECK-DAG: remark: [Missed] not-fused | Category:mtc-fuse-kernels {{.*}}in the user: the producer is not elementwise; as one kernel: the kernels reduce columns in different orders{{.*}}bytes=8192
func.func @f(%x: tensor<32x64xf32>) -> (tensor<32xf32>, tensor<64xf32>) {
  %c = mtc.exp %x : tensor<32x64xf32>
  %s = mtc.reduce add %c axes [1] : tensor<32x64xf32> -> tensor<32xf32>
  %t = mtc.reduce add %c axes [0] : tensor<32x64xf32> -> tensor<64xf32>
  return %s, %t : tensor<32xf32>, tensor<64xf32>
}

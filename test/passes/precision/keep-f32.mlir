// RUN: mtc-opt %s --mtc-narrow-storage='keep-f32=head*' --remarks-filter=mtc-narrow-storage --remark-policy=all 2> %t.remarks \
// RUN:   | FileCheck %s
// RUN: FileCheck %s --check-prefix=REMARK < %t.remarks
// RUN: not mtc-opt %s --mtc-narrow-storage='keep-f32=tail*' 2>&1 | FileCheck %s --check-prefix=UNUSED
// RUN: not mtc-opt %s --mtc-narrow-storage='keep-f32=[a' 2>&1 | FileCheck %s --check-prefix=PATTERN
// RUN: sed 's/precision = bf16/precision = f32/' %s | not mtc-opt --mtc-narrow-storage='keep-f32=head*' 2>&1 | FileCheck %s --check-prefix=WIDE

// A named node computes in f32 even if its operands are stored in 16 bits.
// REMARK-DAG: contract reads bf16 and returns bf16, in which contractions lose little precision
// REMARK-DAG: tanh is stored as bf16, like its operands
// REMARK-DAG: contract reads f32, because of --keep-f32
// CHECK-LABEL: func.func @micro_step
// CHECK: mtc.contract {{.*}} -> tensor<4x16xbf16>
// CHECK: %[[T:.*]] = mtc.tanh
// CHECK: %[[STORED:.*]] = mtc.cast %[[T]] as storage : tensor<4x16xf32> -> tensor<4x16xbf16>
// CHECK: %[[READ:.*]] = mtc.cast %[[STORED]] as storage : tensor<4x16xbf16> -> tensor<4x16xf32>
// CHECK: mtc.contract %[[READ]], {{.*}} : tensor<4x16xf32>, tensor<16x2xf32> -> tensor<4x2xf32>
// UNUSED: error: --keep-f32 tail*: no matching node computes
// PATTERN: error: --keep-f32 [a: {{.*}}
// WIDE: error: --keep-f32 head*: all nodes compute in f32
module attributes {mtc.target = #mtc_cpu.target<precision = bf16>} {
  mtc.variable parameter @w : tensor<8x16xf32> = #mtc.zeros
  mtc.variable parameter @v : tensor<16x2xf32> = #mtc.zeros
  func.func @micro_step(%x: tensor<4x8xf32>) -> tensor<4x2xf32> {
    %w = mtc.read @w : tensor<8x16xf32>
    %v = mtc.read @v : tensor<16x2xf32>
    %h = mtc.contract %x, %w batch [] x [] over [1] x [0] : tensor<4x8xf32>, tensor<8x16xf32> -> tensor<4x16xf32> loc("body/MatMul")
    %t = mtc.tanh %h : tensor<4x16xf32> loc("body/Tanh")
    %y = mtc.contract %t, %v batch [] x [] over [1] x [0] : tensor<4x16xf32>, tensor<16x2xf32> -> tensor<4x2xf32> loc("head/MatMul")
    return %y : tensor<4x2xf32>
  }
}

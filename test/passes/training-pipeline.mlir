// The whole pipeline for a small classifier, from the forward function to the training program.
//
// RUN: mtc-opt %s --mtc-training-pipeline="loss=cross-entropy optimizer=sgd lr=0.1" | FileCheck %s
// RUN: not mtc-opt %s --mtc-training-pipeline="loss=cross-entropy optimizer=sgd momentum=0.1" 2>&1 | FileCheck %s --check-prefix=ERROR

// The pipeline's options are those of its passes.
// RUN: mtc-opt %s --dump-pass-pipeline --mtc-training-pipeline="loss=cross-entropy labels=y lr=0.5 beta2=0.25 schedule=linear no-decay-1d" 2>&1 | FileCheck %s --check-prefix=OPTIONS
// OPTIONS: mtc-attach-loss{accumulate=1 {{.*}} labels=y {{.*}} loss=cross-entropy {{.*}}output= {{.*}}}
// OPTIONS: mtc-optimizer{adjust-lr= alpha=None beta1=None beta2=2.500000e-01 {{.*}} lr=5.000000e-01 {{.*}} no-decay-1d=true {{.*}} optimizer=adamw optimizer-bits=32 schedule=linear warmup=0 weight-decay=None}

// ERROR: error: --momentum 0.1: optimizer 'sgd' has no momentum; its settings are: lr, weight-decay

// CHECK: mtc.program "model" stage training loss "cross-entropy" optimizer "sgd" schedule <constant, rate = 1.000000e-01 : f64>
// CHECK-DAG: mtc.variable gradient @w.grad
// CHECK-DAG: mtc.variable gradient @b.grad
// CHECK-DAG: mtc.variable scalar @mtc.learning_rate

// Each parameter is read once, the loss and its gradient share one softmax, and each gradient is written once.
// CHECK-LABEL: func.func @micro_step
// CHECK-COUNT-1: mtc.read @w
// CHECK-NOT: mtc.read @w
// CHECK: mtc.contract
// CHECK-COUNT-1: mtc.reduce max
// CHECK-NOT: mtc.reduce max
// CHECK-DAG: mtc.write @b.grad
// CHECK-DAG: mtc.write @w.grad
// CHECK: return

// CHECK-LABEL: func.func @evaluate
// CHECK-NOT: mtc.write
// CHECK: return
// CHECK-LABEL: func.func @update
// CHECK: mtc.write_flat [@w, @b]
mtc.variable parameter @w : tensor<3x8xf32> = #mtc.initializer<"w">
mtc.variable parameter @b : tensor<3xf32> = #mtc.initializer<"b">
func.func @forward(%x: tensor<4x8xf32> {mtc.name = "x"}) -> (tensor<4x3xf32> {mtc.name = "logits"}) {
  %w = mtc.read @w : tensor<3x8xf32>
  %z = mtc.contract %x, %w batch [] x [] over [1] x [1] : tensor<4x8xf32>, tensor<3x8xf32> -> tensor<4x3xf32>
  %w2 = mtc.read @w : tensor<3x8xf32>
  %z2 = mtc.contract %x, %w2 batch [] x [] over [1] x [1] : tensor<4x8xf32>, tensor<3x8xf32> -> tensor<4x3xf32>
  %b = mtc.read @b : tensor<3xf32>
  %s = mtc.broadcast %b axes [0] : tensor<3xf32> -> tensor<4x3xf32>
  %y = mtc.add %z, %s : tensor<4x3xf32>
  %y2 = mtc.add %y, %z2 : tensor<4x3xf32>
  return %y2 : tensor<4x3xf32>
}

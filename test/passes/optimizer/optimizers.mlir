// RUN: mtc-opt %s --mtc-optimizer="optimizer=sgd lr=0.5" | FileCheck %s --check-prefixes=CHECK,SGD
// RUN: mtc-opt %s --mtc-optimizer="optimizer=sgd weight-decay=0.25" | FileCheck %s --check-prefix=DECAY
// RUN: mtc-opt %s --mtc-optimizer="optimizer=adamw lr=0.125 beta1=0.5 beta2=0.75 eps=0.0625 weight-decay=0.25 schedule=cosine warmup=10" | FileCheck %s --check-prefixes=CHECK,ADAMW
// RUN: mtc-opt %s --mtc-optimizer | FileCheck %s --check-prefix=DEFAULT

// SGD: mtc.program "model" stage forward optimizer "sgd" schedule <constant, rate = 5.000000e-01 : f64>
// ADAMW: mtc.program "model" stage forward optimizer "adamw" schedule <cosine, rate = 1.250000e-01 : f64, warmup = 10>
// DEFAULT: mtc.program "model" stage forward optimizer "adamw" schedule <constant, rate = 1.000000e-03 : f64>
// DEFAULT-DAG: dense<1.000000e-02> : tensor<f64>
// DEFAULT-DAG: dense<1.000000e-01> : tensor<48xf32>
// DEFAULT-DAG: dense<9.990000e-01> : tensor<48xf32>
// DEFAULT-DAG: dense<9.99999993E-9> : tensor<48xf32>

// ADAMW: mtc.variable optimizer @w.moment1 : tensor<3x5xf32> = #mtc.zeros of @w
// ADAMW: mtc.variable optimizer @w.moment2 : tensor<3x5xf32> = #mtc.zeros of @w
// ADAMW: mtc.variable optimizer @b.moment1 : tensor<17xf32> = #mtc.zeros of @b
// SGD-NOT: mtc.variable optimizer
// CHECK: mtc.variable scalar @mtc.learning_rate : tensor<f64> = #mtc.scalar<learning_rate>
// SGD-NOT: mtc.variable scalar
// ADAMW-NEXT: mtc.variable scalar @mtc.step : tensor<i64> = #mtc.scalar<step>

// Padded sizes: 15 elements occupy 16, 17 occupy 32. The constant does not change.
// CHECK-LABEL: func.func @update()
// CHECK: %[[LR:.*]] = mtc.read @mtc.learning_rate : tensor<f64>
// ADAMW: %[[STEP:.*]] = mtc.read @mtc.step : tensor<i64>
// ADAMW: %[[T:.*]] = mtc.cast %[[STEP]] : tensor<i64> -> tensor<f64>
// CHECK: %[[P:.*]] = mtc.read_flat [@w, @b] : tensor<48xf32>
// CHECK: %[[G:.*]] = mtc.read_flat [@w.grad, @b.grad] : tensor<48xf32>

// SGD: %[[NARROW:.*]] = mtc.cast %[[LR]] : tensor<f64> -> tensor<f32>
// SGD: %[[RATE:.*]] = mtc.broadcast %[[NARROW]] axes [0] : tensor<f32> -> tensor<48xf32>
// SGD: %[[CHANGE:.*]] = mtc.mul %[[G]], %[[RATE]]
// SGD: %[[NEW:.*]] = mtc.sub %[[P]], %[[CHANGE]]

// DECAY-LABEL: func.func @update()
// DECAY: %[[P:.*]] = mtc.read_flat [@w, @b]
// DECAY: %[[G:.*]] = mtc.read_flat [@w.grad, @b.grad]
// DECAY: %[[WD:.*]] = mtc.constant dense<2.500000e-01> : tensor<48xf32>
// DECAY: %[[PULL:.*]] = mtc.mul %[[P]], %[[WD]]
// DECAY: mtc.add %[[G]], %[[PULL]]

// ADAMW: %[[M:.*]] = mtc.read_flat [@w.moment1, @b.moment1] : tensor<48xf32>
// ADAMW: %[[V:.*]] = mtc.read_flat [@w.moment2, @b.moment2] : tensor<48xf32>
// ADAMW: %[[ONE:.*]] = mtc.constant dense<1.000000e+00> : tensor<f64>
// The parameter decays first: p (1 - lr wd).
// ADAMW: %[[WD:.*]] = mtc.constant dense<2.500000e-01> : tensor<f64>
// ADAMW: %[[LRWD:.*]] = mtc.mul %[[LR]], %[[WD]]
// ADAMW: %[[KEEP64:.*]] = mtc.sub %[[ONE]], %[[LRWD]]
// ADAMW: %[[KEEP32:.*]] = mtc.cast %[[KEEP64]]
// ADAMW: %[[KEEP:.*]] = mtc.broadcast %[[KEEP32]]
// ADAMW: %[[DECAYED:.*]] = mtc.mul %[[P]], %[[KEEP]]
// m + (g - m) (1 - b1)
// ADAMW: %[[ONE:.*]] = mtc.constant dense<1.000000e+00> : tensor<f64>
// ADAMW: %[[TOM:.*]] = mtc.sub %[[G]], %[[M]]
// ADAMW: %[[ONEB1:.*]] = mtc.constant dense<5.000000e-01> : tensor<48xf32>
// ADAMW: %[[DM:.*]] = mtc.mul %[[TOM]], %[[ONEB1]]
// ADAMW: %[[NEWM:.*]] = mtc.add %[[M]], %[[DM]]
// b2 v + (1 - b2) g²
// ADAMW: %[[NEWV:.*]] = mtc.add
// lr / (1 - b1^t), in f64
// ADAMW: %[[LOGB1:.*]] = mtc.constant dense<-0.6931471805599452{{[0-9]+}}> : tensor<f64>
// ADAMW: %[[TLOGB1:.*]] = mtc.mul %[[T]], %[[LOGB1]]
// ADAMW: %[[B1T:.*]] = mtc.exp %[[TLOGB1]] : tensor<f64>
// ADAMW: %[[UNB1:.*]] = mtc.sub %[[ONE]], %[[B1T]]
// ADAMW: %[[RATE64:.*]] = mtc.div %[[LR]], %[[UNB1]]
// ADAMW: %[[B2T:.*]] = mtc.exp %{{.*}} : tensor<f64>
// ADAMW: %[[UNB2:.*]] = mtc.sub %[[ONE]], %[[B2T]]
// ADAMW: %[[ROOT:.*]] = mtc.sqrt %[[UNB2]]
// ADAMW: %[[UNBIAS64:.*]] = mtc.div %[[ONE]], %[[ROOT]]
// ADAMW: %[[ROOTV:.*]] = mtc.sqrt %[[NEWV]]
// ADAMW: %[[UNBIAS32:.*]] = mtc.cast %[[UNBIAS64]]
// ADAMW: %[[UNBIAS:.*]] = mtc.broadcast %[[UNBIAS32]]
// ADAMW: %[[DENOMINATOR:.*]] = mtc.mul %[[ROOTV]], %[[UNBIAS]]
// ADAMW: %[[EPS:.*]] = mtc.constant dense<6.250000e-02> : tensor<48xf32>
// ADAMW: %[[SAFE:.*]] = mtc.add %[[DENOMINATOR]], %[[EPS]]
// ADAMW: %[[RATE32:.*]] = mtc.cast %[[RATE64]]
// ADAMW: %[[RATE:.*]] = mtc.broadcast %[[RATE32]]
// ADAMW: %[[SCALED:.*]] = mtc.mul %[[NEWM]], %[[RATE]]
// ADAMW: %[[CHANGE:.*]] = mtc.div %[[SCALED]], %[[SAFE]]
// ADAMW: %[[NEW:.*]] = mtc.sub %[[DECAYED]], %[[CHANGE]]
// ADAMW: mtc.write_flat [@w.moment1, @b.moment1], %[[NEWM]]
// ADAMW: mtc.write_flat [@w.moment2, @b.moment2], %[[NEWV]]

// CHECK: mtc.write_flat [@w, @b], %[[NEW]] : tensor<48xf32>
// CHECK: return
mtc.variable parameter @w : tensor<3x5xf32> = #mtc.zeros
mtc.variable constant @frozen : tensor<3x5xf32> = #mtc.zeros
mtc.variable parameter @b : tensor<17xf32> = #mtc.zeros
mtc.variable gradient @w.grad : tensor<3x5xf32> = #mtc.zeros of @w
mtc.variable gradient @b.grad : tensor<17xf32> = #mtc.zeros of @b
func.func @micro_step() {
  return
}

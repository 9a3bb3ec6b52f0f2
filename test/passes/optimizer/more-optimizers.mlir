// RUN: mtc-opt %s --mtc-optimizer="optimizer=momentum momentum=0.5 weight-decay=0.25" | FileCheck %s --check-prefix=MOMENTUM
// RUN: mtc-opt %s --mtc-optimizer="optimizer=adam weight-decay=0.25" | FileCheck %s --check-prefix=ADAM
// RUN: mtc-opt %s --mtc-optimizer="optimizer=lion weight-decay=0.25 beta1=0.5 beta2=0.75" | FileCheck %s --check-prefix=LION
// RUN: mtc-opt %s --mtc-optimizer="optimizer=sgd clip-norm=0.5" | FileCheck %s --check-prefix=CLIP
// RUN: mtc-opt %s --mtc-optimizer="optimizer=adafactor clip-norm=0.5" | FileCheck %s --check-prefix=INPLACE

// MOMENTUM: mtc.variable optimizer @w.velocity
// MOMENTUM: %[[P:.*]] = mtc.read_flat [@w]
// MOMENTUM: %[[G:.*]] = mtc.read_flat [@w.grad]
// MOMENTUM: %[[V:.*]] = mtc.read_flat [@w.velocity]
// MOMENTUM: %[[KEPT:.*]] = mtc.mul %[[V]], %{{.*}}
// MOMENTUM: %[[PULL:.*]] = mtc.mul %[[P]], %{{.*}}
// MOMENTUM: %[[D:.*]] = mtc.add %[[G]], %[[PULL]]
// MOMENTUM: %[[NEWV:.*]] = mtc.add %[[KEPT]], %[[D]]
// MOMENTUM: %[[CHANGE:.*]] = mtc.mul %[[NEWV]], %{{.*}}
// MOMENTUM: %[[NEW:.*]] = mtc.sub %[[P]], %[[CHANGE]]
// MOMENTUM: mtc.write_flat [@w.velocity], %[[NEWV]]
// MOMENTUM: mtc.write_flat [@w], %[[NEW]]

// Adam's decay is part of the moments, unlike AdamW's. The gradient with the decay is not stored: one kernel reads it.
// ADAM: %[[P:.*]] = mtc.read_flat [@w]
// ADAM: %[[G:.*]] = mtc.read_flat [@w.grad]
// ADAM: %[[M:.*]] = mtc.read_flat [@w.moment1]
// ADAM: %[[PULL:.*]] = mtc.mul %[[P]], %{{.*}}
// ADAM: %[[D:.*]] = mtc.add %[[G]], %[[PULL]]
// ADAM: mtc.sub %[[D]], %[[M]]
// ADAM: mtc.sub %[[P]],
// ADAM-NOT: mtc.write_flat [@w.grad]
// ADAM: mtc.write_flat [@w],

// LION: %[[M:.*]] = mtc.read_flat [@w.moment1]
// LION: %[[DIRECTION:.*]] = mtc.sign
// LION: %[[STEP:.*]] = mtc.mul %[[DIRECTION]], %{{.*}}
// LION: %[[NEW:.*]] = mtc.sub %{{.*}}, %[[STEP]]
// LION: %[[KEPT:.*]] = mtc.mul %[[M]], %{{.*}}
// LION: %[[NEWM:.*]] = mtc.add %[[KEPT]], %{{.*}}
// LION: mtc.write_flat [@w.moment1], %[[NEWM]]

// The norm is of all gradients together; each group is scaled by the same number. A changed gradient that several kernels read is stored in place.
// INPLACE: mtc.read @w : tensor<4x4xf32>
// INPLACE: %[[G:.*]] = mtc.read @w.grad
// INPLACE: %[[CLIPPED:.*]] = mtc.mul %[[G]]
// INPLACE: mtc.write @w.grad, %[[CLIPPED]]
//
// CLIP-LABEL: func.func @update
// CLIP: %[[G:.*]] = mtc.read @w.grad
// CLIP: %[[SQUARES:.*]] = mtc.mul %[[G]], %[[G]] : tensor<4x4xf32>
// CLIP: %[[ROWS:.*]] = mtc.reduce add %[[SQUARES]] axes [1]
// CLIP: mtc.reduce add %[[ROWS]] axes [0]
// CLIP: %[[H:.*]] = mtc.read @v.grad
// CLIP: mtc.mul %[[H]], %[[H]] : tensor<4xf64>
// CLIP: %[[NORM:.*]] = mtc.sqrt %{{.*}} : tensor<f64>
// CLIP: %[[SCALE:.*]] = mtc.min %{{.*}}, %{{.*}} : tensor<f64>
// CLIP: mtc.read_flat [@w.grad]
// CLIP-NEXT: mtc.cast %[[SCALE]] : tensor<f64> -> tensor<f32>
// CLIP: mtc.read_flat [@v.grad]
// CLIP-NEXT: mtc.broadcast %[[SCALE]]
// CLIP-NOT: mtc.write_flat [@v.grad]
mtc.variable parameter @w : tensor<4x4xf32> = #mtc.zeros
mtc.variable gradient @w.grad : tensor<4x4xf32> = #mtc.zeros of @w
mtc.variable parameter @v : tensor<4xf64> = #mtc.zeros
mtc.variable gradient @v.grad : tensor<4xf64> = #mtc.zeros of @v

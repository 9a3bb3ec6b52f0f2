// Settings of groups apply to parameters whose names match, in the file or in the user's module.
//
// RUN: split-file %s %t
// RUN: mtc-opt %t/model.mlir --mtc-optimizer="optimizer=momentum lr=0.5 weight-decay=0.25 group={{match=*.bias weight-decay=0},{match=head.* lr=0.125},{match=layer.0.weight optimizer=adamw betas=0.5,0.75}}" | FileCheck %s
// RUN: mtc-opt %t/model.mlir --mtc-optimizer="optimizer=sgd group={{match=layer.* lr-factor=0.5},{match=layer.0.* lr-factor=2}}" | FileCheck %s --check-prefix=SPECIFIC
// RUN: not mtc-opt %t/model.mlir --mtc-optimizer="optimizer=sgd group={{match=nothing* lr=1}}" 2>&1 | FileCheck %s --check-prefix=NOTHING
// RUN: not mtc-opt %t/model.mlir --mtc-optimizer="optimizer=sgd group={{match=head.* lr=1},{match=*.bias lr=2}}" 2>&1 | FileCheck %s --check-prefix=FIGHT
// RUN: mtc-opt %t/model.mlir --mtc-optimizer="optimizer=sgd group={{match=head.* lr=1},{match=*.bias lr=1 weight-decay=1}}" -o /dev/null
// RUN: not mtc-opt %t/model.mlir --mtc-optimizer="optimizer=sgd group={{match=head.* momentum=0.5}}" 2>&1 | FileCheck %s --check-prefix=UNUSED
// RUN: not mtc-opt %t/model.mlir --mtc-optimizer="optimizer=sgd group={{match=head.* optimizer=sgd momentum=0.5}}" 2>&1 | FileCheck %s --check-prefix=NONE
// RUN: not mtc-opt %t/model.mlir --mtc-optimizer="optimizer=sgd group={{match=head.* frozen=true}}" 2>&1 | FileCheck %s --check-prefix=FROZEN
// RUN: not mtc-opt %t/model.mlir --mtc-optimizer="optimizer=sgd group={{match=*.bias optimizer=muon}}" 2>&1 | FileCheck %s --check-prefix=DOMAIN
// RUN: not mtc-opt %t/model.mlir --mtc-optimizer="optimizer=adam group={{match=*.bias beta1=2}}" 2>&1 | FileCheck %s --check-prefix=KEY
// RUN: not mtc-opt %t/model.mlir --mtc-optimizer="optimizer=adam group={{match=*.bias weight-decay=-1}}" 2>&1 | FileCheck %s --check-prefix=RANGE
// RUN: not mtc-opt %t/model.mlir --mtc-optimizer="optimizer=adam lr=0 group={{match=*.bias lr=1}}" 2>&1 | FileCheck %s --check-prefix=ZERO

// Parameters with the same optimizer and settings form one group; groups are in the order of their first parameters. A rate is a multiple
// of the run's rate.
// CHECK: %[[LR:.*]] = mtc.read @mtc.learning_rate
// CHECK: mtc.read_flat [@layer.0.weight] : tensor<16xf32>
// CHECK: mtc.read_flat [@layer.0.weight.moment1]
// CHECK: mtc.write_flat [@layer.0.weight]
// CHECK: mtc.read_flat [@layer.0.bias]
// CHECK-NOT: dense<2.500000e-01>
// CHECK: mtc.write_flat [@layer.0.bias]
// CHECK: %[[FOURTH:.*]] = mtc.constant dense<2.500000e-01> : tensor<f64>
// CHECK: mtc.mul %[[LR]], %[[FOURTH]] : tensor<f64>
// CHECK: mtc.read_flat [@head.weight]
// CHECK: dense<2.500000e-01> : tensor<16xf32>
// CHECK: mtc.write_flat [@head.weight]
// CHECK: mtc.mul %[[LR]], %{{.*}} : tensor<f64>
// CHECK: mtc.read_flat [@val_3]
// CHECK-NOT: dense<2.500000e-01> : tensor<16xf32>
// CHECK: mtc.write_flat [@val_3]

// SPECIFIC: mtc.constant dense<2.000000e+00> : tensor<f64>
// SPECIFIC: mtc.read_flat [@layer.0.weight, @layer.0.bias]
// SPECIFIC: mtc.read_flat [@head.weight, @val_3]

// NOTHING: error: --group match=nothing* lr=1: matches no trained parameter; the trained parameters are layer.0.weight, layer.0.bias, head.weight, val_3
// FIGHT: error: --group match=head.* lr=1 and --group match=*.bias lr=2 both set the lr of 'val_3'; expected patterns with different numbers of literal characters
// UNUSED: error: --group match=head.* momentum=0.5: no matching parameter has an optimizer with momentum
// NONE: error: --group match=head.* optimizer=sgd momentum=0.5: optimizer 'sgd' has no momentum
// FROZEN: error: --group match=head.* frozen=true: parameters are frozen at import; use --freeze
// DOMAIN: error: --group match=*.bias optimizer=muon: muon updates matrices, but 'layer.0.bias' is tensor<4xf32>
// KEY: error: --group match=*.bias beta1=2: unknown setting 'beta1'; expected match, frozen, optimizer, optimizer-bits, lr-factor or an optimizer setting such as lr or weight-decay
// RANGE: error: --group match=*.bias weight-decay=-1: weight-decay of adam must be at least 0 and less than 3.4e+38
// ZERO: error: parameter 'layer.0.bias' has its own learning rate, but the schedule it follows has the learning rate 0

//--- model.mlir
mtc.variable parameter @layer.0.weight : tensor<4x4xf32> = #mtc.zeros
mtc.variable parameter @layer.0.bias : tensor<4xf32> = #mtc.zeros
mtc.variable parameter @head.weight : tensor<4x4xf32> = #mtc.zeros
mtc.variable parameter @val_3 : tensor<4xf32> = #mtc.zeros {module_name = "head.bias"}
mtc.variable gradient @layer.0.weight.grad : tensor<4x4xf32> = #mtc.zeros of @layer.0.weight
mtc.variable gradient @layer.0.bias.grad : tensor<4xf32> = #mtc.zeros of @layer.0.bias
mtc.variable gradient @head.weight.grad : tensor<4x4xf32> = #mtc.zeros of @head.weight
mtc.variable gradient @val_3.grad : tensor<4xf32> = #mtc.zeros of @val_3

// RUN: mtc-opt %s --split-input-file --onnx-split-shared-initializers 2>/dev/null | FileCheck %s --check-prefixes=CHECK,AUTO
// RUN: mtc-opt %s --split-input-file --onnx-split-shared-initializers=policy=split 2>/dev/null | FileCheck %s --check-prefixes=CHECK,SPLIT
// RUN: mtc-opt %s --split-input-file --onnx-split-shared-initializers 2>&1 >/dev/null | FileCheck %s --check-prefix=SAYS
// RUN: mtc-opt %s --split-input-file --onnx-split-shared-initializers=policy=split 2>&1 >/dev/null | FileCheck %s --check-prefix=SPLITS --implicit-check-not=warning
// RUN: mtc-opt %s --split-input-file --onnx-split-shared-initializers=policy=keep 2>&1 | FileCheck %s --check-prefix=KEEP --implicit-check-not='split_from = "a' --implicit-check-not="are trained as one"

// Each use is a parameter of its node's module: a norm's scale, or a sum's bias.
// SAYS: remark: initializer 'a.weight': merges 2 parameters (a.weight, b.weight) that were equal when exported; trained separately. Use --shared-initializers keep to train them as one weight
// SAYS: remark: initializer 'a.bias': merges 3 parameters (a.bias, b.bias, fc.bias)
// CHECK-LABEL: onnx.graph @by_signature
// CHECK: %[[W:.*]] = onnx.initializer "a.weight" {kind = "PARAMETER"}
// CHECK: %[[B:.*]] = onnx.initializer "a.bias" {kind = "PARAMETER"}
// CHECK: %[[W2:.*]] = onnx.initializer "b.weight" {split_from = "a.weight"} : tensor<3xf32>
// CHECK: %[[B2:.*]] = onnx.initializer "b.bias" {split_from = "a.bias"} : tensor<3xf32>
// CHECK: %[[B3:.*]] = onnx.initializer "fc.bias" {split_from = "a.bias"} : tensor<3xf32>
// CHECK: "LayerNormalization" version 17(%{{.*}}, %[[W]], %[[B]])
// CHECK: "LayerNormalization" version 17(%{{.*}}, %[[W2]], %[[B2]])
// CHECK: "Add" version 14(%{{.*}}, %[[B3]])
// KEEP-LABEL: onnx.graph @by_signature
// KEEP-COUNT-2: onnx.initializer
onnx.graph @by_signature(%x: tensor<2x3xf32> {onnx.name = "x"}) -> (tensor<2x3xf32>)
    attributes {onnx.signature = ["a.weight", "b.weight", "a.bias", "b.bias", "fc.bias"]} {
  %w = onnx.initializer "a.weight" {kind = "PARAMETER"} : tensor<3xf32>
  %b = onnx.initializer "a.bias" {kind = "PARAMETER"} : tensor<3xf32>
  %0 = onnx.node "LayerNormalization" version 17 (%x, %w, %b) {} {onnx.index = 0 : i64, onnx.module = "a"}
      : (tensor<2x3xf32>, tensor<3xf32>, tensor<3xf32>) -> tensor<2x3xf32>
  %1 = onnx.node "LayerNormalization" version 17 (%0, %w, %b) {} {onnx.index = 1 : i64, onnx.module = "b"}
      : (tensor<2x3xf32>, tensor<3xf32>, tensor<3xf32>) -> tensor<2x3xf32>
  %2 = onnx.node "Add" version 14 (%1, %b) {} {onnx.index = 2 : i64, onnx.module = "fc"}
      : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xf32>
  onnx.return %2 : tensor<2x3xf32>
}

// -----

// A matrix with different elements may be one matrix in the module. Equal elements are no evidence of this.
// SAYS: warning: initializer 'head.weight': merges 2 parameters (head.weight, embed.weight); trained as one weight, because the module may tie them. Use --shared-initializers split to train them separately, or --shared-initializers keep to silence this warning
// SAYS: remark: initializer 'ones': merges 2 parameters
// AUTO-NOT: split_from = "head.weight"
// SPLITS: remark: initializer 'head.weight': merges 2 parameters
// SPLITS: remark: initializer 'ones': merges 2 parameters
// SPLIT: onnx.initializer "embed.weight" {sample = {{.*}}, split_from = "head.weight"}
// CHECK: onnx.initializer "b.weight" {sample = {{.*}}, split_from = "ones"}
// KEEP: onnx.graph @tied
onnx.graph @tied(%x: tensor<2x2xf32>, %i: tensor<2xi64>) -> (tensor<2x2xf32>)
    attributes {onnx.signature = ["head.weight", "embed.weight", "ones", "b.weight"]} {
  %w = onnx.initializer "head.weight" {kind = "PARAMETER", sample = dense<[[1.0, 2.0], [3.0, 4.0]]> : tensor<2x2xf32>} : tensor<2x2xf32>
  %o = onnx.initializer "ones" {kind = "PARAMETER", sample = dense<1.0> : tensor<2x2xf32>} : tensor<2x2xf32>
  %0 = onnx.node "Gather" version 13 (%w, %i) {} {onnx.module = "embed"} : (tensor<2x2xf32>, tensor<2xi64>) -> tensor<2x2xf32>
  %1 = onnx.node "MatMul" version 13 (%0, %w) {} {onnx.module = "head"} : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
  %2 = onnx.node "MatMul" version 13 (%1, %o) {} : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
  %3 = onnx.node "MatMul" version 13 (%2, %o) {} {onnx.module = "b"} : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
  onnx.return %3 : tensor<2x2xf32>
}

// -----

// A transposed weight gets the name that the exporter would generate next. Names that exist in the file are skipped.
// CHECK-LABEL: onnx.graph @folded
// CHECK: onnx.initializer "val_1"
// CHECK: %[[V:.*]] = onnx.initializer "val_0" {module_name = "b.weight", sample = {{.*}}, split_from = "val_1"}
// CHECK: %[[V3:.*]] = onnx.initializer "val_3" {module_name = "c.weight", sample = {{.*}}, split_from = "val_1"}
// CHECK: "MatMul" version 13(%{{.*}}, %[[V]])
// CHECK: "MatMul" version 13(%{{.*}}, %[[V3]])
// KEEP: onnx.graph @folded
onnx.graph @folded(%x: tensor<2x2xf32>) -> (tensor<2x2xf32>)
    attributes {onnx.signature = ["a.weight", "b.weight", "c.weight"]} {
  %w = onnx.initializer "val_1" {sample = dense<1.0> : tensor<2x2xf32>} : tensor<2x2xf32>
  %0 = onnx.node "Relu" version 14 (%x) {} {onnx.index = 0 : i64, onnx.results = ["val_2"]} : (tensor<2x2xf32>) -> tensor<2x2xf32>
  %1 = onnx.node "MatMul" version 13 (%0, %w) {} {onnx.module = "a"} : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
  %2 = onnx.node "MatMul" version 13 (%1, %w) {} {onnx.module = "b"} : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
  %3 = onnx.node "MatMul" version 13 (%2, %w) {} {onnx.module = "c"} : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
  onnx.return %3 : tensor<2x2xf32>
}

// -----

// Each call of a function is one use of its operand, however often the function uses the operand.
// CHECK-LABEL: onnx.graph @called
// CHECK: %[[W2:.*]] = onnx.initializer "b.weight" {split_from = "a.weight"}
// CHECK: %[[E:.*]] = onnx.node "Identity" version 16(%[[W2]])
// CHECK: "Mul" version 14(%{{.*}}, %[[E]])
// KEEP: onnx.graph @called
onnx.graph @called(%x: tensor<3xf32>) -> (tensor<3xf32>) attributes {onnx.signature = ["a.weight", "b.weight"]} {
  %w = onnx.initializer "a.weight" {kind = "PARAMETER"} : tensor<3xf32>
  %0 = onnx.node "Mul" version 14 (%x, %w) {} {onnx.index = 0 : i64, onnx.module = "a"} : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
  %1 = onnx.node "Identity" version 16 (%w) {} {onnx.index = 1 : i64, onnx.operand = 1 : i64} : (tensor<3xf32>) -> tensor<3xf32>
  %2 = onnx.node "Mul" version 14 (%0, %1) {} {onnx.module = "b"} : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
  onnx.return %2 : tensor<3xf32>
}

// -----

// The TorchScript-based exporter's form: an Identity whose result has the parameter's name.
// CHECK-LABEL: onnx.graph @by_identities
// CHECK: %[[A:.*]] = onnx.initializer "a.weight"
// CHECK: %[[B:.*]] = onnx.initializer "b.weight" {onnx.index = 0 : i64, split_from = "a.weight"}
// CHECK: %[[I:.*]] = onnx.node "Identity" version 14(%[[A]])
// CHECK: "MatMul" version 13(%{{.*}}, %[[B]])
// CHECK: "MatMul" version 13(%{{.*}}, %[[I]])
// KEEP: onnx.graph @by_identities
onnx.graph @by_identities(%x: tensor<2x2xf32>) -> (tensor<2x2xf32>) attributes {onnx.producer = "pytorch"} {
  %w = onnx.initializer "a.weight" : tensor<2x2xf32>
  %0 = onnx.node "Identity" version 14 (%w) {} {onnx.index = 0 : i64, onnx.results = ["b.weight"]} : (tensor<2x2xf32>) -> tensor<2x2xf32> loc("Identity_0")
  %1 = onnx.node "Identity" version 14 (%w) {} {onnx.index = 1 : i64, onnx.results = ["/c/out"]} : (tensor<2x2xf32>) -> tensor<2x2xf32> loc("/c/Identity")
  %2 = onnx.node "MatMul" version 13 (%x, %0) {} {onnx.index = 2 : i64} : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
  %3 = onnx.node "MatMul" version 13 (%2, %1) {} {onnx.index = 3 : i64} : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
  onnx.return %3 : tensor<2x2xf32>
}

// -----

// CHECK-LABEL: onnx.graph @of_others
// CHECK-NOT: split_from
// KEEP: onnx.graph @of_others
onnx.graph @of_others(%x: tensor<2x2xf32>) -> (tensor<2x2xf32>) attributes {onnx.producer = "another"} {
  %w = onnx.initializer "a.weight" : tensor<2x2xf32>
  %0 = onnx.node "Identity" version 14 (%w) {} {onnx.index = 0 : i64, onnx.results = ["b.weight"]} : (tensor<2x2xf32>) -> tensor<2x2xf32> loc("Identity_0")
  %1 = onnx.node "MatMul" version 13 (%x, %0) {} {onnx.index = 1 : i64} : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
  onnx.return %1 : tensor<2x2xf32>
}

// -----

// The arguments of the module's calls identify the tensor of a use, whatever its operand is: a bias that is initialized like the running mean, a
// statistic of another norm, and the scale of ones that the exporter adds to a group normalization.
// CHECK-LABEL: onnx.graph @by_arguments
// CHECK: %[[O:.*]] = onnx.initializer "n.weight" {kind = "PARAMETER"}
// CHECK: %[[V:.*]] = onnx.initializer "n.running_var" {split_from = "n.weight"}
// CHECK: %[[C:.*]] = onnx.initializer "n.weight.constant" {kind = "CONSTANT", split_from = "n.weight"}
// CHECK: "BatchNormalization" version 15(%{{.*}}, %[[O]], %{{.*}}, %{{.*}}, %[[V]])
// CHECK: "InstanceNormalization" version 6(%{{.*}}, %[[C]], %{{.*}})
// KEEP: onnx.graph @by_arguments
onnx.graph @by_arguments(%x: tensor<2x3xf32>, %z: tensor<3xf32>) -> (tensor<2x3xf32>)
    attributes {onnx.buffers = ["n.running_mean", "n.running_var"], onnx.signature = ["n.weight", "n.bias", "g.weight", "g.bias"]} {
  %w = onnx.initializer "n.weight" {kind = "PARAMETER"} : tensor<3xf32>
  %0 = onnx.node "BatchNormalization" version 15 (%x, %w, %z, %z, %w) {}
      {onnx.arguments = ["%x", "n.weight", "n.bias", "n.running_mean", "n.running_var"], onnx.fx_operator = "aten.batch_norm.default", onnx.module = "n"}
      : (tensor<2x3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>) -> tensor<2x3xf32>
  %1 = onnx.node "InstanceNormalization" version 6 (%0, %w, %z) {}
      {onnx.arguments = ["%n", "g.weight", "g.bias"], onnx.fx_operator = "aten.group_norm.default", onnx.module = "g"}
      : (tensor<2x3xf32>, tensor<3xf32>, tensor<3xf32>) -> tensor<2x3xf32>
  onnx.return %1 : tensor<2x3xf32>
}

// -----

// Running statistics are always separate, for all exporters and policies.
// CHECK-LABEL: onnx.graph @by_roles
// CHECK: %[[G:.*]] = onnx.initializer "g" :
// CHECK: %[[M:.*]] = onnx.initializer "g.running_var@norm" {split_from = "g"}
// CHECK: "BatchNormalization" version 15(%{{.*}}, %[[G]], %{{.*}}, %{{.*}}, %[[M]])
onnx.graph @by_roles(%x: tensor<2x3xf32>, %z: tensor<3xf32>) -> (tensor<2x3xf32>) {
  %g = onnx.initializer "g" : tensor<3xf32>
  %0 = onnx.node "BatchNormalization" version 15 (%x, %g, %z, %z, %g) {} {onnx.module = "norm"}
      : (tensor<2x3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>) -> tensor<2x3xf32>
  onnx.return %0 : tensor<2x3xf32>
}

// -----

// Nodes of onnxruntime's optimizer have no module: each vector of equal values is a parameter of its node, including nodes of ai.onnx in such a
// graph. A node without a name keeps the initializer.
// CHECK-LABEL: onnx.graph @optimized
// CHECK: %[[W:.*]] = onnx.initializer "norm.weight" {sample
// CHECK: %[[W1:.*]] = onnx.initializer "SkipLayerNorm_0.gamma" {sample = {{.*}}, split_from = "norm.weight"}
// CHECK: %[[W2:.*]] = onnx.initializer "SkipLayerNorm_1.gamma" {sample = {{.*}}, split_from = "norm.weight"}
// CHECK: %[[W3:.*]] = onnx.initializer "FullyConnect_Add_0.B" {sample = {{.*}}, split_from = "norm.weight"}
// CHECK: "LayerNormalization" version 17(%{{.*}}, %[[W]])
// CHECK: "SkipLayerNormalization" version 1(%{{.*}}, %{{.*}}, %[[W1]])
// CHECK: "SkipLayerNormalization" version 1(%{{.*}}, %{{.*}}, %[[W2]])
// CHECK: "Add" version 14(%{{.*}}, %[[W3]])
// KEEP: onnx.graph @optimized
onnx.graph @optimized(%x: tensor<2x3xf32>) -> (tensor<2x3xf32>) attributes {onnx.producer = "pytorch"} {
  %w = onnx.initializer "norm.weight" {sample = dense<1.0> : tensor<3xf32>} : tensor<3xf32>
  %0 = onnx.node "LayerNormalization" version 17 (%x, %w) {} {onnx.index = 0 : i64} : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xf32>
  %1 = onnx.node domain "com.microsoft" "SkipLayerNormalization" version 1 (%0, %x, %w) {} {onnx.index = 1 : i64}
      : (tensor<2x3xf32>, tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xf32> loc("SkipLayerNorm_0")
  %2 = onnx.node domain "com.microsoft" "SkipLayerNormalization" version 1 (%1, %x, %w) {} {onnx.index = 2 : i64}
      : (tensor<2x3xf32>, tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xf32> loc("SkipLayerNorm_1")
  %3 = onnx.node "Add" version 14 (%2, %w) {} {onnx.index = 3 : i64} : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xf32> loc("FullyConnect_Add_0")
  onnx.return %3 : tensor<2x3xf32>
}

// The pass determines the inputs of which a step reads samples.
//
// RUN: split-file %s %t
// RUN: mtc-opt %t/batch.mlir --mtc-choose-batch-axis | FileCheck %t/batch.mlir
// RUN: mtc-opt %t/graph.mlir --mtc-choose-batch-axis --verify-diagnostics | FileCheck %t/graph.mlir --check-prefix=WHOLE
// RUN: mtc-opt %t/graph.mlir --mtc-choose-batch-axis=batch-input=nodes | FileCheck %t/graph.mlir --check-prefix=NAMED
// RUN: mtc-opt %t/batch.mlir --mtc-choose-batch-axis=batch-input=none | FileCheck %t/batch.mlir --check-prefix=NONE
// RUN: not mtc-opt %t/graph.mlir --mtc-choose-batch-axis=batch-input=nodes,edge 2>&1 | FileCheck %t/graph.mlir --check-prefix=ERROR
// RUN: not mtc-opt %t/forward.mlir --mtc-choose-batch-axis 2>&1 | FileCheck %t/forward.mlir

//--- batch.mlir
// The symbolic dimension `batch` is the batch axis, and `mask` does not have it.
// CHECK: mtc.program "model" stage training batch 4 {
// CHECK-NEXT: mtc.input "x" axis "batch" rows
// CHECK-NEXT: mtc.input "mask"
// CHECK-NOT: rows
// NONE: mtc.program "model" stage training {
// NONE-NOT: rows
mtc.program "model" stage training {
  mtc.input "x" axis "batch"
}
func.func @micro_step(%x: tensor<4x8xf32> {mtc.name = "x"}, %mask: tensor<2x8xf32> {mtc.name = "mask"}) {
  return
}

//--- graph.mlir
// expected-remark @unknown {{no common batch axis found for 'nodes' [10, 4], 'edges' [2, 30]; passed whole to each step}}
// WHOLE: mtc.program "model" stage training {
// WHOLE-NEXT: mtc.input "nodes" axis "nodes"
// WHOLE-NEXT: mtc.input "edges"
// WHOLE-NOT: rows
// NAMED: mtc.program "model" stage training batch 10 {
// NAMED-NEXT: mtc.input "nodes" axis "nodes" rows
// NAMED-NEXT: mtc.input "edges"
// NAMED-NOT: rows
// ERROR: error: --batch-input edge: no input 'edge'; the inputs are 'nodes' [10, 4], 'edges' [2, 30]
mtc.program "model" stage training {
  mtc.input "nodes" axis "nodes"
}
func.func @micro_step(%nodes: tensor<10x4xf32> {mtc.name = "nodes"}, %edges: tensor<2x30xi64> {mtc.name = "edges"}) {
  return
}

//--- forward.mlir
// CHECK: error: the module has no function @micro_step; run mtc-attach-loss first
module {}

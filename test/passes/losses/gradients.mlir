// Gradients of losses in f64 are compared with central differences.
//
// DEFINE: %{check} = --mtc-test-gradient --mtc-decompose --canonicalize --cse --mtc-form-kernels --mlir-print-local-scope | %python %support/interpret.py
// RUN: split-file %s %t
// RUN: mtc-opt %t/classes.mlir --mtc-attach-loss="loss=cross-entropy label-smoothing=0.1 class-weights=0.5,2,0.25" %{check} %t/classes.mlir micro_step
// RUN: mtc-opt %t/classes.mlir --mtc-attach-loss="loss=cross-entropy class-weights=0.5,2,0.25 accumulate=2" %{check} %t/classes.mlir micro_step
// RUN: mtc-opt %t/values.mlir --mtc-attach-loss="loss=cross-entropy soft-labels label-smoothing=0.2" %{check} %t/values.mlir micro_step
// RUN: mtc-opt %t/values.mlir --mtc-attach-loss="loss=kl-div" %{check} %t/values.mlir micro_step
// RUN: mtc-opt %t/values.mlir --mtc-attach-loss="loss=kl-div log-target" %{check} %t/values.mlir micro_step
// RUN: mtc-opt %t/values.mlir --mtc-attach-loss="loss=huber huber-delta=0.5" %{check} %t/values.mlir micro_step
// RUN: mtc-opt %t/values.mlir --mtc-attach-loss="loss=smooth-l1 smooth-l1-beta=0.5" %{check} %t/values.mlir micro_step
// RUN: mtc-opt %t/values.mlir --mtc-attach-loss="loss=bce-with-logits pos-weight=3,0.5,1" %{check} %t/values.mlir micro_step
// RUN: mtc-opt %t/sequences.mlir --mtc-attach-loss="loss=ctc" %{check} %t/sequences.mlir micro_step
// RUN: mtc-opt %t/sequences.mlir --mtc-attach-loss="loss=ctc blank=2 zero-infinity" %{check} %t/sequences.mlir micro_step
// RUN: mtc-opt %t/lengths.mlir --mtc-attach-loss="loss=ctc" %{check} %t/lengths.mlir micro_step

//--- classes.mlir
func.func @forward(%x: tensor<4x3xf64> {mtc.name = "x"}) -> (tensor<4x3xf64> {mtc.name = "logits"}) {
  return %x : tensor<4x3xf64>
}
// given @micro_step a1 = [2, 0, -100, 1]

//--- values.mlir
// The labels are between 0 and 1, away from the kinks of the losses.
func.func @forward(%x: tensor<2x3xf64> {mtc.name = "x"}) -> (tensor<2x3xf64> {mtc.name = "y"}) {
  return %x : tensor<2x3xf64>
}
// given @micro_step a1 = [[0.2, 0.7, 0.1], [0.4, 0.25, 0.35]]

//--- sequences.mlir
// The samples have repeated labels, an empty target, and a frame for each label; [frames, batch, classes].
func.func @forward(%x: tensor<3x5x2xf64> {mtc.name = "x"}, %labels: tensor<3x3xi32> {mtc.name = "labels"}, %y: tensor<5x3x4xf64> {mtc.name = "y"})
    -> (tensor<5x3x4xf64> {mtc.name = "logits"}) {
  return %y : tensor<5x3x4xf64>
}
// given @micro_step a1 = [[1, 1, 3], [-100, -100, -100], [3, 1, 1]]

//--- lengths.mlir
// Samples with fewer frames; [batch, frames, classes].
func.func @forward(%y: tensor<3x4x3xf64> {mtc.name = "y"}, %labels: tensor<3x2xi64> {mtc.name = "labels"}, %n: tensor<3xi32> {mtc.name = "input_lengths"})
    -> (tensor<3x4x3xf64> {mtc.name = "logits"}) {
  return %y : tensor<3x4x3xf64>
}
// given @micro_step a1 = [[1, 2], [2, -100], [-100, -100]]
// given @micro_step a2 = [4, 1, 2]

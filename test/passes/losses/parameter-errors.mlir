// Parameters that a loss does not use, or that do not fit the output or the labels; all problems are reported at once.
//
// RUN: not mtc-opt %s --mtc-attach-loss="loss=mse label-smoothing=0.1 pos-weight=2 log-target" 2>&1 | FileCheck %s --check-prefix=UNUSED
// UNUSED: --label-smoothing 0.1: not used by the loss mse; expected --loss cross-entropy or causal-lm
// UNUSED: --pos-weight 2: not used by the loss mse; expected --loss bce-with-logits
// UNUSED: --log-target: not used by the loss mse; expected --loss kl-div
// RUN: not mtc-opt %s --mtc-attach-loss="loss=cross-entropy soft-labels ignore-index=3" 2>&1 | FileCheck %s --check-prefix=SOFT
// SOFT: --ignore-index 3: not used by the loss cross-entropy with soft labels
// RUN: not mtc-opt %s --mtc-attach-loss="loss=cross-entropy class-weights=1,2" 2>&1 | FileCheck %s --check-prefix=WEIGHTS
// WEIGHTS: --class-weights: 2 weights; expected one for each of the 3 classes; output 'y' is tensor<4x3xf32>
// RUN: not mtc-opt %s --mtc-attach-loss="loss=bce-with-logits pos-weight=1,2" 2>&1 | FileCheck %s --check-prefix=POSITIVE
// POSITIVE: --pos-weight: 2 weights; expected one number, or one for each of the 3 elements of the output's last axis; output 'y' is tensor<4x3xf32>
// RUN: not mtc-opt %s --mtc-attach-loss="loss=cross-entropy class-weights=1,-2,1 label-smoothing=1.5" 2>&1 | FileCheck %s --check-prefix=VALUES
// VALUES-DAG: --class-weights 1,-2,1: '-2': invalid weight; expected a number of at least 0, or a .npy file
// VALUES-DAG: --label-smoothing 1.5: expected a number from 0 to 1
// RUN: not mtc-opt %s --mtc-attach-loss="loss=cross-entropy class-weights=0,0,0" 2>&1 | FileCheck %s --check-prefix=ZERO
// ZERO: --class-weights 0,0,0: every weight is 0; expected a weight greater than 0
// RUN: not mtc-opt %s --mtc-attach-loss="loss=huber huber-delta=0" 2>&1 | FileCheck %s --check-prefix=DELTA
// DELTA: --huber-delta 0: expected a number greater than 0
// RUN: not mtc-opt %s --mtc-attach-loss="loss=huber huber-delta=1e-60" 2>&1 | FileCheck %s --check-prefix=SMALL
// SMALL: --huber-delta 1e-60: expected a number greater than 0 in the range of f32, 1.2e-38 to 3.4e+38
// RUN: not mtc-opt %s --mtc-attach-loss="loss=smooth-l1 smooth-l1-beta=1e300" 2>&1 | FileCheck %s --check-prefix=LARGE
// LARGE: --smooth-l1-beta 1e+300: expected a number of at least 0 in the range of f32, 1.2e-38 to 3.4e+38
// RUN: not mtc-opt %s --mtc-attach-loss="loss=cross-entropy class-weights=1,1e300,1" 2>&1 | FileCheck %s --check-prefix=INFINITE
// INFINITE: --class-weights 1,1e300,1: '1e300': invalid weight; expected a number of at least 0 in the range of f32, 1.2e-38 to 3.4e+38, or a .npy file
// RUN: not mtc-opt %s --mtc-attach-loss="loss=smooth-l1 smooth-l1-beta=-1" 2>&1 | FileCheck %s --check-prefix=BETA
// BETA: --smooth-l1-beta -1: expected a number of at least 0
// RUN: not mtc-opt %s --mtc-attach-loss="loss=cross-entropy labels=bytes ignore-index=300" 2>&1 | FileCheck %s --check-prefix=BYTES
// BYTES: --ignore-index 300: no value of the labels 'bytes', which are tensor<4xui8>
// RUN: not mtc-opt %s --mtc-attach-loss="loss=cross-entropy labels=bytes soft-labels" 2>&1 | FileCheck %s --check-prefix=INTEGERS
// INTEGERS: --loss cross-entropy: expected labels of the output's shape, but output 'y' is tensor<4x3xf32> and the labels 'bytes' are tensor<4xui8>
// RUN: not mtc-opt %s --mtc-attach-loss="loss=output output=mean label-smoothing=0.1" 2>&1 | FileCheck %s --check-prefix=OUTPUT
// OUTPUT: --label-smoothing 0.1: not used by the loss output; expected --loss cross-entropy or causal-lm

func.func @forward(%x: tensor<4x3xf32> {mtc.name = "x"}, %l: tensor<4xui8> {mtc.name = "bytes"})
    -> (tensor<4x3xf32> {mtc.name = "y"}, tensor<f32> {mtc.name = "mean"}) {
  %s = mtc.reduce add %x axes [0, 1] : tensor<4x3xf32> -> tensor<f32>
  return %x, %s : tensor<4x3xf32>, tensor<f32>
}

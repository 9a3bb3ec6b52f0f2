// The pipelines have the option of `mtc compile --skip-pass`, from the same table.
// RUN: mtc-opt %s --dump-pass-pipeline --mtc-forward-pipeline="skip-pass=mtc-recognize-attention" 2>&1 | FileCheck %s --check-prefix=FORWARD --implicit-check-not=recognize-attention
// FORWARD: mtc-keep-channels-last

// The option accepts several passes, and passes of other pipelines.
// RUN: mtc-opt %s --dump-pass-pipeline --mtc-kernel-pipeline="skip-pass=mtc-fuse-kernels,mtc-fuse-update,mtc-recognize-attention" 2>&1 | FileCheck %s --check-prefix=KERNELS --implicit-check-not="mtc-fuse-kernels," --implicit-check-not=mtc-fuse-update
// KERNELS: mtc-compact-scatter
// KERNELS: mtc-form-kernels
// KERNELS: mtc-fuse-epilogues

// RUN: mtc-opt %s --dump-pass-pipeline --mtc-kernel-pipeline 2>&1 | FileCheck %s --check-prefix=ALL
// ALL: mtc-fuse-update
// ALL: mtc-fuse-kernels

// RUN: not mtc-opt %s --mtc-kernel-pipeline="skip-pass=cse" 2>&1 | FileCheck %s --check-prefix=ERROR
// ERROR: --skip-pass cse: invalid value; expected one of: mtc-keep-channels-last,
module {
}

// RUN: mtc-opt %s --mtc-reach-stage=stage=kernels | FileCheck %s
// RUN: mtc-opt %s --mtc-allocation-pipeline | FileCheck %s --check-prefix=PLACED

// CHECK: mtc.program "model" stage kernels
// PLACED-DAG: mtc.program "model" stage allocated
// PLACED-DAG: mtc.arena
mtc.program "model" stage training {
}

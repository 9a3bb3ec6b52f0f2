// Programs with pipeline stages that have no tables.
//
// RUN: split-file %s %t
// RUN: not mtc-run %t/redzone.mlir -o %t/out 2>&1 | FileCheck %s --check-prefix=REDZONE
// RUN: not mtc-run %t/copies.mlir -o %t/out 2>&1 | FileCheck %s --check-prefix=COPIES
// RUN: not mtc-run %t/step.mlir -o %t/out 2>&1 | FileCheck %s --check-prefix=STEP

//--- redzone.mlir
// REDZONE: error: --check-memory: the runtime cannot check the slots of pipeline stages; compile without --pipeline or without --check-memory
module {
  mtc.program "m" stage allocated batch 4 ranks <count = 2, pipeline = 2> pipeline_stage 0 {
  }
  mtc.arena size 1024 live 1024 {redzone = 64 : i64}
}

//--- copies.mlir
// COPIES: error: uses a slot with 3 copies, but another operation of the step one with 2
module {
  mtc.program "m" stage allocated batch 4 ranks <count = 2, pipeline = 2> pipeline_stage 0 {
  }
  mtc.arena size 1024 live 1024
  mtc.variable slot @a copies 2 : tensor<16xf32> = #mtc.zeros at 0
  mtc.variable slot @b copies 3 : tensor<16xf32> = #mtc.zeros at 128
  mtc.step @micro_step reads [] [] gives [] [] {
    mtc.copy <0, tensor<16xf32>> into <512, tensor<16xf32>>
    mtc.copy <128, tensor<16xf32>> into <576, tensor<16xf32>>
  }
}

//--- step.mlir
// STEP: error: 'mtc.tasks' op runs @micro_step.backward, which is not a step
module {
  mtc.program "m" stage allocated batch 4 ranks <count = 2, pipeline = 2> pipeline_stage 0 {
  }
  mtc.arena size 1024 live 1024
  mtc.tasks "micro_step" [#mtc.task<run, function = @micro_step.backward>]
}

// One violation of each constraint of ProgramOps.td, and of attributes on other operations.
// RUN: mtc-opt %s -split-input-file -verify-diagnostics

mtc.program "a" stage onnx {}
// expected-error @below {{is the second program of the module (program_c1)}}
mtc.program "b" stage onnx {}

// -----

mtc.program "a" stage onnx {
  // expected-error @below {{is not an input of a program (program_c2)}}
  mtc.arena size 0 live 0
}

// -----

mtc.program "a" stage onnx {
  mtc.input "x"
  // expected-error @below {{has the name of another input (program_c2)}}
  mtc.input "x"
}

// -----

// expected-error @below {{has a batch of 0 samples, expected at least 1 (program_c3)}}
mtc.program "a" stage training batch 0 {}

// -----

// expected-error @below {{has 1 micro-steps and 0 targets, expected at least 2 and 0 (accumulation_c1)}}
mtc.program "a" stage training accumulation <micro_steps = 1> {}

// -----

// expected-error @below {{has the shapes [#mtc.shape<batch = 4, dims = {}>], expected at least two, the first with the batch 4 (program_c5)}}
mtc.program "a" stage training batch 4 shapes [#mtc.shape<batch = 4, dims = {}>] {}

// -----

// expected-error @below {{has the shapes [#mtc.shape<batch = 2, dims = {}>, #mtc.shape<batch = 4, dims = {}>], expected at least two, the first with the batch 4 (program_c5)}}
mtc.program "a" stage training batch 4 shapes [#mtc.shape<batch = 2, dims = {}>, #mtc.shape<batch = 4, dims = {}>] {}

// -----

// expected-error @below {{has a batch of 4 and the sizes {n = 0 : i64}, expected positive numbers (shape_c1)}}
mtc.program "a" stage training shapes [#mtc.shape<batch = 4, dims = {n = 0 : i64}>] {}

// -----

// expected-error @below {{has 2 micro-steps and -1 targets, expected at least 2 and 0 (accumulation_c1)}}
mtc.program "a" stage training accumulation <micro_steps = 2, targets = -1> {}

// -----

mtc.program "a" stage training {
  // expected-error @below {{is shifted from 'ids', which is not another input (input_c1)}}
  mtc.input "labels" label shifted_from "ids"
}

// -----

// expected-error @below {{there is no schedule 'lineal' (schedule_c1)}}
mtc.program "a" stage training schedule <lineal, rate = 1.0 : f64> {}

// -----

// expected-error @below {{has a warm-up of -1 steps and a decay of 0 steps, expected 0 or more (schedule_c2)}}
mtc.program "a" stage training schedule <linear, rate = 1.0 : f64, warmup = -1> {}

// -----

// expected-error @below {{'table' has points at 0 steps, which must rise, and 0 rates (schedule_c3)}}
mtc.program "a" stage training schedule <table, rate = 1.0 : f64> {}

// -----

// expected-error @below {{'table' has points at 2 steps, which must rise, and 2 rates (schedule_c3)}}
mtc.program "a" stage training schedule <table, rate = 1.0 : f64, steps = [4, 4], rates = [1.0, 0.5]> {}

// -----

mtc.program "a" stage training {
  // expected-error @below {{no value from 3 on is less than 3 (index_range_c1)}}
  mtc.input "x" indices <minimum = 3, limit = 3, ignored = 0, user = "">
}

// -----

// expected-error @below {{the mtc dialect has no attribute 'mtc.optimizer' of a module}}
module attributes {mtc.optimizer = "adamw"} {
}

// -----

// expected-error @below {{the mtc dialect has no attribute 'mtc.label' of an argument}}
func.func @f(%x: tensor<4xf32> {mtc.label}) {
  return
}

// -----

// expected-error @below {{attribute 'mtc.name' is 1 : i64, expected a string}}
func.func @f() -> (tensor<4xf32> {mtc.name = 1}) {
  %c = mtc.constant dense<0.0> : tensor<4xf32>
  return %c : tensor<4xf32>
}

// -----

// expected-error @below {{the mtc dialect has no attribute 'mtc.name' of a function}}
func.func @f() attributes {mtc.name = "f"} {
  return
}

// -----

func.func @f(%x: tensor<4xf32>) {
  // expected-error @below {{the mtc dialect has no attribute 'mtc.fused' of an operation}}
  %y = mtc.neg %x {mtc.fused} : tensor<4xf32>
  return
}

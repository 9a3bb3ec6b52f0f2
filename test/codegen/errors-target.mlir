// RUN: mtc-opt %s -split-input-file -verify-diagnostics

// expected-error @below {{attribute 'mtc.target' is "cpu", expected a target}}
module attributes {mtc.target = "cpu"} {
}

// -----

// expected-error @below {{the mtc dialect has no attribute 'mtc.target' of a function}}
func.func private @f() attributes {mtc.target = #mtc_cpu.target<threads = 2>}

// -----

// expected-error @below {{unknown architecture}}
module attributes {mtc.target = #mtc_cuda.target<architectures = "sm_12345">} {
}

// -----

// expected-error @below {{without oneDNN: the target 'cuda' requires this library; expected cudnn}}
module attributes {mtc.target = #mtc_cuda.target<architectures = "sm_90", without = "oneDNN">} {
}

// -----

// expected-error @below {{without cudnn: the target 'cpu' requires this library; expected onednn}}
module attributes {mtc.target = #mtc_cpu.target<without = "cudnn">} {
}

// -----

// expected-error @below {{a static program has no oneDNN; expected without = "onednn"}}
module attributes {mtc.target = #mtc_cpu.target<is_static = true>} {
}

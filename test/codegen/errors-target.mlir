// RUN: mtc-opt %s -split-input-file -verify-diagnostics

// expected-error @below {{names no target in 'mtc.target', but "cpu"}}
module attributes {mtc.target = "cpu"} {
}

// -----

// expected-error @below {{has the attribute 'mtc.target', which belongs to a module}}
func.func private @f() attributes {mtc.target = #mtc_cpu.target<threads = 2>}

// -----

// expected-error @below {{there is no such architecture}}
module attributes {mtc.target = #mtc_cuda.target<architectures = "sm_12345">} {
}

// One violation of each constraint of ScanOps.td.
// RUN: mtc-opt %s -split-input-file -verify-diagnostics

func.func private @cell(%h: tensor<4xf32>, %x: tensor<4xf32>) -> tensor<4xf32> {
  return %x : tensor<4xf32>
}
func.func @scan_c1(%h: tensor<4xf32>, %x: tensor<8x4xf32>) {
  // expected-error @below {{calls @cell 8 times, expected a body with 1 states and 1 scanned inputs, and at least one iteration (scan_c1)}}
  %y = mtc.scan @cell 8 times from(%h) over(%x) with() : (tensor<4xf32>, tensor<8x4xf32>) -> tensor<4xf32>
  return
}

// -----

func.func private @cell(%h: tensor<4xf32>) -> tensor<4xf32> attributes {mtc.body = array<i64: 1, 0>} {
  return %h : tensor<4xf32>
}
func.func @scan_c1_no_iteration(%h: tensor<4xf32>) {
  // expected-error @below {{calls @cell 0 times, expected a body with 1 states and 0 scanned inputs, and at least one iteration (scan_c1)}}
  %y = mtc.scan @cell 0 times from(%h) over() with() : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

func.func private @cell(%h: tensor<4xf32>, %x: tensor<4xf32>) -> tensor<4xf32> attributes {mtc.body = array<i64: 1, 1>} {
  return %x : tensor<4xf32>
}
func.func @scan_c2(%h: tensor<4xf32>, %x: tensor<8x5xf32>) {
  // expected-error @below {{has operands that do not match the arguments of @cell (scan_c2)}}
  %y = mtc.scan @cell 8 times from(%h) over(%x) with() : (tensor<4xf32>, tensor<8x5xf32>) -> tensor<4xf32>
  return
}

// -----

func.func private @cell(%h: tensor<4xf32>, %x: tensor<4xf32>) -> tensor<4xf32> attributes {mtc.body = array<i64: 1, 1>} {
  return %x : tensor<4xf32>
}
func.func @scan_c3(%h: tensor<4xf32>, %x: tensor<8x4xf32>) {
  // expected-error @below {{has results that do not match those of @cell (scan_c3)}}
  %y:2 = mtc.scan @cell 8 times from(%h) over(%x) with() : (tensor<4xf32>, tensor<8x4xf32>) -> (tensor<4xf32>, tensor<8x4xf32>)
  return
}

// -----

func.func private @cell(%h: tensor<4xf32>, %x: tensor<4xf32>) -> tensor<4xf32> attributes {mtc.body = array<i64: 1, 1>} {
  return %x : tensor<4xf32>
}
func.func @scan_c4(%h: tensor<4xf32>, %x: tensor<7x4xf32>) {
  // expected-error @below {{has a scanned input or stacked output 'tensor<7x4xf32>', expected 8 slices (scan_c4)}}
  %y = mtc.scan @cell 8 times from(%h) over(%x) with() : (tensor<4xf32>, tensor<7x4xf32>) -> tensor<4xf32>
  return
}

// -----

func.func private @inner(%h: tensor<4xf32>) -> tensor<4xf32> attributes {mtc.body = array<i64: 1, 0>} {
  return %h : tensor<4xf32>
}
func.func private @outer(%h: tensor<4xf32>) -> tensor<4xf32> attributes {mtc.body = array<i64: 1, 0>} {
  %y = mtc.scan @inner 8 times from(%h) over() with() : (tensor<4xf32>) -> tensor<4xf32>
  return %y : tensor<4xf32>
}
func.func @scan_c5(%h: tensor<4xf32>) {
  // expected-error @below {{calls @outer, which contains a scan (scan_c5)}}
  %y = mtc.scan @outer 8 times from(%h) over() with() : (tensor<4xf32>) -> tensor<4xf32>
  return
}

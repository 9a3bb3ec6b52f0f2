// RUN: mtc-opt %s -split-input-file --mtc-pad-contractions | FileCheck %s

module attributes {mtc.target = #mtc_cuda.target<architectures = "sm_90", precision = bf16>} {
  // Two contractions read the gradient of a classifier's logits. The whole loss is computed with the padded axis, and labels are looked up
  // within the original extent.
  // CHECK-LABEL: func.func @loss
  func.func @loss(%x: tensor<512x512xbf16> {mtc.name = "x"}, %w: tensor<4097x512xbf16> {mtc.name = "w"}, %i: tensor<512xi64> {mtc.name = "i"})
      -> (tensor<512xbf16> {mtc.name = "label"}, tensor<512x512xbf16> {mtc.name = "dx"}, tensor<4097x512xbf16> {mtc.name = "dw"}) {
    // CHECK: %[[W:.*]] = mtc.pad %arg1 low [0, 0] high [7, 0] interior [0, 0] value 0.{{.*}} -> tensor<4104x512xbf16>
    // CHECK: %[[Y:.*]] = mtc.contract %arg0, %[[W]] {{.*}} -> tensor<512x4104xbf16>
    %y = mtc.contract %x, %w batch [] x [] over [1] x [1] : tensor<512x512xbf16>, tensor<4097x512xbf16> -> tensor<512x4097xbf16>
    // CHECK: %[[OWN:.*]] = mtc.slice %[[Y]] offsets [0, 0] strides [1, 1] : tensor<512x4104xbf16> -> tensor<512x4097xbf16>
    // CHECK: mtc.gather %[[OWN]]
    %label = mtc.gather %y, %i axis 1 batch 1 : tensor<512x4097xbf16>, tensor<512xi64> -> tensor<512xbf16>
    // CHECK: %[[E:.*]] = mtc.exp {{.*}} : tensor<512x4104xf32>
    %f = mtc.cast %y as storage : tensor<512x4097xbf16> -> tensor<512x4097xf32>
    %e = mtc.exp %f : tensor<512x4097xf32>
    // CHECK-DAG: %[[INDEX:.*]] = mtc.iota 1 : tensor<512x4104xi32>
    // CHECK-DAG: %[[LIMIT:.*]] = mtc.constant dense<4097> : tensor<512x4104xi32>
    // CHECK: %[[IS:.*]] = mtc.compare lt %[[INDEX]], %[[LIMIT]]
    // CHECK: %[[ZERO:.*]] = mtc.constant dense<0.0{{.*}}> : tensor<512x4104xf32>
    // CHECK: %[[KNOWN:.*]] = mtc.select %[[IS]], %[[E]], %[[ZERO]]
    // CHECK: mtc.reduce add %[[KNOWN]] axes [1] : tensor<512x4104xf32> -> tensor<512xf32>
    %s = mtc.reduce add %e axes [1] : tensor<512x4097xf32> -> tensor<512xf32>
    %b = mtc.broadcast %s axes [1] : tensor<512xf32> -> tensor<512x4097xf32>
    %p = mtc.div %e, %b : tensor<512x4097xf32>
    %g = mtc.cast %p as storage : tensor<512x4097xf32> -> tensor<512x4097xbf16>
    // CHECK: %[[G:.*]] = mtc.cast {{.*}} as storage : tensor<512x4104xf32> -> tensor<512x4104xbf16>
    // CHECK: %[[ZEROS:.*]] = mtc.select %{{.*}}, %[[G]], %{{.*}}
    // CHECK: %[[V:.*]] = mtc.pad %arg1 {{.*}} -> tensor<4104x512xbf16>
    // CHECK: mtc.contract %[[ZEROS]], %[[V]] {{.*}} -> tensor<512x512xbf16>
    %dx = mtc.contract %g, %w batch [] x [] over [1] x [0] : tensor<512x4097xbf16>, tensor<4097x512xbf16> -> tensor<512x512xbf16>
    // CHECK: %[[DW:.*]] = mtc.contract %[[ZEROS]], %arg0 {{.*}} -> tensor<4104x512xbf16>
    // CHECK: mtc.slice %[[DW]] {{.*}} -> tensor<4097x512xbf16>
    %dw = mtc.contract %g, %x batch [] x [] over [0] x [0] : tensor<512x4097xbf16>, tensor<512x512xbf16> -> tensor<4097x512xbf16>
    return %label, %dx, %dw : tensor<512xbf16>, tensor<512x512xbf16>, tensor<4097x512xbf16>
  }

  // The padding contains the lowest value for the maximum and zeros for a bias, whose gradient is a slice of the sum.
  // CHECK-LABEL: func.func @bias
  func.func @bias(%x: tensor<512x512xbf16> {mtc.name = "x"}, %w: tensor<512x4097xbf16> {mtc.name = "w"}, %c: tensor<4097xbf16> {mtc.name = "c"})
      -> (tensor<512xbf16> {mtc.name = "max"}, tensor<4097xbf16> {mtc.name = "sums"}) {
    // CHECK: %[[Y:.*]] = mtc.contract {{.*}} -> tensor<512x4104xbf16>
    %y = mtc.contract %x, %w batch [] x [] over [1] x [0] : tensor<512x512xbf16>, tensor<512x4097xbf16> -> tensor<512x4097xbf16>
    // CHECK: %[[C:.*]] = mtc.pad %arg2 low [0] high [7]
    // CHECK: %[[B:.*]] = mtc.broadcast %[[C]] axes [0] : tensor<4104xbf16> -> tensor<512x4104xbf16>
    %b = mtc.broadcast %c axes [0] : tensor<4097xbf16> -> tensor<512x4097xbf16>
    // CHECK: %[[Z:.*]] = mtc.add %[[Y]], %[[B]]
    %z = mtc.add %y, %b : tensor<512x4097xbf16>
    // CHECK: %[[LOWEST:.*]] = mtc.constant dense<0xFF80> : tensor<512x4104xbf16>
    // CHECK: %[[OWN:.*]] = mtc.select %{{.*}}, %[[Z]], %[[LOWEST]]
    // CHECK: mtc.reduce max %[[OWN]] axes [1]
    %m = mtc.reduce max %z axes [1] : tensor<512x4097xbf16> -> tensor<512xbf16>
    // CHECK: %[[SUMS:.*]] = mtc.reduce add %[[Z]] axes [0] : tensor<512x4104xbf16> -> tensor<4104xbf16>
    // CHECK: mtc.slice %[[SUMS]] offsets [0] strides [1] : tensor<4104xbf16> -> tensor<4097xbf16>
    %t = mtc.reduce add %z axes [0] : tensor<512x4097xbf16> -> tensor<4097xbf16>
    return %m, %t : tensor<512xbf16>, tensor<4097xbf16>
  }

  // Logits that the program returns keep their extent.
  // CHECK-LABEL: func.func @output
  // CHECK-NEXT: mtc.contract {{.*}} -> tensor<512x4097xbf16>
  func.func @output(%x: tensor<512x512xbf16> {mtc.name = "x"}, %w: tensor<4097x512xbf16> {mtc.name = "w"}) -> (tensor<512x4097xbf16> {mtc.name = "y"}) {
    %y = mtc.contract %x, %w batch [] x [] over [1] x [1] : tensor<512x512xbf16>, tensor<4097x512xbf16> -> tensor<512x4097xbf16>
    return %y : tensor<512x4097xbf16>
  }

  // Rows of a multiple of 16 bytes need no padding. With few classes, most elements would be padding.
  // CHECK-LABEL: func.func @aligned
  // CHECK-NOT: mtc.pad
  func.func @aligned(%x: tensor<512x512xbf16> {mtc.name = "x"}, %w: tensor<4096x512xbf16> {mtc.name = "w"}, %v: tensor<10x512xbf16> {mtc.name = "v"})
      -> (tensor<512xbf16> {mtc.name = "y"}, tensor<512xbf16> {mtc.name = "z"}) {
    %y = mtc.contract %x, %w batch [] x [] over [1] x [1] : tensor<512x512xbf16>, tensor<4096x512xbf16> -> tensor<512x4096xbf16>
    %z = mtc.contract %x, %v batch [] x [] over [1] x [1] : tensor<512x512xbf16>, tensor<10x512xbf16> -> tensor<512x10xbf16>
    %s = mtc.reduce add %y axes [1] : tensor<512x4096xbf16> -> tensor<512xbf16>
    %t = mtc.reduce add %z axes [1] : tensor<512x10xbf16> -> tensor<512xbf16>
    return %s, %t : tensor<512xbf16>, tensor<512xbf16>
  }
}

// -----

// The library's f32 multiplication does not use tensor cores.
module attributes {mtc.target = #mtc_cuda.target<architectures = "sm_90", precision = f32>} {
  // CHECK-LABEL: func.func @f32
  // CHECK-NOT: mtc.pad
  func.func @f32(%x: tensor<512x512xf32> {mtc.name = "x"}, %w: tensor<4097x512xf32> {mtc.name = "w"}) -> (tensor<512xf32> {mtc.name = "y"}) {
    %y = mtc.contract %x, %w batch [] x [] over [1] x [1] : tensor<512x512xf32>, tensor<4097x512xf32> -> tensor<512x4097xf32>
    %s = mtc.reduce add %y axes [1] : tensor<512x4097xf32> -> tensor<512xf32>
    return %s : tensor<512xf32>
  }
}

// -----

module attributes {mtc.target = #mtc_cuda.target<architectures = "sm_90", precision = tf32>} {
  // CHECK-LABEL: func.func @tf32
  // CHECK: mtc.contract {{.*}} -> tensor<512x4100xf32>
  func.func @tf32(%x: tensor<512x512xf32> {mtc.name = "x"}, %w: tensor<4097x512xf32> {mtc.name = "w"}) -> (tensor<512xf32> {mtc.name = "y"}) {
    %y = mtc.contract %x, %w batch [] x [] over [1] x [1] : tensor<512x512xf32>, tensor<4097x512xf32> -> tensor<512x4097xf32>
    %s = mtc.reduce add %y axes [1] : tensor<512x4097xf32> -> tensor<512xf32>
    return %s : tensor<512xf32>
  }
}

// RUN: mtc-opt %s --mtc-erase-unread-inputs | FileCheck %s

// Only @outputs reads z. Evaluation reads e, and nothing reads n.
// CHECK: func.func @micro_step(%{{.*}}: tensor<4xf32> {mtc.name = "x"}, %{{.*}}: tensor<4xf32> {mtc.name = "e"}, %{{.*}}: tensor<4xf32> {mtc.name = "n"})
// CHECK: func.func @evaluate(%{{.*}}: tensor<4xf32> {mtc.name = "x"}, %{{.*}}: tensor<4xf32> {mtc.name = "e"}, %{{.*}}: tensor<4xf32> {mtc.name = "n"})
// CHECK: func.func @outputs(%{{.*}}: tensor<4xf32> {mtc.name = "x"}, %{{.*}}: tensor<4xf32> {mtc.name = "z"}, %{{.*}}: tensor<4xf32> {mtc.name = "e"}, %{{.*}}: tensor<4xf32> {mtc.name = "n"})
func.func @micro_step(%x: tensor<4xf32> {mtc.name = "x"}, %z: tensor<4xf32> {mtc.name = "z"}, %e: tensor<4xf32> {mtc.name = "e"},
                      %n: tensor<4xf32> {mtc.name = "n"}) -> tensor<4xf32> {
  return %x : tensor<4xf32>
}
func.func @evaluate(%x: tensor<4xf32> {mtc.name = "x"}, %z: tensor<4xf32> {mtc.name = "z"}, %e: tensor<4xf32> {mtc.name = "e"},
                    %n: tensor<4xf32> {mtc.name = "n"}) -> tensor<4xf32> {
  %0 = mtc.add %x, %e : tensor<4xf32>
  return %0 : tensor<4xf32>
}
func.func @outputs(%x: tensor<4xf32> {mtc.name = "x"}, %z: tensor<4xf32> {mtc.name = "z"}, %e: tensor<4xf32> {mtc.name = "e"},
                   %n: tensor<4xf32> {mtc.name = "n"}) -> (tensor<4xf32>, tensor<4xf32>) {
  %0 = mtc.add %x, %e : tensor<4xf32>
  return %0, %z : tensor<4xf32>, tensor<4xf32>
}

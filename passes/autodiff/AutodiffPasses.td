//===- AutodiffPasses.td - Gradients, and the core that they end in --------------------------===//

#ifndef MTC_PASSES_AUTODIFF_PASSES
#define MTC_PASSES_AUTODIFF_PASSES

include "mlir/Pass/PassBase.td"

def Autodiff : Pass<"mtc-autodiff", "::mlir::ModuleOp"> {
  let summary = "differentiate the loss in reverse mode";
  let description = [{
    Extends `@micro_step`, whose result named `mtc.loss` is differentiated by the values that it reads from variables of role
    `parameter`. Each parameter gets a variable of role `gradient`. The pass asks operations by their interface and
    knows none itself; it computes nothing that no parameter needs. Operations between a parameter and the loss that
    have no gradient are reported all at once. A parameter that does not influence the loss gets zeros and a warning.

    Where the program scales its loss (`mtc-scale-loss`), the gradients are those of the loss times `@mtc.loss_scale`. Where it
    has several micro-steps before an update, they are added to their variables, term by term: what a contraction gives then
    lies over what it is added to, and the sums by index of an embedding's gradient are added to the rows that are named.

    ```mlir
    mtc.variable parameter @w : tensor<4xf32> = #mtc.zeros
    func.func @micro_step() -> (tensor<f32> {mtc.name = "mtc.loss"}) {
      %w = mtc.read @w : tensor<4xf32>
      %e = mtc.exp %w : tensor<4xf32>
      %l = mtc.reduce add %e axes [0] : tensor<4xf32> -> tensor<f32>
      return %l : tensor<f32>
    }
    // gains
    mtc.variable gradient @w.grad : tensor<4xf32> = #mtc.zeros of @w
      %one = mtc.constant dense<1.0> : tensor<f32>
      %d = mtc.broadcast %one axes [0] : tensor<f32> -> tensor<4xf32>
      %g = mtc.mul %d, %e : tensor<4xf32>
      mtc.write @w.grad, %g : tensor<4xf32>
    ```
  }];
  let dependentDialects = ["::mtc::MtcDialect"];
}

def TestGradient : Pass<"mtc-test-gradient", "::mlir::ModuleOp"> {
  let summary = "generate the vector-Jacobian product of each function";
  let description = [{
    For tests of gradient rules. `@f` with floating-point arguments x and results y gets `@f_vjp`, which takes f's
    arguments and y's cotangents and returns x's.

    ```mlir
    func.func @f(%x: tensor<4xf32>) -> tensor<4xf32> {
      %y = mtc.exp %x : tensor<4xf32>
      return %y : tensor<4xf32>
    }
    // gains
    func.func @f_vjp(%x: tensor<4xf32>, %dy: tensor<4xf32>) -> tensor<4xf32> {
      %y = mtc.exp %x : tensor<4xf32>
      %dx = mtc.mul %dy, %y : tensor<4xf32>
      return %dx : tensor<4xf32>
    }
    ```
  }];
  let dependentDialects = ["::mtc::MtcDialect", "::mlir::func::FuncDialect"];
}

def Decompose : Pass<"mtc-decompose", "::mlir::ModuleOp"> {
  let summary = "decompose composite operations into core operations";
  let description = [{
    Replaces every operation that can say itself in core operations, but for those that a library of the target computes.
    It runs after autodiff, which uses the larger operations' own gradients, and before kernels are formed.

    ```mlir
    %l = mtc.softmax_cross_entropy %z, %t ignore -100 : tensor<4x10xf32>, tensor<4xi64> -> tensor<4xf32>
    // becomes reductions over the classes, a gather of the label's logit, and elementwise operations
    ```
  }];
  let options = [
    Option<"libraryCalls", "library-calls", "bool", "false", "decompose what a library computes too">,
  ];
  let dependentDialects = ["::mtc::MtcDialect"];
}

#endif // MTC_PASSES_AUTODIFF_PASSES

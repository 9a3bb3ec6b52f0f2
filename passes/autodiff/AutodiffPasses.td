//===- AutodiffPasses.td - Differentiation and decomposition ---------------------------------===//

#ifndef MTC_PASSES_AUTODIFF_PASSES
#define MTC_PASSES_AUTODIFF_PASSES

include "mlir/Pass/PassBase.td"

def Autodiff : Pass<"mtc-autodiff", "::mlir::ModuleOp"> {
  let summary = "differentiate the loss in reverse mode";
  let description = [{
    Extends `@micro_step`, whose result named `mtc.loss` is differentiated with respect to the values that it reads from variables
    of role `parameter`. Each parameter gets a variable of role `gradient`. The pass queries operations only through their
    interface, and computes no cotangent that no parameter needs. All operations between a parameter and the loss that have no
    gradient are reported at once. A parameter that does not influence the loss gets zeros and a warning. The gradient of `mtc.scan`
    is a scan in the other direction, whose body is differentiated in the same way.

    If the program scales its loss (`mtc-scale-loss`), the gradients are those of the loss times `@mtc.loss_scale`. If it has
    several micro-steps per update, gradients are accumulated in their variables term by term: contractions then accumulate in
    place, and scatter-adds of an embedding's gradient update only the indexed rows.

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

def DifferentiateInputs : Pass<"mtc-differentiate-inputs", "::mlir::ModuleOp"> {
  let summary = "differentiate the loss with respect to inputs";
  let description = [{
    Lets `mtc-autodiff` compute the gradients of inputs: `@micro_step` reads each input from a variable of role `parameter` that
    has the input's name. The argument remains. An input that does not exist, or whose elements are not floating-point numbers, is
    an error.

    ```mlir
    func.func @micro_step(%x: tensor<4xf32> {mtc.name = "x"}) -> (tensor<f32> {mtc.name = "mtc.loss"}) {
      %l = mtc.reduce add %x axes [0] : tensor<4xf32> -> tensor<f32>
      return %l : tensor<f32>
    }
    // becomes, with inputs=x
    mtc.variable parameter @x : tensor<4xf32> = #mtc.zeros
    func.func @micro_step(%arg: tensor<4xf32> {mtc.name = "x"}) -> (tensor<f32> {mtc.name = "mtc.loss"}) {
      %x = mtc.read @x : tensor<4xf32>
      %l = mtc.reduce add %x axes [0] : tensor<4xf32> -> tensor<f32>
      return %l : tensor<f32>
    }
    ```
  }];
  let options = [
    ListOption<"inputs", "inputs", "std::string", "names of the inputs">,
  ];
  let dependentDialects = ["::mtc::MtcDialect"];
}

def StoreGradients : Pass<"mtc-store-gradients", "::mlir::ModuleOp"> {
  let summary = "store accumulated gradients in 16 bits";
  let description = [{
    The option `gradient-bits` (`GradientStorageOptions` in `passes/autodiff/GradientStorage.h`) selects the storage: 16 stores
    the gradients that are accumulated over micro-steps in bf16. The terms of a micro-step are added to one f32 sum, and the sum
    is added to the gradient once, so that each micro-step rounds once. A contraction that is the only term still accumulates in
    place if the library can add 16-bit values. f64 gradients do not change. Without accumulation, the pass does nothing and emits
    a warning.

    ```mlir
    mtc.variable gradient @w.grad : tensor<4x8xf32> = #mtc.zeros of @w
    %old = mtc.read @w.grad : tensor<4x8xf32>
    %sum = mtc.add %old, %g : tensor<4x8xf32>
    mtc.write @w.grad, %sum : tensor<4x8xf32>
    // becomes
    mtc.variable gradient @w.grad : tensor<4x8xbf16> = #mtc.zeros of @w
    %old = mtc.read @w.grad : tensor<4x8xbf16>
    %old32 = mtc.cast %old as storage : tensor<4x8xbf16> -> tensor<4x8xf32>
    %sum = mtc.add %old32, %g : tensor<4x8xf32>
    %sum16 = mtc.cast %sum as storage : tensor<4x8xf32> -> tensor<4x8xbf16>
    mtc.write @w.grad, %sum16 : tensor<4x8xbf16>
    ```
  }];
  let dependentDialects = ["::mtc::MtcDialect"];
}

def TestGradient : Pass<"mtc-test-gradient", "::mlir::ModuleOp"> {
  let summary = "generate the vector-Jacobian product of each function";
  let description = [{
    Tests gradient rules. For `@f` with floating-point arguments x and results y, adds `@f_vjp`, which accepts f's arguments
    and y's cotangents and returns the cotangents of x.

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
    Replaces every operation with a decomposition into core operations, except those that a library of the target computes or that
    the option `keep` names.
    The pass runs after autodiff, which uses the gradients of the composite operations, and before kernels are formed.

    ```mlir
    %l = mtc.softmax_cross_entropy %z, %t ignore -100 : tensor<4x10xf32>, tensor<4xi64> -> tensor<4xf32>
    // becomes reductions over the classes, a gather of the label's logit, and elementwise operations
    ```
  }];
  let options = [
    Option<"libraryCalls", "library-calls", "bool", "false", "decompose library calls too">,
    ListOption<"keep", "keep", "std::string", "names of operations that are not decomposed">,
  ];
  let dependentDialects = ["::mtc::MtcDialect"];
}

#endif // MTC_PASSES_AUTODIFF_PASSES

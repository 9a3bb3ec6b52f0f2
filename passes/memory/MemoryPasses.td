//===- MemoryPasses.td - Scheduling, arena allocation and copy overlap --------------------------===//

#ifndef MTC_PASSES_MEMORY
#define MTC_PASSES_MEMORY

include "mlir/Pass/PassBase.td"

def OutlineConstants : Pass<"mtc-outline-constants", "::mlir::ModuleOp"> {
  let summary = "turn large constants into variables";
  let description = [{
    Replaces each constant of a function that was not folded into a kernel body by a read of a variable with the role `constant`.
    Equal constants share one variable.

    ```mlir
    %c = mtc.constant dense<[1.0, 2.0]> : tensor<2xf32>
    // becomes
    %c = mtc.read @mtc.constant : tensor<2xf32>
    ```
  }];
  let dependentDialects = ["::mtc::MtcDialect"];
}

def CopyPassedStates : Pass<"mtc-copy-passed-states", "::mlir::func::FuncOp"> {
  let summary = "copy the states that an iteration of a scan passes on as other states";
  let description = [{
    The next iteration reads its states where this one has read them. A result that is a copy, and not another state, can be stored
    there in any order.

    ```mlir
    func.func private @swap(%a: tensor<8xf32>, %b: tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>)
        attributes {mtc.body = array<i64: 2, 0>} {
      return %b, %a : tensor<8xf32>, tensor<8xf32>
    }
    ```
    becomes
    ```mlir
    func.func private @swap(%a: tensor<8xf32>, %b: tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>)
        attributes {mtc.body = array<i64: 2, 0>} {
      %0 = mtc.move %b to device : tensor<8xf32>
      %1 = mtc.move %a to device : tensor<8xf32>
      return %0, %1 : tensor<8xf32>, tensor<8xf32>
    }
    ```
  }];
  let dependentDialects = ["::mtc::MtcDialect"];
}

def Reorder : Pass<"mtc-reorder", "::mlir::ModuleOp"> {
  let summary = "reorder operations to reduce peak memory";
  let description = [{
    Moves operations within their functions to lower peak memory. An operation whose large result is first used late runs later;
    an operation that is the last user of large operands runs earlier. The operands and the computation of each operation do not
    change, so results are bit-identical.

    ```mlir
    %g = mtc.contract %d, %x ...  // larger than %d, used only at the end
    %e = mtc.contract %d, %w ...  // peak memory of the step
    ...
    // becomes
    %e = mtc.contract %d, %w ...
    ...
    %g = mtc.contract %d, %x ...
    ```
  }];
  let statistics = [Statistic<"plans", "plans", "memory plans that verify moves">,
                    Statistic<"moves", "moves", "moves of operations that lower the peak">];
  let dependentDialects = ["::mtc::MtcDialect"];
}

def OrderMicroSteps : Pass<"mtc-order-micro-steps", "::mlir::ModuleOp"> {
  let summary = "order the parts of a pipeline stage's micro-steps";
  let description = [{
    Moves the operations on which no message to a later stage depends after all others, as `mtc-split-micro-steps` will do. The search
    then recomputes values where the backward part begins.
  }];
  let dependentDialects = ["::mtc::MtcDialect"];
}

def SplitMicroSteps : Pass<"mtc-split-micro-steps", "::mlir::ModuleOp"> {
  let summary = "split the micro-steps of a pipeline stage into their parts";
  let description = [{
    Moves the operations of a micro-step on which no message to a later stage depends to a function with the suffix `.backward`, if the stage receives
    gradients. The forward part stores the values that the backward part needs in slots, which have as many copies as those of
    messages. A value that a message sends has its slot already. Reads of variables that no micro-step writes, and views, are repeated.

    ```mlir
    func.func @micro_step() {
      %x = mtc.read @in : tensor<8xf32>       // a slot of a received message
      %y = mtc.kernel [8](%x) ...
      %z = mtc.kernel [8](%y) ...
      mtc.write @out, %z : tensor<8xf32>      // a slot of a sent message
      %g = mtc.read @out.grad : tensor<8xf32> // a slot of a received message with gradients
      %d = mtc.kernel [8](%g, %y) ...
      mtc.write @in.grad, %d : tensor<8xf32>
      return
    }
    // becomes
    mtc.variable slot @mtc.slot.micro_step.saved.0 copies 2 : tensor<8xf32> = #mtc.zeros
    func.func @micro_step() {
      %x = mtc.read @in : tensor<8xf32>
      %y = mtc.kernel [8](%x) ...
      mtc.write @mtc.slot.micro_step.saved.0, %y : tensor<8xf32>
      %z = mtc.kernel [8](%y) ...
      mtc.write @out, %z : tensor<8xf32>
      return
    }
    func.func @micro_step.backward() {
      %g = mtc.read @out.grad : tensor<8xf32>
      %y = mtc.read @mtc.slot.micro_step.saved.0 : tensor<8xf32>
      %d = mtc.kernel [8](%g, %y) ...
      mtc.write @in.grad, %d : tensor<8xf32>
      return
    }
    ```
  }];
  let dependentDialects = ["::mtc::MtcDialect"];
}

def Allocate : Pass<"mtc-allocate", "::mlir::ModuleOp"> {
  let summary = "allocate the arena and lower functions to steps";
  let description = [{
    Assigns each variable and each function argument a slice of the arena. Values with disjoint live ranges share memory. An
    elementwise result is computed in place in an operand that dies at the same operation, and a value that is written to a
    variable is computed directly in the variable's slice. Variables that are read as one flat tensor are stored contiguously.
    Structurally equal kernels are outlined into one `mtc.kernel_function`.

    The functions of a program run sequentially, so their temporaries share memory, too.

    A kernel with operands in other memory spaces than its own is lowered to launches over windows of its rows, with copies to
    and from the slots of `mtc.transfer_slots`. `mtc.move` is lowered to a copy. All copies are synchronous until
    `mtc-overlap-copies` makes them asynchronous. `mtc.scan` is lowered to `mtc.repeat`. The temporaries of its body are allocated
    once, in the scratch memory of the scan.
  }];
  let dependentDialects = ["::mtc::MtcDialect", "::mlir::arith::ArithDialect", "::mlir::math::MathDialect"];
}

#endif // MTC_PASSES_MEMORY

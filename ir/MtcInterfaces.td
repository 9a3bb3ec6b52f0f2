//===- MtcInterfaces.td - What passes ask of operations -----------------------------------------===//
//
// A pass knows these interfaces and no operation; an operation implements them beside its definition.
//
//===----------------------------------------------------------------------------------------------===//

#ifndef MTC_IR_INTERFACES
#define MTC_IR_INTERFACES

include "mlir/IR/OpBase.td"

def GradientOpInterface : OpInterface<"GradientOpInterface"> {
  let cppNamespace = "::mtc";
  let description = [{
    The vector-Jacobian product of an operation. An operation without it carries the trait `ZeroGradient` or
    `NoGradient`.
  }];
  let methods = [InterfaceMethod<[{
      Gives, for each operand that `gradient.needs(i)`, the cotangent that follows from the results' cotangents, by
      `gradient.set(i, value)`; a needed operand that is not set gets none. The value has the operand's type.
    }], "void", "buildGradient", (ins "::mtc::GradientBuilder &":$gradient)>];
}

def CostOpInterface : OpInterface<"CostOpInterface"> {
  let cppNamespace = "::mtc";
  let description = "Arithmetic and memory traffic of one execution on its own.";
  let methods = [InterfaceMethod<"Floating-point operations and bytes read and written.",
      "::mtc::Cost", "getCost", (ins), "", [{
        return ::mtc::detail::defaultCost($_op.getOperation());
      }]>];
}

def PrecisionOpInterface : OpInterface<"PrecisionOpInterface"> {
  let cppNamespace = "::mtc";
  let description = "What a narrower storage type does to an operation.";
  let methods = [InterfaceMethod<"Contraction, range-sensitive or indifferent.",
      "::mtc::PrecisionClass", "getPrecisionClass", (ins), "", [{
        return ::mtc::PrecisionClass::Indifferent;
      }]>];
}

def RecomputableOpInterface : OpInterface<"RecomputableOpInterface"> {
  let cppNamespace = "::mtc";
  let description = "Whether executing an operation again gives the same bits.";
  let methods = [InterfaceMethod<"True for pure operations, counter-based random numbers included.",
      "bool", "isRecomputable", (ins), "", "return true;">];
}

def FusibleOpInterface : OpInterface<"FusibleOpInterface"> {
  let cppNamespace = "::mtc";
  let description = "An operation that a kernel can compute.";
  let methods = [
    InterfaceMethod<"The shape of the kernel that computes this operation alone.",
      "::mtc::FusibleShape", "getFusibleShape">,
    InterfaceMethod<[{
      Builds, at the builder's insertion point, the `mtc.kernel` that computes this operation alone; its results have
      the types of this operation's results.
    }], "::mlir::Operation *", "buildKernel", (ins "::mlir::OpBuilder &":$builder)>];
}

def ElementwiseOpInterface : OpInterface<"ElementwiseOpInterface"> {
  let cppNamespace = "::mtc";
  let description = "Each element of the one result depends on the operands' elements at the same index.";
  let methods = [InterfaceMethod<[{
      Computes one element in `arith` and `math` from the operands' elements, which have the scalar types of a kernel's
      body (`getScalarType` of the operands' element types).
    }], "::mlir::Value", "buildScalar",
      (ins "::mlir::OpBuilder &":$builder, "::mlir::Location":$loc, "::mlir::ValueRange":$operands)>];
}

def DecomposableOpInterface : OpInterface<"DecomposableOpInterface"> {
  let cppNamespace = "::mtc";
  let description = "A larger operation that the core can also say; it stays whole until after autodiff.";
  let methods = [InterfaceMethod<"Builds the same results from core operations.",
      "::llvm::SmallVector<::mlir::Value>", "decompose", (ins "::mtc::TensorBuilder &":$builder)>];
}

#endif // MTC_IR_INTERFACES

//===- CallInterfaces.td - What is asked of the description of a library call --------------------===//

#ifndef MTC_IR_CALL_INTERFACES
#define MTC_IR_CALL_INTERFACES

include "mlir/IR/OpBase.td"

def CallAttrInterface : AttrInterface<"CallAttrInterface"> {
  let cppNamespace = "::mtc";
  let description = [{
    What a library is told of one call: the attribute of `mtc.call`, and the record that a program's tables hold. There is
    one attribute a kind of call.
  }];
  let methods = [
    InterfaceMethod<"The name of the kind in the program's ABI, which ends with a 0.", "::llvm::StringRef", "getKind">,
    InterfaceMethod<"The record of the program's ABI. It lives as long as the context.", "::llvm::StringRef", "getBytes">,
    InterfaceMethod<"Arithmetic and memory traffic of one run.", "::mtc::Cost", "getCost">,
    InterfaceMethod<"The matrix products that the arithmetic is: what shape the operands of its units have.",
      "::mtc::MatrixProduct", "getProduct">,
    InterfaceMethod<"The operands and results that the library is given, in the ABI's order.", "::mtc::CallShapes",
      "getShapes">];
}

#endif // MTC_IR_CALL_INTERFACES

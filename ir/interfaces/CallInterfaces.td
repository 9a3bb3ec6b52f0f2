//===- CallInterfaces.td - Interface of library call descriptions --------------------------------===//

#ifndef MTC_IR_CALL_INTERFACES
#define MTC_IR_CALL_INTERFACES

include "mlir/IR/OpBase.td"

def CallAttrInterface : AttrInterface<"CallAttrInterface"> {
  let cppNamespace = "::mtc";
  let description = [{
    The description of a library call: the attribute of `mtc.call`, which corresponds to a record in the program's tables. Each
    kind of call has its own attribute.
  }];
  let methods = [
    InterfaceMethod<"Returns the kind's name in the program ABI, which is null-terminated.", "::llvm::StringRef", "getKind">,
    InterfaceMethod<"Returns the record of the program ABI, owned by the context.", "::llvm::StringRef", "getBytes">,
    InterfaceMethod<"Returns the arithmetic and memory traffic of one execution.", "::mtc::Cost", "getCost">,
    InterfaceMethod<"Returns the matrix multiplication that the call performs.",
      "::mtc::MatrixProduct", "getProduct">,
    InterfaceMethod<"Returns the operands and results of the call, in the ABI's order.", "::mtc::CallShapes",
      "getShapes">,
    InterfaceMethod<"Returns the call with an algorithm, or with operands as stored; null if it does not have the algorithm.",
      "::mtc::CallAttrInterface", "withAlgorithm", (ins "::std::optional<::mtc::CallAlgorithm>":$algorithm), "", [{ return {}; }]>];
}

#endif // MTC_IR_CALL_INTERFACES

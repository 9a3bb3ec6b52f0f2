//===- OnnxOps.td - The generic form of an ONNX graph ------------------------------------------===//
//
// NodeOp represents a node of any operator: operator, version and attributes are data. Only the operator definitions in
// frontend/onnx/operators know the semantics.
//
//===----------------------------------------------------------------------------------------------===//

#ifndef MTC_FRONTEND_ONNX_OPS
#define MTC_FRONTEND_ONNX_OPS

include "mlir/IR/OpBase.td"
include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/BuiltinAttributeInterfaces.td"
include "mlir/IR/RegionKindInterface.td"
include "mlir/IR/SymbolInterfaces.td"
include "mlir/Interfaces/FunctionInterfaces.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

def OnnxDialect : Dialect {
  let name = "onnx";
  let cppNamespace = "::mtc::onnx";
  let summary = "ONNX graphs with generic nodes";
  let description = [{
    A value is a tensor, ranked if its rank is known and static if its extents are known. `tensor<*xT>` is a tensor of unknown
    rank. An operand or result that the model omits has type `none`. A value of unknown element type has type
    `tensor<*xindex>`, since ONNX has no index type.
  }];
}

class Onnx_Op<string mnemonic, list<Trait> traits = []> : Op<OnnxDialect, mnemonic, traits>;

def Onnx_Value : AnyTypeOf<[AnyTensor, NoneType], "tensor or none">;

def GraphOp : Onnx_Op<"graph", [IsolatedFromAbove, FunctionOpInterface, SingleBlockImplicitTerminator<"ReturnOp">]> {
  let summary = "a model's graph, or a model-local function before it is inlined";
  let description = [{
    Arguments are the graph's inputs, without initializers, and results are its outputs. Both carry `onnx.name`. A result with
    `onnx.optional` is removed if it cannot be computed. The argument attribute `onnx.dims` holds the names of symbolic
    dimensions as written in the file.

    ```mlir
    onnx.graph @main(%x: tensor<32x64xf32> {onnx.name = "x"}) -> (tensor<32x10xf32> {onnx.name = "logits"}) {
      %w = onnx.initializer "fc.weight" : tensor<10x64xf32>
      %y = onnx.node "Gemm" version 13 (%x, %w) {transB = 1 : si64}
             : (tensor<32x64xf32>, tensor<10x64xf32>) -> tensor<32x10xf32>
      onnx.return %y : tensor<32x10xf32>
    }
    ```
  }];
  let arguments = (ins SymbolNameAttr:$sym_name, TypeAttrOf<FunctionType>:$function_type,
                       OptionalAttr<DictArrayAttr>:$arg_attrs, OptionalAttr<DictArrayAttr>:$res_attrs);
  let regions = (region SizedRegion<1>:$body);
  let hasCustomAssemblyFormat = 1;
  let extraClassDeclaration = [{
    mlir::ArrayRef<mlir::Type> getArgumentTypes() { return getFunctionType().getInputs(); }
    mlir::ArrayRef<mlir::Type> getResultTypes() { return getFunctionType().getResults(); }
    mlir::Region *getCallableRegion() { return &getBody(); }
  }];
}

def ReturnOp : Onnx_Op<"return", [Pure, Terminator, ParentOneOf<["GraphOp", "NodeOp"]>]> {
  let summary = "return the outputs of a graph or of a node's subgraph";
  let arguments = (ins Variadic<Onnx_Value>:$values);
  let builders = [OpBuilder<(ins)>];
  let assemblyFormat = "($values^ `:` type($values))? attr-dict";
}

def InitializerOp : Onnx_Op<"initializer", [Pure]> {
  let summary = "an initializer whose data is stored in the model's file";
  let description = [{
    `role` is the initializer's classification: `parameter`, `constant`, `state` or `frozen` (a parameter that is not trained).
    It is absent before classification. `reason` explains the role. `module_name` is the name in the user's module, if the
    exporter lost it. `missing` marks an initializer whose external data file was not found. `module_images`,
    `pretrained_images` and `file_images` list the tensors of the user's module, of files of `save_pretrained` and the other
    initializers of the file that hold the same elements, as in `mtc.variable`. `split_from` names the initializer of the file whose data this one shares, because the exporter stored
    several parameters as one.

    Until parameters are chosen, `kind` is the exporter's own classification, and `sample` holds the first elements of a
    floating-point tensor, or all elements of a small one.

    ```mlir
    %w = onnx.initializer "fc.weight" {role = "parameter"} : tensor<10x64xf32>
    ```
  }];
  let arguments = (ins StrAttr:$name, OptionalAttr<StrAttr>:$role, OptionalAttr<StrAttr>:$reason,
                       OptionalAttr<StrAttr>:$module_name, OptionalAttr<ArrayAttr>:$module_images,
                       OptionalAttr<ArrayAttr>:$pretrained_images,
                       OptionalAttr<ArrayAttr>:$file_images, UnitAttr:$missing, OptionalAttr<StrAttr>:$split_from,
                       OptionalAttr<StrAttr>:$kind, OptionalAttr<ElementsAttr>:$sample);
  let results = (outs AnyTensor:$value);
  let assemblyFormat = "$name attr-dict `:` type($value)";
  let builders = [OpBuilder<(ins "::mlir::RankedTensorType":$type, "::llvm::StringRef":$name)>];
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    /// Returns the name of the data in the model's file.
    ::llvm::StringRef getSource() { return getSplitFrom().value_or(getName()); }
  }];
}

def BufferOp : Onnx_Op<"buffer", [HasParent<"GraphOp">]> {
  let summary = "a tensor of the user's module that no node uses";
  let description = [{
    Represents a buffer that the exporter dropped or folded but that is part of the module's state. It is converted to
    `mtc.buffer`.

    ```mlir
    onnx.buffer "bn.num_batches_tracked" counts_batches = dense<0> : tensor<i64>
    ```
  }];
  let arguments = (ins StrAttr:$name, UnitAttr:$counts_batches, ElementsAttr:$value, OptionalAttr<StrAttr>:$pretrained_name);
  let assemblyFormat = "$name (`counts_batches` $counts_batches^)? `=` $value attr-dict";
}

def ConstantOp : Onnx_Op<"constant", [Pure]> {
  let summary = "a constant: a Constant node, a folded value or a bound input";
  let description = [{
    The elements of `value` repeat along axes for which `value` has an extent of 1 and the result a larger one.

    ```mlir
    %rows = onnx.constant dense<[[1.0, 2.0]]> : tensor<1x2xf32> -> tensor<8x2xf32>
    ```
  }];
  let arguments = (ins ElementsAttr:$value);
  let results = (outs AnyStaticShapeTensor:$output);
  let assemblyFormat = "$value attr-dict `->` type($output)";
  let hasVerifier = 1;
}

def NoneOp : Onnx_Op<"none", [Pure]> {
  let summary = "an omitted operand";
  let results = (outs NoneType:$value);
  let assemblyFormat = "attr-dict";
}

def NodeOp : Onnx_Op<"node"> {
  let summary = "a node: operator, version, operands and attributes";
  let description = [{
    `version` is the opset that last changed the applicable definition of the operator if the frontend knows it, otherwise the
    model's opset for the operator's domain. `domain` is absent for ai.onnx. Attributes keep their ONNX kind: INT is si64,
    FLOAT f32, STRING string, INTS `array<i64>`, FLOATS `array<f32>`, STRINGS an array of strings, and TENSOR elements.
    `unsupported_attributes` records attributes of other kinds, such as GRAPHS, by name and kind.

    Attributes of kind GRAPH are the regions `graphs`, in the order of `graph_names`. Block arguments are the subgraph's inputs,
    and `onnx.return` returns its outputs. A subgraph may use values of the enclosing graphs.

    ```mlir
    %y = onnx.node "Softmax" version 13 (%x) {axis = -1 : si64} : (tensor<2x3xf32>) -> tensor<2x3xf32>
    %z = onnx.node "If" version 16 (%c) {} graphs ["then_branch", "else_branch"] {
      onnx.return %x : tensor<2x3xf32>
    }, {
      onnx.return %y : tensor<2x3xf32>
    } : (tensor<i1>) -> tensor<2x3xf32>
    ```
  }];
  let arguments = (ins StrAttr:$op_type, I64Attr:$version, OptionalAttr<StrAttr>:$domain, DictionaryAttr:$node_attributes,
                       Variadic<Onnx_Value>:$inputs, OptionalAttr<StrArrayAttr>:$graph_names);
  let results = (outs Variadic<Onnx_Value>:$outputs);
  let regions = (region VariadicRegion<SizedRegion<1>>:$graphs);
  let assemblyFormat = [{
    (`domain` $domain^)? $op_type `version` $version `(` $inputs `)` $node_attributes (`graphs` $graph_names^ $graphs)?
      attr-dict `:` functional-type($inputs, $outputs)
  }];
  // Builders of nodes without subgraphs.
  let builders = [
    OpBuilder<(ins "::mlir::TypeRange":$outputs, "::mlir::StringAttr":$opType, "::mlir::IntegerAttr":$version,
                   "::mlir::StringAttr":$domain, "::mlir::DictionaryAttr":$attributes, "::mlir::ValueRange":$inputs)>,
    OpBuilder<(ins "::mlir::TypeRange":$outputs, "::llvm::StringRef":$opType, "uint64_t":$version,
                   "::mlir::StringAttr":$domain, "::mlir::DictionaryAttr":$attributes, "::mlir::ValueRange":$inputs)>];
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    /// Returns whether the node is an instance of this ai.onnx operator.
    bool isOperator(::llvm::StringRef type) { return getDomain().value_or("").empty() && getOpType() == type; }
    /// Returns the subgraph of this attribute, or null if there is none.
    ::mlir::Region *getGraph(::llvm::StringRef name);
  }];
}

#endif // MTC_FRONTEND_ONNX_OPS

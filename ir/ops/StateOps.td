//===- StateOps.td - State that outlives a step -------------------------------------------------===//

#ifndef MTC_IR_STATE_OPS
#define MTC_IR_STATE_OPS

include "ir/attributes/TensorImage.td"

def VariableOp : Mtc_Op<"variable", [Symbol]> {
  let summary = "a tensor that outlives a step";
  let description = [{
    The symbol is the ONNX initializer's name for parameters, constants and state. `of` names the parameter that a
    gradient, an optimizer state or an average over the steps belongs to; `at` is its byte offset in the arena of its space, once allocated; `module_name` is the name in the user's module where the exporter lost it.
    `module_images` are the tensors of the user's module that hold the variable, in groups of which each holds all of it: several
    where the module has several names for one tensor. Without the attribute it is the tensor of the variable's own name; an empty
    list says that its name in the module is not known. `file_images` are further initializers of the model's file that hold it.
    A variable `in` another space than the device's lies there between its uses: kernels that read and write it run in windows
    (`mtc.staging`), through memory of the device.
    A `transient` variable is written by one function and read when that has run: it has a slice of that function's arena alone.

    ```mlir
    mtc.variable parameter @fc.weight : tensor<10x64xf32> = #mtc.initializer<"fc.weight">
    mtc.variable gradient @fc.weight.grad : tensor<10x64xf32> = #mtc.zeros of @fc.weight
    mtc.variable scalar @mtc.step : tensor<i64> = #mtc.scalar<step>
    mtc.variable optimizer @fc.weight.moment1 in disk : tensor<10x64xf32> = #mtc.zeros of @fc.weight
    ```

    * variable_c1: the initial value is #mtc.initializer, #mtc.normal, #mtc.uniform, #mtc.zeros, #mtc.as_parameter, #mtc.scalar or elements
      of the variable's type.
    * variable_c2: a `scalar`, and nothing else, is a #mtc.scalar, of the type that the runtime writes.
    * variable_c3: what starts as its parameter has one.
    * variable_c4: a #mtc.stored is the value of a frozen variable, whose type says what it is stored in.
    * variable_c5: a scalar, a gradient and a transient variable lie on the device.
    * variable_c6: images are #mtc.tensor_image whose parts lie within the variable; each group of module images holds every element
      once, and file images have no other elements.
  }];
  let arguments = (ins Mtc_RoleAttr:$role, SymbolNameAttr:$sym_name, TypeAttr:$type, AnyAttr:$initial,
                       OptionalAttr<FlatSymbolRefAttr>:$of, OptionalAttr<StrAttr>:$module_name,
                       OptionalAttr<Mtc_TensorImageArrayAttr>:$module_images,
                       OptionalAttr<Mtc_TensorImageArrayAttr>:$file_images, OptionalAttr<I64Attr>:$offset, UnitAttr:$transient,
                       DefaultValuedAttr<Mtc_MemorySpaceAttr, "::mtc::MemorySpace::Device">:$space);
  let assemblyFormat = "$role (`transient` $transient^)? $sym_name (`in` $space^)? `:` $type `=` $initial (`of` $of^)? (`at` $offset^)? attr-dict";
  let builders = [
    OpBuilder<(ins "::mtc::Role":$role, "const ::llvm::Twine &":$name, "::mlir::Type":$type, "::mlir::Attribute":$initial,
                   CArg<"::mlir::FlatSymbolRefAttr", "{}">:$of, CArg<"::mlir::StringAttr", "{}">:$moduleName)>];
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    ::mlir::RankedTensorType getTensorType() { return ::mlir::cast<::mlir::RankedTensorType>(getType()); }
    /// Of the initial value, which may be stored as another type.
    ::mlir::RankedTensorType getSourceType();

    /// The variable of a scalar that the runtime writes, which a module without gets at `end`.
    static VariableOp findOrAddScalar(::mlir::SymbolTable &symbols, ::mtc::RuntimeScalar scalar, ::mlir::Block::iterator end);
  }];
}

def BufferOp : Mtc_Op<"buffer", [HasParent<"::mlir::ModuleOp">]> {
  let summary = "a tensor of the user's module that no step reads";
  let description = [{
    `--export-weights` writes it, so that the module finds all of its state. One that `counts_batches` is the value plus the number of
    batches that were trained.

    ```mlir
    mtc.buffer "bn.num_batches_tracked" counts_batches = dense<0> : tensor<i64>
    ```

    * buffer_c1: a count is one integer.
  }];
  let arguments = (ins StrAttr:$name, UnitAttr:$counts_batches, ElementsAttr:$value);
  let assemblyFormat = "$name (`counts_batches` $counts_batches^)? `=` $value attr-dict";
  let hasVerifier = 1;
}

def AdapterOp : Mtc_Op<"adapter", [HasParent<"::mlir::ModuleOp">, DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "two small matrices that adapt a frozen one";
  let description = [{
    Stands for `base + alpha / rank * up down`, where `rank` is the extent between the two (Hu et al., "LoRA: Low-Rank Adaptation of
    Large Language Models", 2021). `axis` of the base is the one that inputs are multiplied along: 1 of a matrix [out, in].

    ```mlir
    mtc.adapter @fc.weight axis 1 down @fc.lora_A.weight up @fc.lora_B.weight alpha 1.600000e+01
    ```

    * adapter_c1: the symbols name a frozen variable and two parameters.
    * adapter_c2: the base is a matrix, down is [rank, in] and up is [out, rank].
  }];
  let arguments = (ins FlatSymbolRefAttr:$base, I64Attr:$axis, FlatSymbolRefAttr:$down, FlatSymbolRefAttr:$up, F64Attr:$alpha);
  let assemblyFormat = "$base `axis` $axis `down` $down `up` $up `alpha` $alpha attr-dict";
}

def ReadOp : Mtc_Op<"read", [MemoryEffects<[MemRead]>, DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "the value of a variable";
  let description = [{
    ```mlir
    %w = mtc.read @fc.weight : tensor<10x64xf32>
    ```

    * state_c1: the symbol names a variable of the value's type.
  }];
  let arguments = (ins FlatSymbolRefAttr:$variable);
  let results = (outs Mtc_Tensor:$result);
  let assemblyFormat = "$variable attr-dict `:` type($result)";
}

def WriteOp : Mtc_Op<"write", [MemoryEffects<[MemWrite]>, DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "gives a variable a new value";
  let arguments = (ins FlatSymbolRefAttr:$variable, Mtc_Tensor:$value);
  let assemblyFormat = "$variable `,` $value attr-dict `:` type($value)";
}

def ReadFlatOp : Mtc_Op<"read_flat", [MemoryEffects<[MemRead]>, DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "the values of several variables as one flat tensor";
  let description = [{
    The variables lie one after another in the arena, each padded to a multiple of 64 bytes; the padding belongs to the
    flat tensor, so that one kernel updates them all. It starts as zeros.

    ```mlir
    %p = mtc.read_flat [@a, @b] : tensor<48xf32>
    ```

    * flat_c1: the symbols name variables of the flat tensor's element type, whose padded sizes add up to its own.
  }];
  let arguments = (ins FlatSymbolRefArrayAttr:$variables);
  let results = (outs Mtc_Tensor:$result);
  let assemblyFormat = "$variables attr-dict `:` type($result)";
}

def WriteFlatOp : Mtc_Op<"write_flat", [MemoryEffects<[MemWrite]>, DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "gives several variables new values from one flat tensor";
  let arguments = (ins FlatSymbolRefArrayAttr:$variables, Mtc_Tensor:$value);
  let assemblyFormat = "$variables `,` $value attr-dict `:` type($value)";
}

def MoveOp : Mtc_Op<"move", [Pure, SameOperandsAndResultType]> {
  let summary = "a value, in memory of another space";
  let description = [{
    Kernels and library calls read values on the device. What is moved away from there frees its memory until it is moved
    back; copies run while other operations do.

    ```mlir
    %away = mtc.move %x to disk : tensor<64xf32>
    ...
    %back = mtc.move %away to device : tensor<64xf32>
    ```
  }];
  let arguments = (ins Mtc_Tensor:$value, Mtc_MemorySpaceAttr:$space);
  let results = (outs Mtc_Tensor:$result);
  let assemblyFormat = "$value `to` $space attr-dict `:` type($result)";
}

def HoldOp : Mtc_Op<"hold", [MemoryEffects<[MemWrite]>]> {
  let summary = "keeps the memory of values until here";
  let description = [{
    Copies that read the values may run until then: what runs before does not take their memory, and so does not wait.

    ```mlir
    %away = mtc.move %x to disk : tensor<64xf32>
    %y = mtc.kernel ...
    mtc.hold %x : tensor<64xf32>
    ```
  }];
  let arguments = (ins Variadic<Mtc_Tensor>:$values);
  let assemblyFormat = "$values attr-dict `:` type($values)";
}

#endif // MTC_IR_STATE_OPS

//===- TensorImage.td - Tensors of other files that hold the elements of variables --------------===//

#ifndef MTC_IR_TENSOR_IMAGE
#define MTC_IR_TENSOR_IMAGE

include "ir/MtcBase.td"

def Mtc_ImagePartAttr : Mtc_Attr<"ImagePart", "image_part"> {
  let summary = "elements of a variable, and where an image of it holds them";
  let description = [{
    Element i of the part, `0 <= i[a] < extents[a]`, is element `variable + sum of i[a] * variable_strides[a]` of the variable and
    element `image + sum of i[a] * image_strides[a]` of the image, both counted in row-major order.
  }];
  let parameters = (ins "int64_t":$variable, "int64_t":$image, ArrayRefParameter<"int64_t">:$extents,
                        ArrayRefParameter<"int64_t">:$variable_strides, ArrayRefParameter<"int64_t">:$image_strides);
  let assemblyFormat = [{
    `<` `variable` `=` $variable `,` `image` `=` $image `,` `extents` `=` custom<Integers>($extents) `,`
        `variable_strides` `=` custom<Integers>($variable_strides) `,` `image_strides` `=` custom<Integers>($image_strides) `>`
  }];
  let extraClassDeclaration = [{
    int64_t getNumElements();
  }];
}

def Mtc_TensorImageAttr : Mtc_Attr<"TensorImage", "tensor_image"> {
  let summary = "a tensor of another file that holds elements of a variable";
  let description = [{
    The tensor has a name, a shape and an order of elements of its own. Without `parts` it holds all elements of the variable, in
    their order. Several variables may have parts of one tensor, such as a matrix that an exporter split.

    ```mlir
    // A matrix, and its transpose.
    #mtc.tensor_image<"fc.weight", shape = [10, 64]>
    #mtc.tensor_image<"fc.weight", shape = [64, 10], parts = [
      <variable = 0, image = 0, extents = [64, 10], variable_strides = [1, 64], image_strides = [10, 1]>]>
    ```

    * tensor_image_c1: the name is not empty, and the shape is that of a tensor.
    * tensor_image_c2: a part has at least one axis, extents and strides of at least 1, and no element of the image twice.
    * tensor_image_c3: parts lie within the image, and hold no more elements than it has.
  }];
  let parameters = (ins StringRefParameter<>:$name, OptionalArrayRefParameter<"int64_t">:$shape,
                        OptionalArrayRefParameter<"::mtc::ImagePartAttr">:$parts);
  let assemblyFormat = "`<` $name `,` `shape` `=` custom<Integers>($shape) `` custom<Parts>($parts) `>`";
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    /// All elements of a variable, in their order; `shape` may be another one of as many elements.
    static TensorImageAttr whole(::mlir::MLIRContext *context, ::llvm::StringRef name, ::llvm::ArrayRef<int64_t> shape);
    /// The variable of this shape with other orders of axes: axis i of the image is axis `permutation[i]` of the variable.
    static TensorImageAttr transposed(::mlir::MLIRContext *context, ::llvm::StringRef name, ::llvm::ArrayRef<int64_t> shape,
                                      ::llvm::ArrayRef<int64_t> permutation);

    /// Whether it holds all elements of its variable in their order.
    bool isWhole() { return getParts().empty(); }
    /// How many elements the tensor has.
    int64_t getNumElements();
    /// How many of them are the variable's.
    int64_t countHeld();
  }];
}
def Mtc_TensorImageArrayAttr : TypedArrayAttrBase<Mtc_TensorImageAttr, "tensor images">;

#endif // MTC_IR_TENSOR_IMAGE

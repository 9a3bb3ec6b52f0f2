//===- ElementwiseOps.td - Elementwise operations -----------------------------------------------===//
//
// Each record defines an operation completely: `scalarCode` computes one element from x (and y), and the gradient code computes
// the operand's cotangent from dy, the operands and the result y. Scalar code uses the builder `b` and the location `loc`;
// gradient code builds tensors with `g`. The values that the gradient code uses are the saved activations.
//
//===----------------------------------------------------------------------------------------------===//

#ifndef MTC_IR_ELEMENTWISE_OPS
#define MTC_IR_ELEMENTWISE_OPS

include "ir/MtcBase.td"

class Mtc_ElementwiseOp<string mnemonic, list<Trait> traits>
    : Mtc_ValueOp<mnemonic, !listconcat([Elementwise, DeclareOpInterfaceMethods<ElementwiseOpInterface>, Mtc_Fusible,
                                         Mtc_Transposable], traits)> {
  code elementwiseDefinition = [{
    ::mtc::FusibleShape $cppClass::getFusibleShape() { return ::mtc::FusibleShape::Elementwise; }
    ::mlir::Operation *$cppClass::buildKernel(::mlir::OpBuilder &builder) {
      return ::mtc::detail::buildElementwiseKernel(getOperation(), builder);
    }
    ::mtc::TransposedResult $cppClass::buildOnTransposed(::mtc::TensorBuilder &builder, unsigned operand) {
      return ::mtc::detail::buildElementwiseOnTransposed(getOperation(), builder, operand);
    }
    ::mlir::Value $cppClass::buildScalar(::mlir::OpBuilder &b, ::mlir::Location loc, ::mlir::ValueRange operands) {
      using namespace ::mlir;
      [[maybe_unused]] bool isFloat = isa<FloatType>(operands.back().getType());
      [[maybe_unused]] bool isUnsigned =
          ::mtc::isUnsigned(cast<RankedTensorType>(getOperation()->getOperand(0).getType()).getElementType());
  }];
}

//===----------------------------------------------------------------------------------------------===//
// Unary
//===----------------------------------------------------------------------------------------------===//

class Mtc_UnaryBase<string mnemonic, TypeConstraint type, list<Trait> traits>
    : Mtc_ElementwiseOp<mnemonic, !listconcat([SameOperandsAndResultType], traits)> {
  let arguments = (ins type:$input);
  let results = (outs type:$result);
  let assemblyFormat = "$input attr-dict `:` type($input)";
}

// A unary operation with a gradient rule, an expression of dy, x and y over `g`.
class Mtc_UnaryOp<string mnemonic, string text, string scalarCode, string gradientCode,
                  TypeConstraint type = Mtc_FloatTensor, list<Trait> traits = []>
    : Mtc_UnaryBase<mnemonic, type, !listconcat([Mtc_Gradient], traits)> {
  let summary = text;
  let extraClassDefinition = elementwiseDefinition # [{
      Value x = operands[0];
      return }] # scalarCode # [{;
    }
    void $cppClass::buildGradient(::mtc::GradientBuilder &g) {
      using namespace ::mlir;
      [[maybe_unused]] Value x = getInput(), y = getResult(), dy = g.cotangent(0);
      g.set(0, }] # gradientCode # [{);
    }
  }];
}

// A unary operation with a zero derivative wherever it is differentiable.
class Mtc_FlatUnaryOp<string mnemonic, string text, string scalarCode, TypeConstraint type = Mtc_FloatTensor>
    : Mtc_UnaryBase<mnemonic, type, [Mtc_ZeroGradient]> {
  let summary = text;
  let extraClassDefinition = elementwiseDefinition # [{
      Value x = operands[0];
      return }] # scalarCode # [{;
    }
  }];
}

def NegOp : Mtc_UnaryOp<"neg", "y = -x",
  "isFloat ? arith::NegFOp::create(b, loc, x).getResult() : arith::SubIOp::create(b, loc, ::mtc::scalarConstant(b, loc, x.getType(), 0), x).getResult()",
  "g.neg(dy)", Mtc_NumberTensor, [Mtc_Additive]> { let hasFolder = 1; }
// The derivative at 0 is taken as 0, the middle of the one-sided limits.
def AbsOp : Mtc_UnaryOp<"abs", "y = |x|",
  "isFloat ? math::AbsFOp::create(b, loc, x).getResult() : math::AbsIOp::create(b, loc, x).getResult()",
  "g.mul(dy, g.sign(x))", Mtc_NumberTensor>;
def ExpOp : Mtc_UnaryOp<"exp", "y = e^x", "math::ExpOp::create(b, loc, x)", "g.mul(dy, y)"> {
  let extraClassDeclaration = !strconcat(rangeSensitive, unbounded);
}
// The derivative is e^x and not y + 1, which loses all digits of e^x for very negative x.
def Expm1Op : Mtc_UnaryOp<"expm1", "y = e^x - 1, exact near 0", "math::ExpM1Op::create(b, loc, x)",
  "g.mul(dy, g.exp(x))"> { let extraClassDeclaration = unbounded; }
def LogOp : Mtc_UnaryOp<"log", "y = ln x", "math::LogOp::create(b, loc, x)", "g.div(dy, x)"> {
  let extraClassDeclaration = !strconcat(rangeSensitive, unbounded);
}
def Log1pOp : Mtc_UnaryOp<"log1p", "y = ln(1 + x), exact near 0", "math::Log1pOp::create(b, loc, x)",
  "g.div(dy, g.add(x, g.splat(x, 1.0)))"> { let extraClassDeclaration = unbounded; }
// The derivative at 0 is infinite, and so is the gradient, as in PyTorch.
def SqrtOp : Mtc_UnaryOp<"sqrt", "y = x^(1/2)", "math::SqrtOp::create(b, loc, x)",
  "g.div(dy, g.mul(y, g.splat(y, 2.0)))"> { let extraClassDeclaration = unbounded; }
def RsqrtOp : Mtc_UnaryOp<"rsqrt", "y = x^(-1/2)",
  "arith::DivFOp::create(b, loc, ::mtc::scalarConstant(b, loc, x.getType(), 1), math::SqrtOp::create(b, loc, x))",
  "g.mul(g.mul(dy, g.splat(y, -0.5)), g.mul(y, g.mul(y, y)))"> { let extraClassDeclaration = unbounded; }
def TanhOp : Mtc_UnaryOp<"tanh", "y = tanh x", "math::TanhOp::create(b, loc, x)",
  "g.mul(dy, g.sub(g.splat(y, 1.0), g.mul(y, y)))">;
// For very negative x, e^-x is infinite and the quotient is 0, the correct limit; the gradient only depends on y.
def LogisticOp : Mtc_UnaryOp<"logistic", "y = 1 / (1 + e^-x)", "::mtc::detail::buildLogistic(b, loc, x)",
  "g.mul(dy, g.mul(y, g.sub(g.splat(y, 1.0), y)))">;
def ErfOp : Mtc_UnaryOp<"erf", "y = 2/sqrt(pi) * integral of e^(-t^2) from 0 to x", "math::ErfOp::create(b, loc, x)",
  "g.mul(g.mul(dy, g.splat(x, 1.1283791670955126)), g.exp(g.neg(g.mul(x, x))))">;
def SinOp : Mtc_UnaryOp<"sin", "y = sin x", "math::SinOp::create(b, loc, x)", "g.mul(dy, g.cos(x))">;
def CosOp : Mtc_UnaryOp<"cos", "y = cos x", "math::CosOp::create(b, loc, x)", "g.neg(g.mul(dy, g.sin(x)))">;
// The derivative at -1 and 1 is infinite, and so is the gradient, as in PyTorch. 1 - x² is computed as a product, which keeps its
// precision near these points.
def AsinOp : Mtc_UnaryOp<"asin", "y with sin y = x, from -pi/2 to pi/2", "math::AsinOp::create(b, loc, x)",
  "g.mul(dy, g.rsqrt(g.mul(g.sub(g.splat(x, 1.0), x), g.add(g.splat(x, 1.0), x))))"> { let extraClassDeclaration = unbounded; }
def AcosOp : Mtc_UnaryOp<"acos", "y with cos y = x, from 0 to pi", "math::AcosOp::create(b, loc, x)",
  "g.neg(g.mul(dy, g.rsqrt(g.mul(g.sub(g.splat(x, 1.0), x), g.add(g.splat(x, 1.0), x)))))"> { let extraClassDeclaration = unbounded; }
def AtanOp : Mtc_UnaryOp<"atan", "y with tan y = x, from -pi/2 to pi/2", "math::AtanOp::create(b, loc, x)",
  "g.div(dy, g.add(g.splat(x, 1.0), g.mul(x, x)))">;
def FloorOp : Mtc_FlatUnaryOp<"floor", "the largest integer not greater than x", "math::FloorOp::create(b, loc, x)">;
def CeilOp : Mtc_FlatUnaryOp<"ceil", "the smallest integer not less than x", "math::CeilOp::create(b, loc, x)">;
def RoundOp : Mtc_FlatUnaryOp<"round", "the nearest integer, with ties to even", "math::RoundEvenOp::create(b, loc, x)">;
def SignOp : Mtc_FlatUnaryOp<"sign", "-1, 0 or 1, or NaN for NaN", "::mtc::detail::buildSign(b, loc, x, isUnsigned)", Mtc_NumberTensor>;
def NotOp : Mtc_FlatUnaryOp<"not", "bitwise complement",
  "arith::XOrIOp::create(b, loc, x, ::mtc::scalarConstant(b, loc, x.getType(), -1))", Mtc_BitsTensor>;

def IsNanOp : Mtc_ElementwiseOp<"is_nan", [SameOperandsAndResultShape, Mtc_ZeroGradient]> {
  let summary = "whether x is NaN";
  let arguments = (ins Mtc_FloatTensor:$input);
  let results = (outs Mtc_BoolTensor:$result);
  let assemblyFormat = "$input attr-dict `:` type($input) `->` type($result)";
  let extraClassDefinition = elementwiseDefinition # [{
      return arith::CmpFOp::create(b, loc, arith::CmpFPredicate::UNO, operands[0], operands[0]);
    }
  }];
}

def CastOp : Mtc_ElementwiseOp<"cast", [SameOperandsAndResultShape, Mtc_Additive, Mtc_Gradient]> {
  let summary = "element type conversion";
  let description = [{
    Conversion to a narrower float type rounds to nearest even. Conversion from float to integer truncates towards zero; a value
    out of range yields an unspecified integer. Conversion to i1 is `x != 0`. Between floats the gradient is the converted
    cotangent; integers have none.

    A cast `as storage` only specifies how a value is stored in memory: values that stay in registers are not rounded.

    ```mlir
    %s = mtc.cast %x as storage : tensor<4x8xf32> -> tensor<4x8xbf16>
    ```
  }];
  let arguments = (ins Mtc_Tensor:$input, UnitAttr:$storage);
  let results = (outs Mtc_Tensor:$result);
  let assemblyFormat = "$input (`as` `storage` $storage^)? attr-dict `:` type($input) `->` type($result)";
  let builders = [OpBuilder<(ins "::mlir::Type":$result, "::mlir::Value":$input), [{
    build($_builder, $_state, result, input, /*storage=*/false);
  }]>];
  let hasFolder = 1;
  let extraClassDefinition = elementwiseDefinition # [{
      Type type = ::mtc::getScalarType(getResult().getType().getElementType());
      if (getStorage() && operands[0].getType() == type)
        return operands[0]; // Loads extend and stores round the value.
      return ::mtc::convertScalar(b, loc, operands[0], getInput().getType().getElementType(),
                                  getResult().getType().getElementType());
    }
    void $cppClass::buildGradient(::mtc::GradientBuilder &g) {
      if (isa<FloatType>(getResult().getType().getElementType()))
        g.set(0, g.cast(g.cotangent(0), getInput().getType().getElementType()));
    }
  }];
}

// Kalamkar et al., "A Study of BFLOAT16 for Deep Learning Training", 2019: an f32 split into two 16-bit halves. The high half is
// a bf16 to compute with. Ties are rounded away from zero, so that the low half is signed.
class Mtc_HalfOp<string mnemonic, Type element, string scalarCode>
    : Mtc_ElementwiseOp<mnemonic, [SameOperandsAndResultShape, Mtc_NoGradient]> {
  let arguments = (ins TensorOf<[F32]>:$input);
  let results = (outs TensorOf<[element]>:$result);
  let assemblyFormat = "$input attr-dict `:` type($input) `->` type($result)";
  let extraClassDeclaration = rangeSensitive;
  let extraClassDefinition = elementwiseDefinition # [{
      Value bits = arith::BitcastOp::create(b, loc, b.getI32Type(), operands[0]);
      return }] # scalarCode # [{;
    }
  }];
}

def HighHalfOp : Mtc_HalfOp<"high_half", BF16, "::mtc::detail::buildHighHalf(b, loc, bits)"> {
  let summary = "the bf16 nearest to an f32, ties away from zero";
}
def LowHalfOp : Mtc_HalfOp<"low_half", I16, "arith::TruncIOp::create(b, loc, b.getI16Type(), bits)"> {
  let summary = "the low 16 bits of an f32 as a signed integer";
  let description = "`mtc.join_halves` adds the low half to the bits of the high half.";
}

def JoinHalvesOp : Mtc_ElementwiseOp<"join_halves", [SameOperandsAndResultShape, Mtc_NoGradient]> {
  let summary = "the f32 that was split into two halves, exactly";
  let description = [{
    ```mlir
    %w = mtc.join_halves %high, %low : tensor<4xbf16>, tensor<4xi16> -> tensor<4xf32>
    ```
  }];
  let arguments = (ins TensorOf<[BF16]>:$high, TensorOf<[I16]>:$low);
  let results = (outs TensorOf<[F32]>:$result);
  let assemblyFormat = "$high `,` $low attr-dict `:` type($high) `,` type($low) `->` type($result)";
  let extraClassDeclaration = rangeSensitive;
  let extraClassDefinition = elementwiseDefinition # [{
      Value high = arith::BitcastOp::create(b, loc, b.getI32Type(), operands[0]);
      Value low = arith::ExtSIOp::create(b, loc, b.getI32Type(), operands[1]);
      return arith::BitcastOp::create(b, loc, b.getF32Type(), arith::AddIOp::create(b, loc, high, low));
    }
  }];
}

def DetachOp : Mtc_UnaryBase<"detach", Mtc_Tensor, [Mtc_ZeroGradient, Mtc_View]> {
  let summary = "stop-gradient";
  let extraClassDefinition = elementwiseDefinition # [{
      return operands[0];
    }
  }];
}

//===----------------------------------------------------------------------------------------------===//
// Binary
//===----------------------------------------------------------------------------------------------===//

class Mtc_BinaryBase<string mnemonic, TypeConstraint type, list<Trait> traits>
    : Mtc_ElementwiseOp<mnemonic, !listconcat([SameOperandsAndResultType], traits)> {
  let arguments = (ins type:$lhs, type:$rhs);
  let results = (outs type:$result);
  let assemblyFormat = "$lhs `,` $rhs attr-dict `:` type($lhs)";
}

// A binary operation with a gradient rule for each operand, expressions of dy, a, b and y over `g`.
class Mtc_BinaryOp<string mnemonic, string text, string scalarCode, string lhsRule, string rhsRule,
                   TypeConstraint type = Mtc_NumberTensor, list<Trait> traits = []>
    : Mtc_BinaryBase<mnemonic, type, !listconcat([Mtc_Gradient], traits)> {
  let summary = text;
  let extraClassDefinition = elementwiseDefinition # [{
      Value x = operands[0], y = operands[1];
      return }] # scalarCode # [{;
    }
    void $cppClass::buildGradient(::mtc::GradientBuilder &g) {
      using namespace ::mlir;
      [[maybe_unused]] Value a = getLhs(), b = getRhs(), y = getResult(), dy = g.cotangent(0);
      if (g.needs(0))
        g.set(0, }] # lhsRule # [{);
      if (g.needs(1))
        g.set(1, }] # rhsRule # [{);
    }
  }];
}

class Mtc_LogicalOp<string mnemonic, string text, string scalarCode>
    : Mtc_BinaryBase<mnemonic, Mtc_BitsTensor, [Commutative, Mtc_ZeroGradient]> {
  let summary = text;
  let hasFolder = 0;
  let extraClassDefinition = elementwiseDefinition # [{
      Value x = operands[0], y = operands[1];
      return }] # scalarCode # [{;
    }
  }];
}

def AddOp : Mtc_BinaryOp<"add", "y = a + b", "::mtc::detail::arithmetic<arith::AddFOp, arith::AddIOp>(b, loc, x, y)",
  "dy", "dy", Mtc_NumberTensor, [Commutative, Mtc_Additive]> { let hasFolder = 1; }
def SubOp : Mtc_BinaryOp<"sub", "y = a - b", "::mtc::detail::arithmetic<arith::SubFOp, arith::SubIOp>(b, loc, x, y)",
  "dy", "g.neg(dy)", Mtc_NumberTensor, [Mtc_Additive]> { let hasFolder = 1; }
def MulOp : Mtc_BinaryOp<"mul", "y = a * b", "::mtc::detail::arithmetic<arith::MulFOp, arith::MulIOp>(b, loc, x, y)",
  "g.mul(dy, b)", "g.mul(dy, a)", Mtc_NumberTensor, [Commutative]> { let hasFolder = 1; }
// Integer division truncates towards zero.
def DivOp : Mtc_BinaryOp<"div", "y = a / b", "::mtc::detail::buildDivision(b, loc, x, y, isUnsigned)",
  "g.div(dy, b)", "g.neg(g.div(g.mul(dy, y), b))"> {
  let hasFolder = 1;
  let extraClassDeclaration = "bool isUnbounded();";
}
// The remainder has the sign of the dividend, as C's fmod and %. It is a - b * trunc(a / b); trunc has a zero derivative.
def RemOp : Mtc_BinaryOp<"rem", "y = a - b * trunc(a / b)", "::mtc::detail::buildRemainder(b, loc, x, y, isUnsigned)",
  "dy", "g.neg(g.mul(dy, g.div(g.sub(a, y), b)))"> { let extraClassDeclaration = unbounded; }
// NaN is propagated. Where a = b, each operand gets half of the cotangent, as in PyTorch.
def MaxOp : Mtc_BinaryOp<"max", "the larger of a and b", "::mtc::detail::buildExtremum(b, loc, x, y, isUnsigned, true)",
  "g.extremumShare(dy, a, b, y)", "g.extremumShare(dy, b, a, y)", Mtc_NumberTensor, [Commutative]>;
def MinOp : Mtc_BinaryOp<"min", "the smaller of a and b", "::mtc::detail::buildExtremum(b, loc, x, y, isUnsigned, false)",
  "g.extremumShare(dy, a, b, y)", "g.extremumShare(dy, b, a, y)", Mtc_NumberTensor, [Commutative]>;
// da = dy b a^(b-1), and 0 where b = 0; db = dy y ln a, and 0 where a = 0 and b >= 0, as in PyTorch.
def PowOp : Mtc_BinaryOp<"pow", "y = a^b", "math::PowFOp::create(b, loc, x, y)",
  "g.powBaseGradient(dy, a, b)", "g.powExponentGradient(dy, a, b, y)", Mtc_FloatTensor> {
  let hasCanonicalizer = 1;
  let extraClassDeclaration = !strconcat(rangeSensitive, unbounded);
}
def AndOp : Mtc_LogicalOp<"and", "bitwise and", "arith::AndIOp::create(b, loc, x, y)">;
def OrOp : Mtc_LogicalOp<"or", "bitwise or", "arith::OrIOp::create(b, loc, x, y)">;
def XorOp : Mtc_LogicalOp<"xor", "bitwise exclusive or", "arith::XOrIOp::create(b, loc, x, y)">;

class Mtc_ShiftOp<string mnemonic, string text, string isLeft>
    : Mtc_BinaryBase<mnemonic, Mtc_IntegerTensor, [Mtc_ZeroGradient]> {
  let summary = text;
  let hasFolder = 0;
  let extraClassDefinition = elementwiseDefinition # [{
      return ::mtc::detail::buildShift(b, loc, operands[0], operands[1], }] # isLeft # [{);
    }
  }];
}

// Shifts in zeros. The shift amount b is unsigned; the result is 0 if b is at least the bit width.
def ShiftLeftOp : Mtc_ShiftOp<"shift_left", "a shifted left by b bits", "true">;
def ShiftRightOp : Mtc_ShiftOp<"shift_right", "a logically shifted right by b bits", "false">;

def CompareOp : Mtc_ElementwiseOp<"compare", [SameOperandsAndResultShape, SameTypeOperands, Mtc_ZeroGradient]> {
  let summary = "elementwise comparison of a and b";
  let description = [{
    Only `ne` holds for NaN operands.

    ```mlir
    %c = mtc.compare lt %a, %b : tensor<4xf32> -> tensor<4xi1>
    ```
  }];
  let arguments = (ins Mtc_PredicateAttr:$predicate, Mtc_Tensor:$lhs, Mtc_Tensor:$rhs);
  let results = (outs Mtc_BoolTensor:$result);
  let assemblyFormat = "$predicate $lhs `,` $rhs attr-dict `:` type($lhs) `->` type($result)";
  let extraClassDefinition = elementwiseDefinition # [{
      return ::mtc::detail::buildComparison(b, loc, getPredicate(), operands[0], operands[1], isUnsigned);
    }
  }];
}

def SelectOp : Mtc_ElementwiseOp<"select", [AllTypesMatch<["on_true", "on_false", "result"]>,
                                            AllShapesMatch<["condition", "on_true"]>, Mtc_Gradient]> {
  let summary = "a where the condition holds, b elsewhere";
  let description = [{
    The cotangent is propagated only to the selected operand, so that a NaN in the other operand does not affect the gradient.

    ```mlir
    %r = mtc.select %c, %a, %b : tensor<4xi1>, tensor<4xf32>
    ```
  }];
  let arguments = (ins Mtc_BoolTensor:$condition, Mtc_Tensor:$on_true, Mtc_Tensor:$on_false);
  let results = (outs Mtc_Tensor:$result);
  let assemblyFormat = "$condition `,` $on_true `,` $on_false attr-dict `:` type($condition) `,` type($on_true)";
  let hasFolder = 1;
  let hasCanonicalizer = 1;
  let extraClassDefinition = elementwiseDefinition # [{
      return arith::SelectOp::create(b, loc, operands[0], operands[1], operands[2]);
    }
    void $cppClass::buildGradient(::mtc::GradientBuilder &g) {
      mlir::Value dy = g.cotangent(0), zero = g.splat(dy, 0.0);
      if (g.needs(1))
        g.set(1, g.select(getCondition(), dy, zero));
      if (g.needs(2))
        g.set(2, g.select(getCondition(), zero, dy));
    }
  }];
}

def SelectByModeOp : Mtc_ValueOp<"select_by_mode", [SameOperandsAndResultType, Mtc_Gradient, Mtc_Transposable]> {
  let summary = "a in training steps, b in inference";
  let description = [{
    Dropout and batch normalization differ between training and inference. The forward function contains both forms;
    `mtc-select-mode` keeps one of them in each function that is derived from it. The gradient is that of the training form.

    ```mlir
    %y = mtc.select_by_mode training %dropped inference %x : tensor<4x8xf32>
    ```
  }];
  let arguments = (ins Mtc_Tensor:$training, Mtc_Tensor:$inference);
  let results = (outs Mtc_Tensor:$result);
  let assemblyFormat = "`training` $training `inference` $inference attr-dict `:` type($result)";
  let hasFolder = 1;
  let extraClassDefinition = [{
    void $cppClass::buildGradient(::mtc::GradientBuilder &g) { g.set(0, g.cotangent(0)); }
    ::mtc::TransposedResult $cppClass::buildOnTransposed(::mtc::TensorBuilder &builder, unsigned operand) {
      return ::mtc::detail::buildElementwiseOnTransposed(getOperation(), builder, operand);
    }
  }];
}

#endif // MTC_IR_ELEMENTWISE_OPS

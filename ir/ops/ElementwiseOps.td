//===- ElementwiseOps.td - Operations on elements -----------------------------------------------===//
//
// A record is complete: `scalar` computes one element from x (and y, z), `gradient` the cotangent from dy, the operands
// and the result y. In `scalar`, `b` and `loc` build; in `gradient`, `g` builds tensors. What is saved for the backward
// pass is what the gradient names.
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

// With a gradient rule: an expression of dy, x, y over `g`.
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

// Flat wherever it is differentiable.
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
  "g.neg(dy)", Mtc_NumberTensor> { let hasFolder = 1; }
// At 0 the derivative is taken as 0, the middle of its one-sided limits.
def AbsOp : Mtc_UnaryOp<"abs", "y = |x|",
  "isFloat ? math::AbsFOp::create(b, loc, x).getResult() : math::AbsIOp::create(b, loc, x).getResult()",
  "g.mul(dy, g.sign(x))", Mtc_NumberTensor>;
def ExpOp : Mtc_UnaryOp<"exp", "y = e^x", "math::ExpOp::create(b, loc, x)", "g.mul(dy, y)"> {
  let extraClassDeclaration = rangeSensitive;
}
// The derivative is not taken as y + 1, which keeps no digit of e^x where x is far below 0.
def Expm1Op : Mtc_UnaryOp<"expm1", "y = e^x - 1, exact near 0", "math::ExpM1Op::create(b, loc, x)",
  "g.mul(dy, g.exp(x))">;
def LogOp : Mtc_UnaryOp<"log", "y = ln x", "math::LogOp::create(b, loc, x)", "g.div(dy, x)"> {
  let extraClassDeclaration = rangeSensitive;
}
def Log1pOp : Mtc_UnaryOp<"log1p", "y = ln(1 + x), exact near 0", "math::Log1pOp::create(b, loc, x)",
  "g.div(dy, g.add(x, g.splat(x, 1.0)))">;
// At 0 the derivative is infinite, and so is the gradient, as in PyTorch.
def SqrtOp : Mtc_UnaryOp<"sqrt", "y = x^(1/2)", "math::SqrtOp::create(b, loc, x)",
  "g.div(dy, g.mul(y, g.splat(y, 2.0)))">;
def RsqrtOp : Mtc_UnaryOp<"rsqrt", "y = x^(-1/2)",
  "arith::DivFOp::create(b, loc, ::mtc::scalarConstant(b, loc, x.getType(), 1), math::SqrtOp::create(b, loc, x))",
  "g.mul(g.mul(dy, g.splat(y, -0.5)), g.mul(y, g.mul(y, y)))">;
def TanhOp : Mtc_UnaryOp<"tanh", "y = tanh x", "math::TanhOp::create(b, loc, x)",
  "g.mul(dy, g.sub(g.splat(y, 1.0), g.mul(y, y)))">;
// As 1 / (1 + e^-x), with e^-x kept finite so that the value saturates at 0 instead of passing through infinity.
def LogisticOp : Mtc_UnaryOp<"logistic", "y = 1 / (1 + e^-x)", "::mtc::detail::buildLogistic(b, loc, x)",
  "g.mul(dy, g.mul(y, g.sub(g.splat(y, 1.0), y)))">;
def ErfOp : Mtc_UnaryOp<"erf", "y = 2/sqrt(pi) * integral of e^(-t^2) from 0 to x", "math::ErfOp::create(b, loc, x)",
  "g.mul(g.mul(dy, g.splat(x, 1.1283791670955126)), g.exp(g.neg(g.mul(x, x))))">;
def SinOp : Mtc_UnaryOp<"sin", "y = sin x", "math::SinOp::create(b, loc, x)", "g.mul(dy, g.cos(x))">;
def CosOp : Mtc_UnaryOp<"cos", "y = cos x", "math::CosOp::create(b, loc, x)", "g.neg(g.mul(dy, g.sin(x)))">;
// At -1 and 1 the derivative is infinite, and so is the gradient, as in PyTorch. 1 - x² keeps its digits near them as a
// product.
def AsinOp : Mtc_UnaryOp<"asin", "y with sin y = x, from -pi/2 to pi/2", "math::AsinOp::create(b, loc, x)",
  "g.mul(dy, g.rsqrt(g.mul(g.sub(g.splat(x, 1.0), x), g.add(g.splat(x, 1.0), x))))">;
def AcosOp : Mtc_UnaryOp<"acos", "y with cos y = x, from 0 to pi", "math::AcosOp::create(b, loc, x)",
  "g.neg(g.mul(dy, g.rsqrt(g.mul(g.sub(g.splat(x, 1.0), x), g.add(g.splat(x, 1.0), x)))))">;
def AtanOp : Mtc_UnaryOp<"atan", "y with tan y = x, from -pi/2 to pi/2", "math::AtanOp::create(b, loc, x)",
  "g.div(dy, g.add(g.splat(x, 1.0), g.mul(x, x)))">;
def FloorOp : Mtc_FlatUnaryOp<"floor", "the largest integer that is not above x", "math::FloorOp::create(b, loc, x)">;
def CeilOp : Mtc_FlatUnaryOp<"ceil", "the smallest integer that is not below x", "math::CeilOp::create(b, loc, x)">;
def RoundOp : Mtc_FlatUnaryOp<"round", "the nearest integer, halves to even", "math::RoundEvenOp::create(b, loc, x)">;
def SignOp : Mtc_FlatUnaryOp<"sign", "-1, 0 or 1; NaN stays NaN", "::mtc::detail::buildSign(b, loc, x, isUnsigned)", Mtc_NumberTensor>;
def NotOp : Mtc_FlatUnaryOp<"not", "each bit negated",
  "arith::XOrIOp::create(b, loc, x, ::mtc::scalarConstant(b, loc, x.getType(), -1))", Mtc_BitsTensor>;

def IsNanOp : Mtc_ElementwiseOp<"is_nan", [SameOperandsAndResultShape, Mtc_ZeroGradient]> {
  let summary = "whether x is not a number";
  let arguments = (ins Mtc_FloatTensor:$input);
  let results = (outs Mtc_BoolTensor:$result);
  let assemblyFormat = "$input attr-dict `:` type($input) `->` type($result)";
  let extraClassDefinition = elementwiseDefinition # [{
      return arith::CmpFOp::create(b, loc, arith::CmpFPredicate::UNO, operands[0], operands[0]);
    }
  }];
}

def CastOp : Mtc_ElementwiseOp<"cast", [SameOperandsAndResultShape, Mtc_Gradient]> {
  let summary = "conversion between element types";
  let description = [{
    Float to narrower float rounds to nearest even; float to integer truncates towards zero (a value out of range gives
    an unspecified integer); to i1 it is `x != 0`. Between floats the gradient is the cotangent, converted; integers
    have none.

    A cast `as storage` says how a value is stored, not what it is: what stays in registers is not rounded.

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
        return operands[0]; // Loads widen, and stores round.
      return ::mtc::convertScalar(b, loc, operands[0], getInput().getType().getElementType(),
                                  getResult().getType().getElementType());
    }
    void $cppClass::buildGradient(::mtc::GradientBuilder &g) {
      if (isa<FloatType>(getResult().getType().getElementType()))
        g.set(0, g.cast(g.cotangent(0), getInput().getType().getElementType()));
    }
  }];
}

// Kalamkar et al., "A Study of BFLOAT16 for Deep Learning Training", 2019: a number of f32 in two halves, of which the
// upper one is a bf16 to compute with. Ties are rounded away from zero, so that the lower half is a signed one.
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
  let summary = "the bf16 nearest to a number of f32";
}
def LowHalfOp : Mtc_HalfOp<"low_half", I16, "arith::TruncIOp::create(b, loc, b.getI16Type(), bits)"> {
  let summary = "the lower 16 bits of a number of f32, as a signed number: what its high half lacks";
}

def JoinHalvesOp : Mtc_ElementwiseOp<"join_halves", [SameOperandsAndResultShape, Mtc_NoGradient]> {
  let summary = "the number of f32 that two halves are of, exactly";
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
  let summary = "the same value, through which no cotangent flows";
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

// With a rule for each operand: expressions of dy, a, b, y over `g`.
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
  "dy", "dy", Mtc_NumberTensor, [Commutative]> { let hasFolder = 1; }
def SubOp : Mtc_BinaryOp<"sub", "y = a - b", "::mtc::detail::arithmetic<arith::SubFOp, arith::SubIOp>(b, loc, x, y)",
  "dy", "g.neg(dy)"> { let hasFolder = 1; }
def MulOp : Mtc_BinaryOp<"mul", "y = a * b", "::mtc::detail::arithmetic<arith::MulFOp, arith::MulIOp>(b, loc, x, y)",
  "g.mul(dy, b)", "g.mul(dy, a)", Mtc_NumberTensor, [Commutative]> { let hasFolder = 1; }
// Integers are divided towards zero.
def DivOp : Mtc_BinaryOp<"div", "y = a / b", "::mtc::detail::buildDivision(b, loc, x, y, isUnsigned)",
  "g.div(dy, b)", "g.neg(g.div(g.mul(dy, y), b))"> { let hasFolder = 1; }
// The remainder has the dividend's sign (C's fmod and %). It is a - b * trunc(a / b), whose step has no derivative.
def RemOp : Mtc_BinaryOp<"rem", "y = a - b * trunc(a / b)", "::mtc::detail::buildRemainder(b, loc, x, y, isUnsigned)",
  "dy", "g.neg(g.mul(dy, g.div(g.sub(a, y), b)))">;
// NaN wins. Where a = b each gets half, as in PyTorch.
def MaxOp : Mtc_BinaryOp<"max", "the larger of a and b", "::mtc::detail::buildExtremum(b, loc, x, y, isUnsigned, true)",
  "g.extremumShare(dy, a, b, y)", "g.extremumShare(dy, b, a, y)", Mtc_NumberTensor, [Commutative]>;
def MinOp : Mtc_BinaryOp<"min", "the smaller of a and b", "::mtc::detail::buildExtremum(b, loc, x, y, isUnsigned, false)",
  "g.extremumShare(dy, a, b, y)", "g.extremumShare(dy, b, a, y)", Mtc_NumberTensor, [Commutative]>;
// da = dy b a^(b-1), and 0 where b = 0; db = dy y ln a, and 0 where a = 0 and b >= 0, as in PyTorch.
def PowOp : Mtc_BinaryOp<"pow", "y = a^b", "math::PowFOp::create(b, loc, x, y)",
  "g.powBaseGradient(dy, a, b)", "g.powExponentGradient(dy, a, b, y)", Mtc_FloatTensor> {
  let hasCanonicalizer = 1;
  let extraClassDeclaration = rangeSensitive;
}
def AndOp : Mtc_LogicalOp<"and", "a and b, bit by bit", "arith::AndIOp::create(b, loc, x, y)">;
def OrOp : Mtc_LogicalOp<"or", "a or b, bit by bit", "arith::OrIOp::create(b, loc, x, y)">;
def XorOp : Mtc_LogicalOp<"xor", "a or b but not both, bit by bit", "arith::XOrIOp::create(b, loc, x, y)">;

class Mtc_ShiftOp<string mnemonic, string text, string isLeft>
    : Mtc_BinaryBase<mnemonic, Mtc_IntegerTensor, [Mtc_ZeroGradient]> {
  let summary = text;
  let hasFolder = 0;
  let extraClassDefinition = elementwiseDefinition # [{
      return ::mtc::detail::buildShift(b, loc, operands[0], operands[1], }] # isLeft # [{);
    }
  }];
}

// Zeros come in. By as many places as there are bits, or more, nothing else is left: b counts as unsigned.
def ShiftLeftOp : Mtc_ShiftOp<"shift_left", "a with its bits moved b places up", "true">;
def ShiftRightOp : Mtc_ShiftOp<"shift_right", "a with its bits moved b places down", "false">;

def CompareOp : Mtc_ElementwiseOp<"compare", [SameOperandsAndResultShape, SameTypeOperands, Mtc_ZeroGradient]> {
  let summary = "whether a predicate holds between a and b";
  let description = [{
    With NaN only `ne` holds.

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
    The cotangent goes to the chosen side only, so that a NaN on the other side does not come back.

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
    Dropout and batch normalization compute something else in inference. The forward function holds both forms; `mtc-select-mode`
    keeps one of them in each function that is made from it. The gradient is that of the training form.

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

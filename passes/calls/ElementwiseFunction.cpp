//===- ElementwiseFunction.cpp - Recognition of elementwise functions in kernels --------------===//
//
// Exporters and gradients express the same function in many ways. Two analytic functions are
// considered equal if they agree at many points to far more digits than any two distinct functions
// of interest: the tanh and erf forms of GELU differ in the fourth digit.
//
//===------------------------------------------------------------------------------------------===//

#include "passes/calls/ElementwiseFunction.h"

#include "passes/calls/CallEditing.h"
#include "passes/kernels/KernelEditing.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/TypeSwitch.h"

#include <cmath>
#include <functional>

using namespace mlir;
using namespace mtc;

/// The kernel whose body is evaluated and the offsets of its results.
struct ElementwiseFunction::Place {
  KernelOp kernel;
  IterationOffsets own;
};

std::optional<ElementwiseFunction::Column>
ElementwiseFunction::evaluate(Value value, ArrayRef<Column> arguments) const {
  unsigned budget = 4096; // A body is a DAG, but is traversed as a tree.
  return evaluate(value, Place{kernel, own}, arguments, budget);
}

/// Computes each element of a column from the elements of other columns.
template <typename Function, typename... Columns>
static ElementwiseFunction::Column
combine(Function function, const ElementwiseFunction::Column &first, const Columns &...others) {
  ElementwiseFunction::Column result;
  for (size_t i = 0; i < first.size(); ++i)
    result.push_back(function(first[i], others[i]...));
  return result;
}

std::optional<ElementwiseFunction::Column> ElementwiseFunction::evaluate(Value value,
                                                                         const Place &place,
                                                                         ArrayRef<Column> arguments,
                                                                         unsigned &budget) const {
  if (budget == 0)
    return std::nullopt;
  --budget;
  for (auto [scalar, argument] : llvm::zip(scalars, arguments))
    if (value == scalar)
      return argument;
  Operation *op = value.getDefiningOp();
  if (!op)
    return std::nullopt;
  if (auto load = dyn_cast<KernelLoadOp>(op)) {
    KernelOp user = place.kernel;
    Value root = rootOf(inputOf(user, load));
    std::optional<IterationOffsets> offsets = offsetsOf(user, load);
    if (!offsets || !(*offsets == place.own))
      return std::nullopt;
    for (auto [element, argument] : llvm::zip(roots, arguments.drop_front(scalars.size())))
      if (root == element)
        return argument;
    auto producer = root.getDefiningOp<KernelOp>();
    if (!producer || producer.getShape() != FusibleShape::Elementwise ||
        !yieldOf(producer).getSymbols().empty())
      return std::nullopt;
    unsigned result = cast<OpResult>(root).getResultNumber();
    std::optional<IterationOffsets> stored =
        offsetsOf(storedAt(producer, result), cast<RankedTensorType>(root.getType()).getShape(),
                  producer.getSpace());
    if (!stored)
      return std::nullopt;
    return evaluate(yieldOf(producer).getValues()[result], Place{producer, *stored}, arguments,
                    budget);
  }
  FloatAttr constant;
  if (matchPattern(value, m_Constant(&constant)))
    return Column(arguments.front().size(), constant.getValueAsDouble());
  SmallVector<Column, 2> x;
  if (!isa<arith::AddFOp, arith::SubFOp, arith::MulFOp, arith::DivFOp, arith::NegFOp, math::TanhOp,
           math::ExpOp, math::PowFOp>(op))
    return std::nullopt;
  for (Value operand : op->getOperands()) {
    std::optional<Column> found = evaluate(operand, place, arguments, budget);
    if (!found)
      return std::nullopt;
    x.push_back(std::move(*found));
  }
  return TypeSwitch<Operation *, std::optional<Column>>(op)
      .Case([&](arith::AddFOp) { return combine(std::plus(), x[0], x[1]); })
      .Case([&](arith::SubFOp) { return combine(std::minus(), x[0], x[1]); })
      .Case([&](arith::MulFOp) { return combine(std::multiplies(), x[0], x[1]); })
      .Case([&](arith::DivFOp) { return combine(std::divides(), x[0], x[1]); })
      .Case([&](arith::NegFOp) { return combine(std::negate(), x[0]); })
      .Case([&](math::TanhOp) { return combine([](double y) { return std::tanh(y); }, x[0]); })
      .Case([&](math::ExpOp) { return combine([](double y) { return std::exp(y); }, x[0]); })
      .Case([&](math::PowFOp op) -> std::optional<Column> {
        FloatAttr exponent;
        if (!matchPattern(op.getRhs(), m_Constant(&exponent)) ||
            exponent.getValueAsDouble() != std::rint(exponent.getValueAsDouble()))
          return std::nullopt;
        return combine([](double y, double z) { return std::pow(y, z); }, x[0], x[1]);
      });
}

/// Matches select(x <= 0, 0, x).
bool ElementwiseFunction::isRelu(Value value) const {
  auto select = value.getDefiningOp<arith::SelectOp>();
  auto compare = select ? select.getCondition().getDefiningOp<arith::CmpFOp>() : arith::CmpFOp();
  return compare && compare.getPredicate() == arith::CmpFPredicate::OLE &&
         matchPattern(compare.getRhs(), m_AnyZeroFloat()) &&
         matchPattern(select.getTrueValue(), m_AnyZeroFloat()) &&
         llvm::is_contained(scalars, compare.getLhs()) &&
         select.getFalseValue() == compare.getLhs();
}

static constexpr double scale = 0.79788456080286535588, cubic = 0.044715; // sqrt(2 / pi)

static double gelu(double x) { return 0.5 * x * (1 + std::tanh(scale * (x + cubic * x * x * x))); }

static double geluGradient(double x) {
  double t = std::tanh(scale * (x + cubic * x * x * x));
  return 0.5 * (1 + t) + 0.5 * x * (1 - t * t) * scale * (1 + 3 * cubic * x * x);
}

static constexpr double iterations[] = {-9,    -6.1, -4.7, -3.6, -2.9, -2.3, -1.8, -1.3, -0.9,
                                        -0.55, -0.3, -0.1, 0.04, 0.17, 0.4,  0.75, 1.1,  1.6,
                                        2.1,   2.6,  3.3,  4.2,  5.4,  7.7,  11};

/// Returns whether the columns are equal up to the rounding of constants to f32.
static bool isNear(const std::optional<ElementwiseFunction::Column> &found,
                   const ElementwiseFunction::Column &expected) {
  return found && llvm::all_of(llvm::zip_equal(*found, expected), [](auto pair) {
           auto [y, exact] = pair;
           return std::abs(y - exact) <= 1e-6 * (1 + std::abs(exact));
         });
}

bool ElementwiseFunction::isGelu(Value value) const {
  const Column x(ArrayRef<double>{iterations});
  return isNear(evaluate(value, {x}), combine(gelu, x));
}

bool ElementwiseFunction::isGeluGradient(Value value) const {
  Column d, x;
  for (double each : iterations)
    for (double factor : {1.0, -2.75, 0.3}) {
      d.push_back(factor);
      x.push_back(each);
    }
  return isNear(evaluate(value, {d, x}),
                combine([](double y, double z) { return y * geluGradient(z); }, d, x));
}

//===- Ctc.cpp - Connectionist temporal classification ----------------------------------------===//

#include "passes/losses/ClassAxis.h"
#include "passes/losses/RowValues.h"

#include <cmath>

using namespace mlir;
using namespace mtc;

/// Represents the logarithm of 0, so that differences and gradients stay finite.
static constexpr double logZero = -1e30;
/// Losses from this value on are infinite: no path through the frames has the labels.
static constexpr double infiniteLoss = 1e29;

static SmallVector<int64_t> batchExtents(const LabelQuery &query) {
  SmallVector<int64_t> extents;
  for (Type input : query.inputs)
    if (auto type = cast<RankedTensorType>(input); type.getRank() > 0)
      extents.push_back(type.getDimSize(0));
  return extents;
}

/// The batch axis of the output, 0 or 1, is the one with the extent of the labels' first axis, or
/// of an input's if there are no labels.
static FailureOr<LabelLayout> layout(const LabelQuery &query, std::string &expected) {
  if (query.output.getRank() != 3 || llvm::is_contained(query.output.getShape(), 0))
    return expect(expected, "an output of three dimensions, [batch, frames, classes] or [frames, "
                            "batch, classes]");
  if (query.given && query.given.getRank() != 2)
    return expect(expected, "labels of shape [batch, labels of a sample]");
  if (!query.given && query.parameters.targetLength == 0)
    return expect(expected, "labels in the graph, or their maximum number per sample with "
                            "--target-length");
  SmallVector<int64_t> extents =
      query.given ? SmallVector<int64_t>{query.given.getDimSize(0)} : batchExtents(query);
  bool isFirst = llvm::is_contained(extents, query.output.getDimSize(0));
  bool isSecond = llvm::is_contained(extents, query.output.getDimSize(1));
  if (isFirst && isSecond)
    return expect(expected, "a batch size other than the number of frames, to identify the batch "
                            "axis");
  if (!isFirst && !isSecond)
    return expect(expected, "an output whose first or second axis is the batch");
  int64_t length = query.given ? query.given.getDimSize(1) : query.parameters.targetLength;
  if (length == 0)
    return expect(expected, "at least one label of a sample");
  LabelLayout result;
  result.batchAxis = isFirst ? 0 : 1;
  result.shape = {query.output.getDimSize(result.batchAxis), length};
  result.classAxis = 2;
  // A blank at either end of the classes is not a valid label.
  int64_t blank = query.parameters.blank, classes = query.output.getDimSize(2);
  result.minimum = blank == 0 ? 1 : 0;
  result.limit = blank == classes - 1 ? blank : classes;
  return result;
}

static std::string check(const LossParameters &parameters, RankedTensorType output,
                         const LabelLayout &) {
  int64_t classes = output.getDimSize(2);
  if (classes < 2)
    return "--loss ctc: expected at least two classes, one of which is the blank";
  if (parameters.blank < classes)
    return "";
  return ("--blank " + Twine(parameters.blank) + ": expected a class, from 0 to " +
          Twine(classes - 1))
      .str();
}

namespace {

/// The forward recursion of Graves et al., "Connectionist Temporal Classification", 2006, in
/// logarithms. The states of a sample with labels l are blank, l[0], blank, l[1], ..., blank; state
/// s is the sum of the probabilities of all paths through the previous frames that end in it.
class Recursion {
public:
  Recursion(TensorBuilder &b, const LossInputs &in);

  /// Builds the negative logarithm of the probability of the labels: [batch].
  Value loss();
  /// The number of labels of each sample: [batch] i64.
  Value getCount() const { return count; }
  /// Whether the labels of each sample precede its ignored ones: [batch] i1.
  Value labelsPrecede();

private:
  Value emissions(Value scores);
  Value shifted(Value states, int64_t by);
  Value advance(Value states, Value emission);
  Value stateAt(Value states, Value index);

  TensorBuilder &b;
  const LossInputs &in;
  int64_t batch, frames, length, stateCount;
  Type element;
  Value counted;  ///< [batch, labels] i1
  Value count;    ///< [batch] i64
  Value classes;  ///< [batch, states] i64: the class of each state.
  Value mayClimb; ///< [batch, states] i1: a path may skip the blank before the state.
};

} // namespace

Recursion::Recursion(TensorBuilder &b, const LossInputs &in)
    : b(b), in(in), batch(shapeOf(in.labels)[0]),
      frames(shapeOf(in.output)[1 - in.layout.batchAxis]), length(shapeOf(in.labels)[1]),
      stateCount(2 * length + 1), element(typeOf(in.output).getElementType()) {
  Value labels = b.cast(in.labels, b.getI64Type());
  auto blank = static_cast<double>(in.parameters.blank);
  counted = b.compare(Predicate::Ne, labels,
                      b.splat(labels, static_cast<double>(in.parameters.ignoredLabel)));
  count = b.sum(b.cast(counted, b.getI64Type()), 1);
  labels = b.select(counted, labels, b.splat(labels, blank));
  classes = b.pad(labels, {0, 1}, {0, 1}, {0, 1}, blank);
  // Between equal labels a path must contain a blank.
  mayClimb = b.compare(Predicate::Ne, classes,
                       b.pad(b.slice(classes, {0, 0}, {batch, stateCount - 2}, {1, 1}), {0, 2},
                             {0, 0}, {0, 0}, blank));
}

Value Recursion::labelsPrecede() {
  Value number = b.iota(RankedTensorType::get({batch, length}, b.getI64Type()), 1);
  Value end = b.add(number, b.splat(number, 1.0));
  Value last = b.reduce(ReductionKind::Max, b.select(counted, end, b.splat(end, 0.0)), 1);
  return b.compare(Predicate::Eq, last, count);
}

/// Builds the logarithm of the softmax of the classes of the states: [frames, batch, states]. The
/// logarithms of other classes are not computed.
Value Recursion::emissions(Value scores) {
  Value maximum = b.detach(b.reduce(ReductionKind::Max, scores, 2));
  Value exponentials = b.exp(b.sub(scores, b.broadcast(maximum, 2, shapeOf(scores))));
  Value logSum = b.log(b.sum(exponentials, 2));
  Value own = b.gather(scores, classes, /*axis=*/2, /*batch=*/1);
  auto repeat = [&](Value rows) { return b.broadcast(rows, 2, shapeOf(own)); };
  Value result = b.sub(b.sub(own, repeat(maximum)), repeat(logSum));
  result = b.max(result, b.splat(result, logZero));
  return b.transpose(result, {1, 0, 2});
}

/// Moves each state up; the lowest ones become impossible.
Value Recursion::shifted(Value states, int64_t by) {
  Value lower = b.slice(states, {0, 0}, {batch, stateCount - by}, {1, 1});
  return b.pad(lower, {0, by}, {0, 0}, {0, 0}, logZero);
}

/// Builds the states after a frame from those before it. The sum does not depend on the maximum
/// that is subtracted from the exponents, so no gradient is propagated through it.
Value Recursion::advance(Value states, Value emission) {
  Value next = shifted(states, 1);
  Value afterNext = b.select(mayClimb, shifted(states, 2), b.splat(states, logZero));
  Value maximum = b.detach(b.max(b.max(states, next), afterNext));
  auto term = [&](Value logarithm) { return b.exp(b.sub(logarithm, maximum)); };
  Value sum = b.add(b.add(term(states), term(next)), term(afterNext));
  return b.add(b.add(maximum, b.log(sum)), emission);
}

Value Recursion::stateAt(Value states, Value index) { return b.gather(states, index, 1, 1); }

Value Recursion::loss() {
  Value scores = in.layout.batchAxis == 0 ? in.output : b.transpose(in.output, {1, 0, 2});
  Value all = emissions(scores);
  auto type = RankedTensorType::get({batch, stateCount}, element);
  Value number = b.iota(RankedTensorType::get({batch, stateCount}, b.getI64Type()), 1);
  Value isStart = b.compare(Predicate::Eq, number, b.splat(number, 0.0));
  Value states = b.select(isStart, b.splat(type, 0.0), b.splat(type, logZero));
  Value lengths = in.inputLengths ? b.cast(in.inputLengths, b.getI64Type()) : Value();
  for (int64_t frame = 0; frame < frames; ++frame) {
    Value emission = b.reshape(b.slice(all, {frame, 0, 0}, {1, batch, stateCount}, {1, 1, 1}),
                               {batch, stateCount});
    Value next = advance(states, emission);
    if (lengths) {
      Value runs = b.compare(Predicate::Gt, lengths, b.splat(lengths, static_cast<double>(frame)));
      next = b.select(b.broadcast(runs, 1, shapeOf(states)), next, states);
    }
    states = next;
  }
  // A path ends in the last label or in the blank after it.
  Value zero = b.splat(count, 0.0), end = b.mul(count, b.splat(count, 2.0));
  Value last = stateAt(states, end);
  Value label = stateAt(states, b.max(b.sub(end, b.splat(end, 1.0)), zero));
  label = b.select(b.compare(Predicate::Gt, count, zero), label, b.splat(label, logZero));
  Value maximum = b.detach(b.max(last, label));
  Value sum = b.add(b.exp(b.sub(last, maximum)), b.exp(b.sub(label, maximum)));
  return b.neg(b.add(maximum, b.log(sum)));
}

/// -ln of the probability of the labels, divided by their number, 1 if there are none. Infinite if
/// the frames cannot contain the labels, with a gradient that is not finite, or 0 with
/// `zero-infinity`; not a number if labels follow ignored ones.
static LossTerms build(TensorBuilder &b, const LossInputs &in) {
  Recursion recursion(b, in);
  Value losses = recursion.loss();
  Value isInfinite = b.compare(Predicate::Ge, losses, b.splat(losses, infiniteLoss));
  Value zero = b.splat(losses, 0.0), one = b.splat(losses, 1.0);
  if (in.parameters.zeroInfinity)
    losses = b.select(isInfinite, zero, losses);
  else
    losses = b.mul(losses, b.select(isInfinite, b.splat(losses, INFINITY), one));
  Value count = b.cast(recursion.getCount(), typeOf(losses).getElementType());
  losses = b.div(losses, b.max(count, one));
  return {b.select(recursion.labelsPrecede(), losses, b.splat(losses, NAN)), nullptr};
}

/// Adds the best class of each frame and the labels, from which the error rate is computed.
static void buildMetrics(TensorBuilder &b, const LossInputs &in, const LossTerms &,
                         SmallVectorImpl<RowValue> &values) {
  Value scores = in.layout.batchAxis == 0 ? in.output : b.transpose(in.output, {1, 0, 2});
  Value classes = largestClass(b, scores), none = b.splat(classes, -1.0);
  Value blank = b.splat(classes, static_cast<double>(in.parameters.blank));
  Value decoded = b.select(b.compare(Predicate::Eq, classes, blank), none, classes);
  if (in.inputLengths) {
    Value frame = b.iota(RankedTensorType::get(shapeOf(classes), b.getI64Type()), 1);
    Value lengths = b.broadcast(b.cast(in.inputLengths, b.getI64Type()), 1, shapeOf(classes));
    decoded = b.select(b.compare(Predicate::Lt, frame, lengths), decoded, none);
  }
  Value labels = b.cast(in.labels, b.getI64Type());
  Value counted = b.compare(Predicate::Ne, labels,
                            b.splat(labels, static_cast<double>(in.parameters.ignoredLabel)));
  Value known = b.cast(labels, b.getI32Type());
  values.push_back({abi::rowFrameClass, decoded});
  values.push_back({abi::rowSequenceLabel, b.select(counted, known, b.splat(known, -1.0))});
}

namespace mtc {
void addCtcLosses(std::vector<Loss> &losses) {
  static constexpr StringLiteral parameters[] = {"ignore-index", "blank", "zero-infinity",
                                                 "target-length", "input-lengths"};
  losses.push_back({.name = "ctc",
                    .help = "connectionist temporal classification of label sequences",
                    .classifies = true,
                    .parameters = parameters,
                    .layout = layout,
                    .checkParameters = check,
                    .build = build,
                    .buildMetrics = buildMetrics,
                    .activation = OutputActivation::Softmax,
                    .hasSequences = true});
}
} // namespace mtc

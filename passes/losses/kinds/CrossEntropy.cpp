//===- CrossEntropy.cpp - Classification losses -----------------------------------------------===//

#include "ir/builders/Settings.h"
#include "passes/losses/ClassAxis.h"
#include "passes/losses/RowValues.h"

using namespace mlir;
using namespace mtc;

/// Returns the layout of labels. The shape of the graph's labels determines the class axis.
static FailureOr<LabelLayout> crossEntropyLayout(const LabelQuery &query, std::string &expected) {
  int64_t rank = query.output.getRank(), last = rank - 1;
  if (rank < 2)
    return expect(expected, "an output of at least two dimensions, [batch, classes]");
  ArrayRef<int64_t> shape = query.output.getShape();
  auto layoutAlong = [&](int64_t axis) {
    return LabelLayout{withoutAxis(shape, axis), axis, /*minimum=*/0, /*limit=*/shape[axis]};
  };
  if (!query.given)
    return layoutAlong(defaultClassAxis(query.output));
  for (int64_t axis : {last, int64_t(1)})
    if (query.given.getShape() == ArrayRef<int64_t>(withoutAxis(shape, axis)))
      return layoutAlong(axis);
  return expect(expected,
                "labels of the output's shape without its class axis, the last or axis 1");
}

static FailureOr<LabelLayout> causalLmLayout(const LabelQuery &query, std::string &expected) {
  if (query.output.getRank() != 3)
    return expect(expected, "an output of three dimensions, [batch, tokens, vocabulary]");
  SmallVector<int64_t> shape(query.output.getShape().drop_back());
  if (query.given && query.given.getShape() != ArrayRef<int64_t>(shape))
    return expect(expected, "labels of shape [batch, tokens]");
  return LabelLayout{shape, 2, /*minimum=*/0, /*limit=*/query.output.getDimSize(2)};
}

static std::string checkClassWeights(const LossParameters &parameters, RankedTensorType output,
                                     const LabelLayout &layout) {
  size_t classes = output.getDimSize(layout.classAxis), given = parameters.classWeights.size();
  if (given == 0 || given == classes)
    return "";
  return ("--class-weights: " + Twine(given) + " weights; expected one for each of the " +
          Twine(classes) + " classes")
      .str();
}

/// Returns labels that can be compared with the ignored label, which unsigned types may not
/// represent.
static Value asSigned(TensorBuilder &b, Value labels) {
  return isUnsigned(typeOf(labels).getElementType()) ? b.cast(labels, b.getI64Type()) : labels;
}

static Value counts(TensorBuilder &b, Value labels, const LossParameters &parameters) {
  if (!isRepresentable(parameters.ignoredLabel, typeOf(labels).getElementType()))
    return b.splat(RankedTensorType::get(shapeOf(labels), b.getI1Type()), 1.0);
  return b.compare(Predicate::Ne, labels,
                   b.splat(labels, static_cast<double>(parameters.ignoredLabel)));
}

static Value weightsOf(TensorBuilder &b, const LossParameters &parameters, Type element) {
  return parameters.classWeights.empty() ? Value()
                                         : buildNumbers(b, parameters.classWeights, element);
}

static double sumOfWeights(const LossParameters &parameters, int64_t classes) {
  if (parameters.classWeights.empty())
    return static_cast<double>(classes);
  double sum = 0;
  for (const std::string &weight : parameters.classWeights)
    sum += *parseNumber(weight);
  return sum;
}

/// Returns the label smoothing, which is not 0.
static Number readSmoothing(TensorBuilder &b, const LossInputs &in) {
  return readNumber(b, labelSmoothingSetting, "loss", *in.parameters.labelSmoothing);
}

/// Builds the label, or class 0 for ignored targets, which is a valid index.
static Value safeLabels(TensorBuilder &b, Value counted, Value labels) {
  return b.select(counted, labels, b.splat(labels, 0.0));
}

/// Builds the sum over the classes c of w[c] (x[c] - x[y]) for the label y, as the sum of v[c]
/// (x[c]
/// - m), where v[y] is w[y] less the sum of all weights, v[c] is w[c] for other classes, and m is
/// the maximum, which the loss computes anyway. The sum of all v is 0, so m needs no gradient.
/// Value and gradient are elementwise in x, so that the gradient can replace x in memory.
static Value sumOfDistances(TensorBuilder &b, const LossInputs &in, Value logits, Value labels,
                            Value weights) {
  auto last = static_cast<int64_t>(shapeOf(logits).size()) - 1;
  Value maximum = b.detach(b.reduce(ReductionKind::Max, logits, last));
  Value distance = b.sub(logits, b.broadcast(maximum, last, shapeOf(logits)));
  auto classes = RankedTensorType::get(shapeOf(logits), b.getI32Type());
  Value label = b.broadcast(b.cast(labels, b.getI32Type()), last, shapeOf(logits));
  Value isLabel = b.compare(Predicate::Eq, b.iota(classes, last), label);
  Value ofOthers = weights ? b.broadcastTo(weights, shapeOf(logits)) : b.splat(logits, 1.0);
  Value ofLabel =
      b.sub(ofOthers, b.splat(logits, sumOfWeights(in.parameters, shapeOf(logits)[last])));
  return b.sum(b.mul(distance, b.select(isLabel, ofLabel, ofOthers)), last);
}

/// The losses w[y] n of labels y, where n = -ln softmax(x)[y], and w are the class weights or 1.
/// Smoothing e moves the part e of the target to all C classes, each with its weight:
///
///   (1 - e) w[y] n + e / C (sum over c of w[c] (n - (x[c] - x[y])))
///
/// The last sum needs no second softmax. As without smoothing, the loss and its gradient therefore
/// save no value of the size of the logits. The mean divides by the sum of w[y].
static LossTerms build(TensorBuilder &b, const LossInputs &in) {
  Value labels = asSigned(b, in.labels);
  Type element = typeOf(in.output).getElementType();
  Value logits = classesLast(b, in.output, in.layout.classAxis);
  Value losses = SoftmaxCrossEntropyOp::create(b, RankedTensorType::get(shapeOf(labels), element),
                                               logits, labels, in.parameters.ignoredLabel);
  Value counted = counts(b, labels, in.parameters);
  Value weights = weightsOf(b, in.parameters, element);
  const double given = in.parameters.labelSmoothing.value_or(0);
  if (!weights && given == 0)
    return {losses, b.cast(counted, element)};
  Value safe = safeLabels(b, counted, labels), zero = b.splat(losses, 0.0);
  Value ofLabels =
      b.select(counted, weights ? b.gather(weights, safe, 0, 0) : b.splat(losses, 1.0), zero);
  if (given == 0)
    return {b.mul(losses, ofLabels), ofLabels};
  int64_t classes = shapeOf(logits).back();
  const Number smoothing = readSmoothing(b, in),
               share = scale(b, smoothing, 1.0 / static_cast<double>(classes));
  Value factor = b.mul(ofLabels, broadcastLike(b, complement(b, smoothing), losses)); // Of n.
  factor = b.add(factor,
                 broadcastLike(b, scale(b, share, sumOfWeights(in.parameters, classes)), losses));
  Value moved = sumOfDistances(b, in, logits, safe, weights);
  moved = b.mul(moved, broadcastLike(b, share, losses));
  losses = b.select(counted, b.sub(b.mul(losses, factor), moved), zero);
  return {losses, ofLabels};
}

/// The classes of targets, and the scores that predict them.
struct Targets {
  Value logits;  ///< Classes last.
  Value labels;  ///< A class, also for ignored targets.
  Value counted; ///< i1: not ignored.
};

static Targets targetsOf(TensorBuilder &b, const LossInputs &in) {
  Value labels = asSigned(b, in.labels), counted = counts(b, labels, in.parameters);
  return {classesLast(b, in.output, in.layout.classAxis), safeLabels(b, counted, labels), counted};
}

/// The target with the largest probability is the label; with several, the first.
static Targets targetsOfProbabilities(TensorBuilder &b, const LossInputs &in) {
  Value labels = largestClass(b, classesLast(b, in.labels, in.layout.classAxis));
  auto flags = RankedTensorType::get(shapeOf(labels), b.getI1Type());
  return {classesLast(b, in.output, in.layout.classAxis), labels, b.splat(flags, 1.0)};
}

/// Builds the number of classes with a larger score than the label's, or with a score that is not a
/// number. It is computed without sorting, so that it can be tiled like the loss.
static Value rankOfLabel(TensorBuilder &b, const Targets &targets) {
  Value logits = targets.logits;
  auto last = static_cast<int64_t>(shapeOf(logits).size()) - 1;
  Value own = b.broadcast(b.gather(logits, targets.labels, last, last), last, shapeOf(logits));
  Value larger = b.logicalNot(b.compare(Predicate::Le, logits, own));
  return b.sum(b.cast(larger, typeOf(logits).getElementType()), last);
}

/// Adds the number of targets among whose `maximum` largest scores is the label's. Ties count.
static void addAmongLargest(TensorBuilder &b, const Targets &targets, Value rank, double maximum,
                            StringRef name, SmallVectorImpl<RowValue> &values) {
  Value isAmong = b.compare(Predicate::Lt, rank, b.splat(rank, maximum));
  Value correct = b.logicalAnd(targets.counted, isAmong);
  values.push_back({name, b.cast(correct, typeOf(rank).getElementType())});
}

/// Builds the difference of the logits of two classes, which is the logit of class 1.
static Value differenceOfTwo(TensorBuilder &b, Value logits) {
  auto last = static_cast<int64_t>(shapeOf(logits).size()) - 1;
  auto classOf = [&](int64_t index) {
    SmallVector<int64_t> begin(shapeOf(logits).size(), 0), step(begin.size(), 1),
        extents(shapeOf(logits));
    begin[last] = index;
    extents[last] = 1;
    return b.reshape(b.slice(logits, begin, extents, step), shapeOf(logits).drop_back());
  };
  return b.sub(classOf(1), classOf(0));
}

/// Adds the probability of the predicted class, and, if a sample is one target of few classes, the
/// probabilities of all.
static void addProbabilities(TensorBuilder &b, Value logits, SmallVectorImpl<RowValue> &values) {
  ArrayRef<int64_t> shape = shapeOf(logits);
  auto last = static_cast<int64_t>(shape.size()) - 1;
  Value wide = b.cast(logits, b.getF32Type());
  Value maximum = b.broadcast(b.reduce(ReductionKind::Max, wide, last), last, shape);
  Value exponentials = b.exp(b.sub(wide, maximum)), sum = b.sum(exponentials, last);
  values.push_back({abi::rowConfidence, b.div(b.splat(sum, 1.0), sum)});
  if (ShapedType::getNumElements(shape.drop_front()) == shape.back() &&
      shape.back() <= abi::maxClassScores)
    values.push_back({abi::rowClassScores, b.div(exponentials, b.broadcast(sum, last, shape))});
}

/// Adds the values from which metrics of classes are computed. Of two classes, class 1 is the
/// positive one.
static void addConfusion(TensorBuilder &b, const Targets &targets,
                         SmallVectorImpl<RowValue> &values) {
  Value predicted = largestClass(b, targets.logits);
  Value labels = b.cast(targets.labels, b.getI32Type()), ignored = b.splat(labels, -1.0);
  Value known = b.select(targets.counted, labels, ignored);
  if (shapeOf(targets.logits).back() == 2) {
    auto isPositive = [&](Value classes) {
      Value positive = b.compare(Predicate::Eq, classes, b.splat(classes, 1.0));
      return b.logicalAnd(targets.counted, positive);
    };
    addPositives(b, isPositive(predicted), isPositive(labels),
                 typeOf(targets.logits).getElementType(), abi::rowPositives, values);
    addScores(b, differenceOfTwo(b, targets.logits), known, values);
    return;
  }
  values.push_back({abi::rowPredictedClass, b.select(targets.counted, predicted, ignored)});
  values.push_back({abi::rowLabelClass, known});
  addProbabilities(b, targets.logits, values);
}

/// Adds the number of targets if it differs from the weights of the loss.
static void addTargets(TensorBuilder &b, const LossInputs &in, const Targets &targets,
                       SmallVectorImpl<RowValue> &values) {
  if (!in.parameters.classWeights.empty())
    values.push_back(
        {abi::rowTargets, b.cast(targets.counted, typeOf(in.output).getElementType())});
}

static void addAccuracy(TensorBuilder &b, const Targets &targets,
                        SmallVectorImpl<RowValue> &values) {
  Value rank = rankOfLabel(b, targets);
  addAmongLargest(b, targets, rank, 1, abi::rowCorrect, values);
  if (shapeOf(targets.logits).back() > 5)
    addAmongLargest(b, targets, rank, 5, abi::rowTop5, values);
}

static void buildMetrics(TensorBuilder &b, const LossInputs &in, const LossTerms &,
                         SmallVectorImpl<RowValue> &values) {
  Targets targets = targetsOf(b, in);
  addTargets(b, in, targets, values);
  addAccuracy(b, targets, values);
  addConfusion(b, targets, values);
}

static void buildMetricsOfProbabilities(TensorBuilder &b, const LossInputs &in, const LossTerms &,
                                        SmallVectorImpl<RowValue> &values) {
  Targets targets = targetsOfProbabilities(b, in);
  addAccuracy(b, targets, values);
  addConfusion(b, targets, values);
}

/// Perplexity depends only on the label, even if the loss has weights or smoothing.
static void buildTokenMetrics(TensorBuilder &b, const LossInputs &in, const LossTerms &terms,
                              SmallVectorImpl<RowValue> &values) {
  Targets targets = targetsOf(b, in);
  addTargets(b, in, targets, values);
  addAccuracy(b, targets, values);
  LossParameters plain;
  plain.ignoredLabel = in.parameters.ignoredLabel;
  bool isPlain = in.parameters.classWeights.empty() && !in.parameters.labelSmoothing;
  Value losses =
      isPlain ? terms.losses : build(b, {in.output, in.labels, in.layout, nullptr, plain}).losses;
  values.push_back({abi::rowLogLikelihood, losses});
}

/// -sum over the classes of w t ln softmax(x) with the probabilities t, which smoothing e replaces
/// by (1 - e) t + e / C. The mean divides by the number of targets.
static LossTerms buildOfProbabilities(TensorBuilder &b, const LossInputs &in) {
  Value logits = classesLast(b, in.output, in.layout.classAxis);
  Value target = classesLast(b, in.labels, in.layout.classAxis);
  auto last = static_cast<int64_t>(shapeOf(logits).size()) - 1;
  if (in.parameters.labelSmoothing.value_or(0) != 0) {
    const Number smoothing = readSmoothing(b, in),
                 share = scale(b, smoothing, 1.0 / static_cast<double>(shapeOf(logits)[last]));
    target = b.add(b.mul(target, broadcastLike(b, complement(b, smoothing), target)),
                   broadcastLike(b, share, target));
  }
  if (Value weights = weightsOf(b, in.parameters, typeOf(logits).getElementType()))
    target = b.mul(target, b.broadcastTo(weights, shapeOf(target)));
  Value losses = b.neg(b.sum(b.mul(target, logSoftmax(b, logits)), {last}));
  return {losses, nullptr};
}

namespace mtc {
void addCrossEntropyLosses(std::vector<Loss> &losses) {
  static constexpr StringLiteral ofClasses[] = {"label-smoothing", "class-weights", "ignore-index",
                                                "soft-labels"};
  static constexpr StringLiteral ofTokens[] = {"label-smoothing", "class-weights", "ignore-index"};
  static constexpr StringLiteral ofProbabilities[] = {"label-smoothing", "class-weights",
                                                      "soft-labels"};
  static constexpr StringLiteral name = "cross-entropy",
                                 help = "cross-entropy of classes, mean over labels not ignored";
  static const Loss soft{.name = name,
                         .help = help,
                         .classifies = false,
                         .parameters = ofProbabilities,
                         .layout = layoutOfProbabilities,
                         .checkParameters = checkClassWeights,
                         .build = buildOfProbabilities,
                         .buildMetrics = buildMetricsOfProbabilities,
                         .activation = OutputActivation::Softmax};
  losses.push_back({.name = name,
                    .help = help,
                    .classifies = true,
                    .parameters = ofClasses,
                    .layout = crossEntropyLayout,
                    .checkParameters = checkClassWeights,
                    .build = build,
                    .buildMetrics = buildMetrics,
                    .activation = OutputActivation::Softmax,
                    .ofProbabilities = &soft});
  losses.push_back({.name = "causal-lm",
                    .help = "cross-entropy of the next token; labels default to shifted ids",
                    .classifies = true,
                    .parameters = ofTokens,
                    .layout = causalLmLayout,
                    .checkParameters = checkClassWeights,
                    .build = build,
                    .buildMetrics = buildTokenMetrics,
                    .activation = OutputActivation::Softmax,
                    .predictsNextToken = true});
}
} // namespace mtc

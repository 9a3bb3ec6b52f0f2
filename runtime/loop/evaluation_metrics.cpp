// The table of metrics.
#include "runtime/loop/evaluation_metrics.h"

#include "runtime/abi/row_values.h"

#include <algorithm>
#include <cmath>

namespace mtc::runtime {

RowTotal &RowTotal::operator+=(const RowTotal &other) {
  sum += other.sum;
  squares += other.squares;
  rows += other.rows;
  return *this;
}

ClassCounts &ClassCounts::operator+=(const ClassCounts &other) {
  hits += other.hits;
  predicted += other.predicted;
  labelled += other.labelled;
  return *this;
}

MetricSums &MetricSums::operator+=(const MetricSums &other) {
  for (const auto &[name, added] : other.totals)
    total(name) += added;
  addTargets(other);
  return *this;
}

void MetricSums::addTargets(const MetricSums &other) {
  classes.resize(std::max(classes.size(), other.classes.size()));
  for (size_t i = 0; i < other.classes.size(); ++i)
    classes[i] += other.classes[i];
  confusion.add(other.confusion);
  calibration.add(other.calibration);
  ranking.add(other.ranking);
}

std::vector<int64_t> MetricSums::targetList() const {
  std::vector<int64_t> list = {std::ssize(classes)};
  for (const ClassCounts &each : classes)
    list.insert(list.end(), {each.hits, each.predicted, each.labelled});
  for (const Calibration::Bin &bin : calibration.bins)
    list.insert(list.end(), {bin.count, bin.correct, bin.confidence});
  confusion.write(list);
  ranking.write(list);
  return list;
}

void MetricSums::addTargetList(std::span<const int64_t> list) {
  auto next = [&list] {
    const int64_t number = list.front();
    list = list.subspan(1);
    return number;
  };
  MetricSums other;
  other.classes.resize(static_cast<size_t>(next()));
  for (ClassCounts &each : other.classes)
    for (int64_t ClassCounts::*field :
         {&ClassCounts::hits, &ClassCounts::predicted, &ClassCounts::labelled})
      each.*field = next();
  for (Calibration::Bin &bin : other.calibration.bins)
    for (int64_t Calibration::Bin::*field :
         {&Calibration::Bin::count, &Calibration::Bin::correct, &Calibration::Bin::confidence})
      bin.*field = next();
  list = other.confusion.read(list);
  other.ranking.read(list);
  addTargets(other);
}

RowTotal MetricSums::totalOf(std::string_view name) const {
  const auto found = totals.find(std::string(name));
  return found == totals.end() ? RowTotal() : found->second;
}

double MetricSums::sum(std::string_view name) const { return totalOf(name).sum; }

double MetricSums::squares(std::string_view name) const { return totalOf(name).squares; }

int64_t MetricSums::rows(std::string_view name) const { return totalOf(name).rows; }

double MetricSums::targets() const {
  return sum(totals.contains(abi::rowTargets) ? abi::rowTargets : abi::rowWeight);
}

void MetricSums::addTarget(int64_t predicted, int64_t labelled) {
  if (predicted < 0 || labelled < 0)
    return;
  const auto count = static_cast<size_t>(std::max(predicted, labelled)) + 1;
  if (classes.size() < count)
    classes.resize(count);
  ++classes[static_cast<size_t>(predicted)].predicted;
  ++classes[static_cast<size_t>(labelled)].labelled;
  if (predicted == labelled)
    ++classes[static_cast<size_t>(labelled)].hits;
  confusion.add(labelled, predicted);
}

namespace {

/// Precision, recall and F1 from counts of positives: 0 without predicted or labelled positives.
struct Precision {
  static double of(double hits, double predicted, double /*labelled*/) {
    return predicted > 0 ? hits / predicted : 0;
  }
};
struct Recall {
  static double of(double hits, double /*predicted*/, double labelled) {
    return labelled > 0 ? hits / labelled : 0;
  }
};
struct F1 {
  static double of(double hits, double predicted, double labelled) {
    return predicted + labelled > 0 ? 2 * hits / (predicted + labelled) : 0;
  }
};

/// The score of one class, or of all labels together.
template <typename Score, const abi::PositiveNames &names>
double ofPositives(const MetricSums &sums) {
  return Score::of(sums.sum(names.hits), sums.sum(names.predicted), sums.sum(names.labelled));
}

/// The mean of the scores of the classes that occur among predictions or labels.
template <typename Score> double ofClasses(const MetricSums &sums) {
  double total = 0, count = 0;
  for (const ClassCounts &each : sums.getClasses()) {
    if (each.predicted + each.labelled == 0)
      continue;
    total += Score::of(static_cast<double>(each.hits), static_cast<double>(each.predicted),
                       static_cast<double>(each.labelled));
    ++count;
  }
  return total / count;
}

/// The fraction of the labels' variance over all elements that the output explains. The deviation
/// from the mean is that within each sample plus that of the samples' means.
double explainedVariance(const MetricSums &sums) {
  const auto rows = static_cast<double>(sums.rows(abi::rowLabelMean));
  const double mean = sums.sum(abi::rowLabelMean) / rows, perRow = sums.targets() / rows;
  const double between = sums.squares(abi::rowLabelMean) - rows * mean * mean;
  const double deviation = sums.sum(abi::rowLabelDeviation) + perRow * between;
  return 1 - sums.sum(abi::rowSquaredError) / deviation;
}

constexpr bool higher = true, lower = false;
constexpr MetricGroup main = MetricGroup::Main, confusion = MetricGroup::Confusion;
constexpr std::array<const char *, 4> positives = {abi::rowPositives.hits,
                                                   abi::rowPositives.predicted,
                                                   abi::rowPositives.labelled},
                                      micro = {abi::rowMicroPositives.hits,
                                               abi::rowMicroPositives.predicted,
                                               abi::rowMicroPositives.labelled},
                                      macro = {abi::rowPredictedClass, abi::rowLabelClass},
                                      binaryScores = {abi::rowScore, abi::rowLabelClass},
                                      classScores = {abi::rowClassScores, abi::rowLabelClass},
                                      sequences = {abi::rowFrameClass, abi::rowSequenceLabel};

double auc(const MetricSums &sums) { return sums.ranking.auc(); }
double averagePrecision(const MetricSums &sums) { return sums.ranking.averagePrecision(); }
double calibrationError(const MetricSums &sums) { return sums.calibration.error(); }

constexpr MetricKind metrics[] = {
    {"loss",
     lower,
     main,
     {},
     [](const MetricSums &sums) { return sums.sum(abi::rowLoss) / sums.sum(abi::rowWeight); }},
    {"accuracy",
     higher,
     main,
     {abi::rowCorrect},
     [](const MetricSums &sums) { return sums.sum(abi::rowCorrect) / sums.targets(); }},
    {"top5_accuracy",
     higher,
     main,
     {abi::rowTop5},
     [](const MetricSums &sums) { return sums.sum(abi::rowTop5) / sums.targets(); }},
    {"perplexity",
     lower,
     main,
     {abi::rowLogLikelihood},
     [](const MetricSums &sums) {
       return std::exp(sums.sum(abi::rowLogLikelihood) / sums.targets());
     }},
    {"label_error_rate", lower, main, sequences,
     [](const MetricSums &sums) { return sums.sum(sequenceErrors) / sums.sum(sequenceLabels); }},
    {"mae",
     lower,
     main,
     {abi::rowAbsoluteError},
     [](const MetricSums &sums) { return sums.sum(abi::rowAbsoluteError) / sums.targets(); }},
    {"mse",
     lower,
     main,
     {abi::rowSquaredError},
     [](const MetricSums &sums) { return sums.sum(abi::rowSquaredError) / sums.targets(); }},
    {"r2",
     higher,
     main,
     {abi::rowSquaredError, abi::rowLabelMean, abi::rowLabelDeviation},
     explainedVariance},
    {"precision", higher, confusion, positives, ofPositives<Precision, abi::rowPositives>},
    {"recall", higher, confusion, positives, ofPositives<Recall, abi::rowPositives>},
    {"f1", higher, confusion, positives, ofPositives<F1, abi::rowPositives>},
    {"micro_precision", higher, confusion, micro, ofPositives<Precision, abi::rowMicroPositives>},
    {"micro_recall", higher, confusion, micro, ofPositives<Recall, abi::rowMicroPositives>},
    {"micro_f1", higher, confusion, micro, ofPositives<F1, abi::rowMicroPositives>},
    {"macro_precision", higher, confusion, macro, ofClasses<Precision>},
    {"macro_recall", higher, confusion, macro, ofClasses<Recall>},
    {"macro_f1", higher, confusion, macro, ofClasses<F1>},
    {"auc", higher, confusion, binaryScores, auc},
    {"average_precision", higher, confusion, binaryScores, averagePrecision},
    {"macro_auc", higher, confusion, classScores, auc},
    {"macro_average_precision", higher, confusion, classScores, averagePrecision},
    // Of two classes, and of several.
    {"ece", lower, confusion, binaryScores, calibrationError},
    {"ece", lower, confusion, {abi::rowPredictedClass, abi::rowConfidence}, calibrationError},
};

} // namespace

const MtcRowValue *findRowValue(const MtcProgram &program, std::string_view name) {
  const MtcRowMetrics &rows = program.row_metrics;
  const auto *end = rows.values + rows.value_count;
  const auto *found =
      std::find_if(rows.values, end, [&](const MtcRowValue &each) { return each.name == name; });
  return found == end ? nullptr : found;
}

bool isTotal(const MtcRowValue &value) {
  return value.kind == MTC_ROW_SUM && !abi::isKept(value.name);
}

bool hasRowLoss(const MtcProgram &program) {
  return findRowValue(program, abi::rowLoss) && findRowValue(program, abi::rowWeight);
}

bool MetricKind::isComputed(const MtcProgram &program) const {
  return std::all_of(needs.begin(), needs.end(), [&](const char *value) {
    return !value || (hasRowLoss(program) && findRowValue(program, value));
  });
}

std::span<const MetricKind> allMetrics() { return metrics; }

const MetricKind *findMetric(const MtcProgram &program, std::string_view name) {
  for (const MetricKind &metric : metrics)
    if (metric.name == name && metric.isComputed(program))
      return &metric;
  return nullptr;
}

std::string metricNames(const MtcProgram &program) {
  std::string names;
  for (const MetricKind &metric : metrics)
    if (metric.isComputed(program))
      names += (names.empty() ? "" : ", ") + std::string(metric.name);
  return names;
}

} // namespace mtc::runtime

// Totals are moved with each batch, because the order of floating-point additions matters. The
// values of targets do not depend on their order, so they are moved once at the end.
#include "runtime/loop/evaluation_sums.h"

#include "runtime/abi/row_values.h"

#include <algorithm>
#include <cstring>
#include <span>
#include <type_traits>
#include <utility>

namespace mtc::runtime {
namespace {

constexpr const char *what = "results of the evaluation";

/// Returns the names of the totals that batches of the program have.
std::vector<const char *> totalsOf(const MtcProgram &program) {
  if (!hasRowLoss(program))
    return {abi::rowLoss, abi::rowWeight};
  std::vector<const char *> names;
  for (uint32_t i = 0; i < program.row_metrics.value_count; ++i)
    if (const MtcRowValue &value = program.row_metrics.values[i]; isTotal(value))
      names.push_back(value.name);
  if (findRowValue(program, abi::rowFrameClass))
    names.insert(names.end(), {sequenceErrors, sequenceLabels});
  return names;
}

/// Returns whether the program computes the class of each target.
bool hasClasses(const MtcProgram &program) { return findRowValue(program, abi::rowLabelClass); }

template <typename Element> int64_t bytesOf(const std::vector<Element> &elements) {
  return static_cast<int64_t>(elements.size() * sizeof(Element));
}

/// Moves elements of one rank to rank 0.
template <typename Element>
void moveElements(ToLeader &toLeader, int rank, const std::vector<Element> &sent,
                  std::vector<Element> &received) {
  static_assert(std::is_trivially_copyable_v<Element>);
  toLeader.move(
      rank, bytesOf(sent),
      [&](int64_t begin, int64_t bytes, const ToLeader::Use &use) {
        use(reinterpret_cast<const char *>(sent.data()) + begin, 0, bytes);
      },
      [&](const char *from, int64_t at, int64_t bytes) {
        std::memcpy(reinterpret_cast<char *>(received.data()) + at, from,
                    static_cast<size_t>(bytes));
      });
}

/// Returns the size of the largest message: the totals of a batch or, with classes, more.
int64_t messageBytes(const MtcProgram &program, int64_t ofTotals) {
  constexpr int64_t ofClasses = 1 << 12;
  return hasClasses(program) ? std::max(ofTotals, ofClasses) : ofTotals;
}

} // namespace

EvaluationSums::EvaluationSums(const MtcProgram &program, Ranks &ranks)
    : program(program), ranks(ranks), names(totalsOf(program)), sent(names.size()),
      received(names.size()), toLeader(ranks, messageBytes(program, bytesOf(sent)), what) {}

MetricSums EvaluationSums::add(int rank, const MetricSums &own) {
  total.addTargets(own);
  for (size_t i = 0; i < names.size(); ++i)
    sent[i] = own.totalOf(names[i]);
  moveElements(toLeader, rank, sent, received);
  MetricSums added;
  if (!ranks.isLeader())
    return added;
  for (size_t i = 0; i < names.size(); ++i)
    added.total(names[i]) = received[i];
  total += added;
  return added;
}

MetricSums EvaluationSums::finish() {
  MetricSums found = std::exchange(total, {});
  // Rank 0 has added the targets of its own batches.
  const int first = ranks.senderOf(0) == 0 ? 1 : 0;
  if (first == ranks.dataCount() || !hasClasses(program))
    return found;
  // The lists of ranks have different lengths.
  std::vector<int64_t> own = found.targetList();
  own.resize(static_cast<size_t>(ranks.maximum(std::ssize(own), what)));
  std::vector<int64_t> others(ranks.isLeader() ? own.size() : 0);
  for (int data = first; data < ranks.dataCount(); ++data) {
    moveElements(toLeader, ranks.senderOf(data), own, others);
    if (ranks.isLeader())
      found.addTargetList(others);
  }
  return found;
}

} // namespace mtc::runtime

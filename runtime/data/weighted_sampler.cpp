// Inverse transform sampling: a search among the sums of blocks, then in one block.
#include "runtime/data/weighted_sampler.h"

#include "runtime/data/data_column.h"
#include "runtime/io/checksum.h"
#include "runtime/support/element_type.h"
#include "runtime/support/failure.h"
#include "runtime/support/integers.h"
#include "runtime/support/philox.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <memory>
#include <numeric>
#include <utility>

namespace mtc::runtime {

static constexpr int64_t blockRows = 512;

WeightedSampler::WeightedSampler(int64_t rows, std::string name, ReadWeights readWeights)
    : rows(rows), text(std::move(name)), read(std::move(readWeights)) {
  std::array<double, blockRows> weights;
  Checksum sum;
  double total = 0;
  ends.reserve(static_cast<size_t>((rows + blockRows - 1) / blockRows));
  for (int64_t first = 0; first < rows; first += blockRows) {
    const int64_t count = std::min(blockRows, rows - first);
    read(first, count, weights.data());
    for (int64_t i = 0; i < count; ++i) {
      const double weight = weights[static_cast<size_t>(i)];
      if (!(weight >= 0) || !std::isfinite(weight))
        userError(text, ": row ", first + i, " has the weight ", weight,
                  "; expected finite weights of at least 0");
      total += weight;
    }
    sum.add(weights.data(), count * static_cast<int64_t>(sizeof(double)));
    ends.push_back(total);
  }
  if (!(total > 0) || !std::isfinite(total))
    userError(text, ": the weights have the sum ", total, "; expected a finite sum above 0");
  text += " (checksum " + checksumText(sum.value()) + ")";
}

int64_t WeightedSampler::draw(uint64_t seed, uint64_t epoch, int64_t index) const {
  constexpr uint32_t stream = 0x57656967; // differs from the numbers of RowOrder
  const auto position = static_cast<uint64_t>(index);
  const auto words =
      philox({static_cast<uint32_t>(position), static_cast<uint32_t>(position >> 32) ^ stream,
              static_cast<uint32_t>(epoch), static_cast<uint32_t>(epoch >> 32)},
             {static_cast<uint32_t>(seed), static_cast<uint32_t>(seed >> 32)});
  const uint64_t bits = (static_cast<uint64_t>(words[0]) << 32 | words[1]) >> 11;
  const double target = static_cast<double>(bits) * 0x1p-53 * ends.back();
  // Rounding may give the sum itself.
  const auto block =
      std::min(std::upper_bound(ends.begin(), ends.end(), target) - ends.begin(),
               std::lower_bound(ends.begin(), ends.end(), ends.back()) - ends.begin());
  const int64_t first = block * blockRows, count = std::min(blockRows, rows - first);
  std::array<double, blockRows> weights;
  read(first, count, weights.data());
  double sum = block ? ends[static_cast<size_t>(block - 1)] : 0;
  int64_t last = 0; // the last sample that can be drawn
  for (int64_t i = 0; i < count; ++i) {
    sum += weights[static_cast<size_t>(i)];
    if (weights[static_cast<size_t>(i)] > 0)
      last = i;
    if (target < sum)
      return first + i;
  }
  return first + last;
}

WeightedSampler samplerOfFile(const std::string &file, int64_t rows) {
  /// An input of one number for each sample, which the weights are read as.
  struct Weights {
    int64_t dims[1] = {1};
    MtcInput input{};
    std::optional<DataColumn> column;
  };
  const auto weights = std::make_shared<Weights>();
  weights->input.tensor = {.name = "weights",
                           .type = MTC_F64,
                           .rank = 1,
                           .dims = weights->dims,
                           .offset = 0,
                           .bytes = sizeof(double),
                           .space = MTC_HOST};
  const std::string flag = "--sample-weights " + file;
  weights->column.emplace(weights->input, flag,
                          openDataFile(weights->input, file, "--sample-weights"));
  if (weights->column->source().isStream)
    userError(flag, ": is a token file; expected one weight for each sample, such as a .npy");
  if (weights->column->items() != rows)
    userError(flag, ": has ", weights->column->items(), " weights, but the data has ", rows,
              " samples");
  return {rows, "--sample-weights", [weights](int64_t first, int64_t count, double *to) {
            std::array<int64_t, blockRows> items;
            std::iota(items.begin(), items.end(), first);
            weights->column->load(items.data(), count, reinterpret_cast<char *>(to));
          }};
}

/// Calls action(row, label) for consecutive samples.
template <typename Action>
static void forLabels(const MtcInput &labels, const DataColumn &column, int64_t first,
                      int64_t count, const Action &action) {
  std::array<int64_t, blockRows> items;
  std::array<char, blockRows * sizeof(int64_t)> values;
  std::iota(items.begin(), items.end(), first);
  column.load(items.data(), count, values.data());
  withInteger(labels.tensor.type, [&](auto example) {
    for (int64_t i = 0; i < count; ++i)
      action(i, static_cast<int64_t>(elementAt<decltype(example)>(values.data(), i)));
  });
}

WeightedSampler samplerOfClasses(const MtcInput &labels, const DataColumn &column) {
  std::vector<int64_t> counts(static_cast<size_t>(labels.limit - labels.minimum));
  auto classOf = [&labels](int64_t label) { return static_cast<size_t>(label - labels.minimum); };
  auto isClass = [&labels](int64_t label) {
    return label != labels.ignored && label >= labels.minimum && label < labels.limit;
  };
  for (int64_t first = 0; first < column.items(); first += blockRows)
    forLabels(labels, column, first, std::min(blockRows, column.items() - first),
              [&](int64_t, int64_t label) {
                if (isClass(label))
                  ++counts[classOf(label)];
              });
  return {column.items(), "--balance-classes",
          [&labels, &column, classOf, isClass,
           counts = std::move(counts)](int64_t first, int64_t count, double *to) {
            forLabels(labels, column, first, count, [&](int64_t i, int64_t label) {
              to[i] = isClass(label) ? 1.0 / static_cast<double>(counts[classOf(label)]) : 0.0;
            });
          }};
}

} // namespace mtc::runtime

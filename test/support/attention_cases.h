// Attention by plain sums, the reference for all implementations. Sizes are not multiples of tiles,
// and masks are of every kind.
#ifndef MTC_TEST_SUPPORT_ATTENTION_CASES_H
#define MTC_TEST_SUPPORT_ATTENTION_CASES_H

#include "runtime/abi/attention.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>
#include <string>
#include <vector>

namespace mtc::attention_cases {

struct Case {
  const char *name;
  int64_t batch = 2, heads = 2, keyHeads = 2, queries = 7, keys = 7, width = 8, valueWidth = 8;
  bool bias = false, mask = false, causal = false;
  int64_t offset = 0;
  /// Strides of [batch, length, heads, width] in memory instead of [batch, heads, length, width].
  bool headsInside = false;
  /// Whether axes of the bias and the mask have the extent 1.
  bool broadcastBatch = false, broadcastHeads = false, broadcastQueries = false;
  /// All keys of this query are masked, or have a bias of -inf.
  int64_t emptyRow = -1;
};

/// The memory of an operand or a result.
struct Buffer {
  char *data;
  size_t bytes;
};

/// The type in which tensors of `Element` are summed, and their tolerance.
template <typename Element> struct TypeOf;
template <> struct TypeOf<double> {
  using Sum = double;
  static constexpr uint32_t code = MTC_F64;
  static constexpr double tolerance = 1e-13;
};
template <> struct TypeOf<float> {
  using Sum = float;
  static constexpr uint32_t code = MTC_F32;
  static constexpr double tolerance = 2e-5;
};
template <> struct TypeOf<_Float16> {
  using Sum = float;
  static constexpr uint32_t code = MTC_F16;
  static constexpr double tolerance = 1e-3;
};
template <> struct TypeOf<__bf16> {
  using Sum = float;
  static constexpr uint32_t code = MTC_BF16;
  static constexpr double tolerance = 6e-3;
};

/// The tensors of one call in `Element`, and the expected results in f64. Calls with 16-bit
/// elements compute in f32 between operands and results, and `out` is an operand of their
/// gradients.
template <typename Element> class Instance {
public:
  using Sum = typename TypeOf<Element>::Sum;

  explicit Instance(const Case &c) : c(c) {
    p = {};
    p.type = TypeOf<Element>::code;
    p.has_out = sizeof(Element) == 2;
    p.batch = c.batch;
    p.heads = c.heads;
    p.key_heads = c.keyHeads;
    p.queries = c.queries;
    p.keys = c.keys;
    p.width = c.width;
    p.value_width = c.valueWidth;
    p.scale = 0.37;
    p.has_bias = c.bias;
    p.has_mask = c.mask;
    p.is_causal = c.causal;
    p.causal_offset = c.offset;
    layOut(p.query, c.heads, c.queries, c.width);
    layOut(p.key, c.keyHeads, c.keys, c.width);
    layOut(p.value, c.keyHeads, c.keys, c.valueWidth);
    layOut(p.out, c.heads, c.queries, c.valueWidth);
    layOut(p.saved_out, c.heads, c.queries, c.valueWidth);
    layOut(p.d_query, c.heads, c.queries, c.width);
    layOut(p.d_key, c.keyHeads, c.keys, c.width);
    layOut(p.d_value, c.keyHeads, c.keys, c.valueWidth);
    int64_t b = c.broadcastBatch ? 1 : c.batch, h = c.broadcastHeads ? 1 : c.heads,
            q = c.broadcastQueries ? 1 : c.queries;
    for (int64_t *strides : {p.bias, p.mask}) {
      strides[0] = b == 1 ? 0 : h * q * c.keys;
      strides[1] = h == 1 ? 0 : q * c.keys;
      strides[2] = q == 1 ? 0 : c.keys;
      strides[3] = 1;
    }
    query = random(c.batch * c.heads * c.queries * c.width);
    key = random(c.batch * c.keyHeads * c.keys * c.width);
    value = random(c.batch * c.keyHeads * c.keys * c.valueWidth);
    dOut = random(c.batch * c.heads * c.queries * c.valueWidth);
    bias = random(b * h * q * c.keys);
    for (size_t i = 0; i < bias.size(); i += 5)
      bias[i] = none;
    mask.resize(bias.size());
    for (size_t i = 0; i < mask.size(); ++i)
      mask[i] = i % 3 != 1;
    for (int64_t line = c.emptyRow; line >= 0 && line < b * h * q; line += q)
      for (int64_t j = 0; j < c.keys; ++j) {
        mask[static_cast<size_t>(line * c.keys + j)] = 0;
        bias[static_cast<size_t>(line * c.keys + j)] = none;
      }
    solve();
  }

  /// Checks both directions by `run`, which receives the description, whether it is the gradient,
  /// the buffers, and the number of operands. `rounding` is the maximum relative error of
  /// probabilities and gradients of scores in matrix multiplications, if these are rounded.
  template <typename Run>
  void check(const Run &run, double tolerance = TypeOf<Element>::tolerance, double rounding = 0) {
    SCOPED_TRACE(c.name);
    std::vector<Element> out(dOut.size()), dQuery(query.size()), dKey(key.size()),
        dValue(value.size());
    std::vector<Sum> logsumexp(expectedLogsumexp.size()), offsets(logsumexp.size());
    for (size_t i = 0; i < offsets.size(); ++i)
      offsets[i] = static_cast<Sum>(expectedOffsets[i]);
    std::vector<Buffer> buffers = {bufferOf(query), bufferOf(key), bufferOf(value)};
    if (c.bias)
      buffers.push_back(bufferOf(bias));
    if (c.mask)
      buffers.push_back(bufferOf(mask));
    std::vector<Buffer> backward = buffers;
    backward.insert(backward.end(), {bufferOf(logsumexp), bufferOf(offsets), bufferOf(dOut)});
    if (p.has_out)
      backward.push_back(bufferOf(out));
    const size_t operands = buffers.size(), backwardOperands = backward.size();
    buffers.insert(buffers.end(), {bufferOf(out), bufferOf(logsumexp)});
    backward.insert(backward.end(), {bufferOf(dQuery), bufferOf(dKey), bufferOf(dValue)});
    run(p, false, buffers, operands);
    compare("out", out, expectedOut, tolerance, rounding);
    compare("logsumexp", logsumexp, {expectedLogsumexp, Numbers(logsumexp.size())}, tolerance, 0);
    run(p, true, backward, backwardOperands);
    compare("d_query", dQuery, expectedQuery, tolerance, rounding);
    compare("d_key", dKey, expectedKey, tolerance, rounding);
    compare("d_value", dValue, expectedValue, tolerance, rounding);
    results = {bytesOf(out), bytesOf(logsumexp), bytesOf(dQuery), bytesOf(dKey), bytesOf(dValue)};
  }

  const MtcAttention &description() const { return p; }

  std::vector<std::string> results; ///< their bytes

private:
  using Numbers = std::vector<double>;

  /// Sums over probabilities or gradients of scores, and the sums of the squares of their terms.
  struct Sums {
    Numbers values, squares;

    explicit Sums(size_t count = 0) : Sums(Numbers(count), Numbers(count)) {}
    Sums(Numbers values, Numbers squares)
        : values(std::move(values)), squares(std::move(squares)) {}
    void add(size_t i, double term) {
      values[i] += term;
      squares[i] += term * term;
    }
  };

  static constexpr Element none = static_cast<Element>(-std::numeric_limits<Sum>::infinity());

  template <typename T> static std::string bytesOf(const std::vector<T> &values) {
    return {reinterpret_cast<const char *>(values.data()), values.size() * sizeof(T)};
  }

  template <typename T> static Buffer bufferOf(std::vector<T> &values) {
    return {reinterpret_cast<char *>(values.data()), values.size() * sizeof(T)};
  }

  void layOut(int64_t *strides, int64_t heads, int64_t length, int64_t width) const {
    strides[0] = heads * length * width;
    strides[1] = c.headsInside ? width : length * width;
    strides[2] = c.headsInside ? heads * width : width;
    strides[3] = 1;
  }

  std::vector<Element> random(int64_t count) {
    std::normal_distribution<double> distribution;
    std::vector<Element> values(static_cast<size_t>(count));
    for (Element &value : values)
      value = static_cast<Element>(static_cast<Sum>(distribution(generator)));
    return values;
  }

  /// Errors of terms are independent, with a standard deviation of at most rounding / sqrt(3) of
  /// the term. Sums must be within five standard deviations.
  template <typename T>
  static void compare(const char *what, const std::vector<T> &found, const Sums &sums,
                      double tolerance, double rounding) {
    const Numbers &wanted = sums.values;
    ASSERT_EQ(found.size(), wanted.size());
    for (size_t i = 0; i < found.size(); ++i) {
      if (std::isinf(wanted[i])) {
        ASSERT_EQ(static_cast<double>(found[i]), wanted[i]) << what << ' ' << i;
        continue;
      }
      ASSERT_NEAR(static_cast<double>(found[i]), wanted[i],
                  tolerance * (1 + std::abs(wanted[i])) +
                      5 * rounding * std::sqrt(sums.squares[i] / 3))
          << what << ' ' << i;
    }
  }

  static size_t at(const int64_t *strides, int64_t b, int64_t h, int64_t i, int64_t d) {
    return static_cast<size_t>(b * strides[0] + h * strides[1] + i * strides[2] + d * strides[3]);
  }

  /// Computes the definition row by row.
  void solve() {
    expectedOut = Sums(dOut.size());
    expectedQuery = Sums(query.size());
    expectedKey = Sums(key.size());
    expectedValue = Sums(value.size());
    for (int64_t b = 0; b < c.batch; ++b)
      for (int64_t h = 0; h < c.heads; ++h)
        for (int64_t i = 0; i < c.queries; ++i)
          solveRow(b, h, i);
  }

  void solveRow(int64_t b, int64_t h, int64_t i) {
    const int64_t g = h * c.keyHeads / c.heads;
    Numbers e(static_cast<size_t>(c.keys));
    double sum = 0, offset = 0;
    for (int64_t j = 0; j < c.keys; ++j) {
      double score = 0;
      for (int64_t d = 0; d < c.width; ++d)
        score += static_cast<double>(query[at(p.query, b, h, i, d)]) *
                 static_cast<double>(key[at(p.key, b, g, j, d)]);
      score *= p.scale;
      if (c.bias)
        score += static_cast<double>(bias[at(p.bias, b, h, i, j)]);
      bool kept = (!c.mask || mask[at(p.mask, b, h, i, j)]) && (!c.causal || j <= i + c.offset);
      e[static_cast<size_t>(j)] = kept ? std::exp(score) : 0;
      sum += e[static_cast<size_t>(j)];
    }
    expectedLogsumexp.push_back(sum == 0 ? std::numeric_limits<double>::infinity() : std::log(sum));
    Numbers dP(e.size());
    for (int64_t j = 0; j < c.keys; ++j) {
      auto k = static_cast<size_t>(j);
      e[k] = sum == 0 ? 0 : e[k] / sum;
      for (int64_t d = 0; d < c.valueWidth; ++d) {
        double v = static_cast<double>(value[at(p.value, b, g, j, d)]);
        double dO = static_cast<double>(dOut[at(p.out, b, h, i, d)]);
        expectedOut.add(at(p.out, b, h, i, d), e[k] * v);
        expectedValue.add(at(p.d_value, b, g, j, d), e[k] * dO);
        dP[k] += v * dO;
      }
      offset += e[k] * dP[k];
    }
    expectedOffsets.push_back(offset);
    for (int64_t j = 0; j < c.keys; ++j) {
      auto k = static_cast<size_t>(j);
      double dS = e[k] * (dP[k] - offset) * p.scale;
      for (int64_t d = 0; d < c.width; ++d) {
        expectedQuery.add(at(p.d_query, b, h, i, d),
                          dS * static_cast<double>(key[at(p.key, b, g, j, d)]));
        expectedKey.add(at(p.d_key, b, g, j, d),
                        dS * static_cast<double>(query[at(p.query, b, h, i, d)]));
      }
    }
  }

  Case c;
  MtcAttention p;
  std::mt19937_64 generator{7};
  std::vector<Element> query, key, value, bias, dOut;
  std::vector<uint8_t> mask;
  Numbers expectedLogsumexp, expectedOffsets;
  Sums expectedOut, expectedQuery, expectedKey, expectedValue;
};

inline const Case cases[] = {
    {.name = "small"},
    {.name = "ragged tiles", .queries = 131, .keys = 203, .width = 24, .valueWidth = 40},
    {.name = "odd widths", .queries = 65, .keys = 67, .width = 5, .valueWidth = 19},
    {.name = "causal", .queries = 150, .keys = 150, .width = 16, .causal = true},
    {.name = "causal, keys before", .queries = 70, .keys = 190, .causal = true, .offset = 120},
    {.name = "causal, rows of no keys", .queries = 100, .keys = 90, .causal = true, .offset = -70},
    {.name = "grouped", .heads = 6, .keyHeads = 2, .queries = 33, .keys = 70, .causal = true},
    {.name = "heads inside",
     .heads = 3,
     .keyHeads = 3,
     .queries = 70,
     .keys = 66,
     .headsInside = true},
    {.name = "bias", .queries = 66, .keys = 100, .bias = true},
    {.name = "bias of keys",
     .queries = 66,
     .keys = 100,
     .bias = true,
     .broadcastHeads = true,
     .broadcastQueries = true},
    {.name = "mask", .queries = 66, .keys = 100, .mask = true, .broadcastBatch = true},
    {.name = "all kinds",
     .heads = 4,
     .keyHeads = 2,
     .queries = 66,
     .keys = 100,
     .bias = true,
     .mask = true,
     .causal = true,
     .offset = 34,
     .broadcastHeads = true,
     .emptyRow = 3},
    {.name = "empty by mask", .queries = 5, .keys = 9, .mask = true, .emptyRow = 2},
    {.name = "empty by bias", .queries = 5, .keys = 9, .bias = true, .emptyRow = 2},
    {.name = "one key", .queries = 3, .keys = 1, .width = 1, .valueWidth = 1},
};

/// The scores are at most 129000, and the last one is the largest: the result is the last value,
/// and no exponential overflows. See Instance::check for `run`.
struct LargeScores {
  MtcAttention p = {};
  std::vector<float> query{1}, key = std::vector<float>(130), value = key, out{0}, logsumexp{0};

  LargeScores() {
    p.type = MTC_F32;
    p.batch = p.heads = p.key_heads = p.queries = p.width = p.value_width = 1;
    p.keys = 130;
    p.scale = 1;
    for (int64_t *strides : {p.query, p.key, p.value, p.out})
      strides[2] = strides[3] = 1;
    for (size_t j = 0; j < key.size(); ++j) {
      key[j] = 1000 * static_cast<float>(j);
      value[j] = static_cast<float>(j);
    }
  }

  template <typename Run> void attend(const Run &run) {
    std::vector<Buffer> buffers;
    for (std::vector<float> *each : {&query, &key, &value, &out, &logsumexp})
      buffers.push_back({reinterpret_cast<char *>(each->data()), each->size() * sizeof(float)});
    run(p, false, buffers, 3);
  }
};

} // namespace mtc::attention_cases

#endif // MTC_TEST_SUPPORT_ATTENTION_CASES_H

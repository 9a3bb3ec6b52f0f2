// Compares attention graphs for cuDNN with plain sums. The emulated library computes the graph that
// it receives.
#include "runtime/calls/attention/cuda/dnn_attention.h"
#include "runtime/calls/attention/cuda/dnn_attention_plan.h"
#include "runtime/devices/cuda/driver.h"
#include "runtime/devices/gpu/handles.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <random>
#include <string>
#include <vector>

using namespace mtc::runtime::cuda;
using namespace mtc::runtime::gpu;

namespace {

struct Case {
  const char *name;
  int64_t batch = 2, heads = 2, keyHeads = 2, queries = 7, keys = 9, width = 8, valueWidth = 8;
  bool isCausal = false;
  int64_t offset = 0;
  /// Returns strides for the order [batch, length, heads, width] in memory instead of [batch,
  /// heads, length, width].
  bool headsInside = false;
  uint32_t type = MTC_F16;
};

/// A tensor with four axes and 16-bit elements, with exactly representable values.
struct Tensor {
  int64_t extents[4], strides[4];
  std::vector<float> numbers;

  double at(int64_t b, int64_t h, int64_t i, int64_t d) const {
    return static_cast<double>(numbers[index(b, h, i, d)]);
  }
  size_t index(int64_t b, int64_t h, int64_t i, int64_t d) const {
    return static_cast<size_t>(b * strides[0] + h * strides[1] + i * strides[2] + d);
  }
};

uint16_t bitsOf(uint32_t type, float value) {
  uint16_t bits = 0;
  if (type == MTC_F16) {
    const auto half = static_cast<_Float16>(value);
    std::memcpy(&bits, &half, 2);
  } else {
    uint32_t wide = 0;
    std::memcpy(&wide, &value, 4);
    bits = static_cast<uint16_t>((wide + 0x7fff + (wide >> 16 & 1)) >> 16);
  }
  return bits;
}

float valueOf(uint32_t type, uint16_t bits) {
  if (type == MTC_F16) {
    _Float16 half = 0;
    std::memcpy(&half, &bits, 2);
    return static_cast<float>(half);
  }
  const uint32_t wide = static_cast<uint32_t>(bits) << 16;
  float value = 0;
  std::memcpy(&value, &wide, 4);
  return value;
}

class Problem {
public:
  explicit Problem(const Case &c) : c(c) {
    query = tensor(c.heads, c.queries, c.width);
    key = tensor(c.keyHeads, c.keys, c.width);
    value = tensor(c.keyHeads, c.keys, c.valueWidth);
    dOut = tensor(c.heads, c.queries, c.valueWidth);
    a = {};
    a.type = c.type;
    a.is_causal = c.isCausal;
    a.causal_offset = c.offset;
    a.batch = c.batch;
    a.heads = c.heads;
    a.key_heads = c.keyHeads;
    a.queries = c.queries;
    a.keys = c.keys;
    a.width = c.width;
    a.value_width = c.valueWidth;
    a.scale = 0.37;
    a.has_out = 1;
    copy(query, {a.query, a.d_query});
    copy(key, {a.key, a.d_key});
    copy(value, {a.value, a.d_value});
    copy(dOut, {a.out, a.saved_out});
    solve();
  }

  void check();

private:
  Tensor tensor(int64_t heads, int64_t length, int64_t width) {
    Tensor t = {{c.batch, heads, length, width}, {heads * length * width, 0, 0, 1}, {}};
    t.strides[1] = c.headsInside ? width : length * width;
    t.strides[2] = c.headsInside ? heads * width : width;
    t.numbers.resize(static_cast<size_t>(c.batch * heads * length * width));
    std::normal_distribution<float> distribution;
    for (float &number : t.numbers)
      number = valueOf(c.type, bitsOf(c.type, distribution(generator)));
    return t;
  }
  static void copy(const Tensor &from, std::initializer_list<int64_t *> to) {
    for (int64_t *strides : to)
      std::copy(from.strides, from.strides + 4, strides);
  }

  void solve();
  void compare(const char *name, const std::vector<float> &found, const std::vector<double> &wanted,
               double tolerance) const {
    for (size_t i = 0; i < wanted.size(); ++i)
      ASSERT_NEAR(static_cast<double>(found[i]), wanted[i],
                  tolerance * std::max(1.0, std::abs(wanted[i])))
          << c.name << ", " << name << "[" << i << "]";
  }

  Case c;
  MtcAttention a;
  std::mt19937 generator{1};
  Tensor query, key, value, dOut;
  std::vector<double> out, logsumexp, dQuery, dKey, dValue;
};

void Problem::solve() {
  out.assign(dOut.numbers.size(), 0);
  dQuery.assign(query.numbers.size(), 0);
  dKey.assign(key.numbers.size(), 0);
  dValue.assign(value.numbers.size(), 0);
  for (int64_t b = 0; b < c.batch; ++b)
    for (int64_t h = 0; h < c.heads; ++h)
      for (int64_t i = 0; i < c.queries; ++i) {
        const int64_t g = h * c.keyHeads / c.heads;
        const int64_t count = c.isCausal ? std::min(c.keys, i + c.offset + 1) : c.keys;
        std::vector<double> p(static_cast<size_t>(count)), dp(p);
        double sum = 0, offset = 0;
        for (int64_t j = 0; j < count; ++j) {
          double score = 0;
          for (int64_t d = 0; d < c.width; ++d)
            score += query.at(b, h, i, d) * key.at(b, g, j, d);
          sum += p[static_cast<size_t>(j)] = std::exp(a.scale * score);
        }
        logsumexp.push_back(std::log(sum));
        for (int64_t j = 0; j < count; ++j) {
          double &weight = p[static_cast<size_t>(j)], &gradient = dp[static_cast<size_t>(j)];
          weight /= sum;
          for (int64_t e = 0; e < c.valueWidth; ++e) {
            out[dOut.index(b, h, i, e)] += weight * value.at(b, g, j, e);
            gradient += dOut.at(b, h, i, e) * value.at(b, g, j, e);
            dValue[value.index(b, g, j, e)] += weight * dOut.at(b, h, i, e);
          }
          offset += weight * gradient;
        }
        for (int64_t j = 0; j < count; ++j) {
          const auto at = static_cast<size_t>(j);
          const double ds = a.scale * p[at] * (dp[at] - offset);
          for (int64_t d = 0; d < c.width; ++d) {
            dQuery[query.index(b, h, i, d)] += ds * key.at(b, g, j, d);
            dKey[key.index(b, g, j, d)] += ds * query.at(b, h, i, d);
          }
        }
      }
}

/// Device memory that is filled with f16 numbers, or read as f16 or f32.
class DeviceTensors {
public:
  explicit DeviceTensors(uint32_t type) : type(type), driver(openDriver()), stream(driver) {}

  Address give(const Tensor &tensor) {
    std::vector<uint16_t> bits;
    for (float number : tensor.numbers)
      bits.push_back(bitsOf(type, number));
    const Address address = room(static_cast<int64_t>(bits.size() * 2));
    driver.copyToDevice(address, bits.data(), bits.size() * 2, stream);
    check(driver, driver.waitForStream(stream), "copies");
    return address;
  }
  Address room(int64_t bytes) { return memories.emplace_back(driver, bytes).address(); }
  std::vector<float> halves(Address address, size_t count) {
    std::vector<uint16_t> bits(count);
    read(bits.data(), address, count * 2);
    std::vector<float> result;
    for (uint16_t half : bits)
      result.push_back(valueOf(type, half));
    return result;
  }
  std::vector<float> floats(Address address, size_t count) {
    std::vector<float> result(count);
    read(result.data(), address, count * 4);
    return result;
  }

private:
  void read(void *to, Address from, size_t bytes) {
    driver.copyToHost(to, from, bytes, stream);
    check(driver, driver.waitForStream(stream), "attention");
  }

  uint32_t type;
  std::vector<DeviceMemory> memories;

public:
  const Driver &driver;
  OwnedStream stream;
};

void Problem::check() {
  setenv("MTC_CUDNN", "1", 1);
  std::unique_ptr<Dnn> dnn = Dnn::open();
  ASSERT_TRUE(dnn);
  DeviceTensors tensors(c.type);
  auto halfRoom = [&](const std::vector<double> &values) {
    return tensors.room(static_cast<int64_t>(values.size()) * 2);
  };
  const Address q = tensors.give(query), k = tensors.give(key), v = tensors.give(value),
                o = halfRoom(out), s = tensors.room(static_cast<int64_t>(logsumexp.size()) * 4);
  auto forwardBytes = planDnnAttention(a, false), backwardBytes = planDnnAttention(a, true);
  ASSERT_TRUE(forwardBytes && backwardBytes) << c.name;
  auto forward = DnnAttention::create(*dnn, a, false, {q, k, v, o, s}, tensors.room(*forwardBytes),
                                      *forwardBytes);
  ASSERT_TRUE(forward) << c.name;
  forward->enqueue(tensors.stream);
  const double tolerance = c.type == MTC_F16 ? 4e-3 : 3e-2;
  compare("out", tensors.halves(o, out.size()), out, tolerance);
  compare("logsumexp", tensors.floats(s, logsumexp.size()), logsumexp, 1e-5);

  // The memory of the offsets is undefined.
  const Address offsets = tensors.room(static_cast<int64_t>(logsumexp.size()) * 4),
                d = tensors.give(dOut), dq = halfRoom(dQuery), dk = halfRoom(dKey),
                dv = halfRoom(dValue);
  auto backward = DnnAttention::create(*dnn, a, true, {q, k, v, s, offsets, d, o, dq, dk, dv},
                                       tensors.room(*backwardBytes), *backwardBytes);
  ASSERT_TRUE(backward) << c.name;
  backward->enqueue(tensors.stream);
  compare("d_query", tensors.halves(dq, dQuery.size()), dQuery, 2 * tolerance);
  compare("d_key", tensors.halves(dk, dKey.size()), dKey, 2 * tolerance);
  compare("d_value", tensors.halves(dv, dValue.size()), dValue, 2 * tolerance);
}

TEST(DnnAttention, IsWhatSumsAre) {
  for (Case c : {Case{.name = "plain"}, Case{.name = "bf16", .type = MTC_BF16},
                 Case{.name = "causal", .keys = 7, .isCausal = true},
                 Case{.name = "last queries", .isCausal = true, .offset = 2},
                 Case{.name = "all keys", .isCausal = true, .offset = 50},
                 Case{.name = "shared heads", .heads = 6, .isCausal = true},
                 Case{.name = "one head of keys", .heads = 4, .keyHeads = 1},
                 Case{.name = "heads inside", .heads = 4, .isCausal = true, .headsInside = true},
                 Case{.name = "other widths", .width = 16, .valueWidth = 24},
                 Case{.name = "one query", .queries = 1},
                 Case{.name = "one key", .keys = 1, .isCausal = true}})
    Problem(c).check();
}

/// [2, 4, 64, 32], before changes.
MtcAttention attention() {
  MtcAttention a = {};
  a.type = MTC_BF16;
  a.has_out = 1;
  a.batch = 2;
  a.heads = a.key_heads = 4;
  a.queries = a.keys = 64;
  a.width = a.value_width = 32;
  a.scale = 1;
  for (int64_t *strides :
       {a.query, a.key, a.value, a.out, a.saved_out, a.d_query, a.d_key, a.d_value}) {
    strides[0] = 4 * 64 * 32;
    strides[1] = 64 * 32;
    strides[2] = 32;
    strides[3] = 1;
  }
  return a;
}

TEST(DnnAttention, IsNotAskedForWhatItCannot) {
  auto isPlanned = [](auto change, bool isGradient) {
    MtcAttention a = attention();
    change(a);
    return planDnnAttention(a, isGradient).has_value();
  };
  auto isRefused = [&](auto change) {
    return !isPlanned(change, false) && !isPlanned(change, true);
  };
  EXPECT_TRUE(isPlanned([](MtcAttention &) {}, false));
  EXPECT_TRUE(isPlanned([](MtcAttention &) {}, true));
  EXPECT_TRUE(isRefused([](MtcAttention &a) { a.type = MTC_F32; }));
  EXPECT_TRUE(isRefused([](MtcAttention &a) { a.has_mask = 1; }));
  EXPECT_TRUE(isRefused([](MtcAttention &a) { a.has_bias = 1; }));
  EXPECT_TRUE(isRefused([](MtcAttention &a) { a.width = 28; }));
  EXPECT_TRUE(isRefused([](MtcAttention &a) { a.value_width = 264; }));
  EXPECT_TRUE(isRefused([](MtcAttention &a) { a.key[2] = 36; }));
  EXPECT_TRUE(isRefused([](MtcAttention &a) { a.query[1] = 0; }));
  EXPECT_TRUE(isRefused([](MtcAttention &a) { a.keys = 0; }));
  // The first query has no key.
  EXPECT_TRUE(isRefused([](MtcAttention &a) {
    a.is_causal = 1;
    a.causal_offset = -1;
  }));
  auto isForwardOnly = [&](auto change) {
    return isPlanned(change, false) && !isPlanned(change, true);
  };
  EXPECT_TRUE(isForwardOnly([](MtcAttention &a) { a.has_out = 0; }));
  EXPECT_TRUE(isForwardOnly([](MtcAttention &a) { a.saved_out[2] = 33; }));
  EXPECT_TRUE(isForwardOnly([](MtcAttention &a) { a.queries = a.keys = 1; }));
  // If the length is at least 16 times the width, one number per pair of positions needs more than
  // twice the memory of the tensors.
  EXPECT_TRUE(isPlanned([](MtcAttention &a) { a.queries = a.keys = 512; }, true));
  EXPECT_TRUE(isForwardOnly([](MtcAttention &a) { a.queries = a.keys = 513; }));
}

TEST(DnnAttention, LeavesTheCallToOthersWhereItDoesNotFit) {
  setenv("MTC_CUDNN", "1", 1);
  std::unique_ptr<Dnn> dnn = Dnn::open();
  ASSERT_TRUE(dnn);
  const MtcAttention a = attention();
  const int64_t bytes = *planDnnAttention(a, false);
  std::vector<Address> buffers = {4096, 8192, 12288, 16384, 20480};
  EXPECT_TRUE(DnnAttention::create(*dnn, a, false, buffers, 256, bytes));
  EXPECT_TRUE(DnnAttention::create(*dnn, a, false, buffers, 64, bytes));
  EXPECT_FALSE(DnnAttention::create(*dnn, a, false, buffers, 64, 256));
  buffers[1] += 8;
  EXPECT_FALSE(DnnAttention::create(*dnn, a, false, buffers, 256, bytes));
  setenv("MTC_CUDNN", "0", 1);
  EXPECT_FALSE(Dnn::open());
  unsetenv("MTC_CUDNN");
  EXPECT_TRUE(Dnn::open());
  EXPECT_FALSE(dnn::isPreferred()); // The program's own kernels are to be checked.
}

} // namespace

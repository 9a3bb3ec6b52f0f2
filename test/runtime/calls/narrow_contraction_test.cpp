// Tests contractions of 16-bit elements, in all combinations with f32 that occur in training.
#include "runtime/calls/contraction/cpu/panels.h"
#include "runtime/calls/contraction/plain.h"
#include "runtime/devices/cpu/onednn.h"
#include "runtime/devices/cpu/threads/parallel.h"
#include "runtime/devices/cpu/vector/narrow_floats.h"
#include "runtime/support/element_type.h"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <cstring>
#include <functional>
#include <random>
#include <string>
#include <vector>

using namespace mtc::runtime;

namespace {

/// A tensor whose elements have one of the three types.
class Tensor {
public:
  Tensor(uint32_t type, int64_t count)
      : type(type), bytes(static_cast<size_t>(count * typeBytes(type))) {}

  float operator[](int64_t i) const {
    if (type == MTC_F32)
      return at<float>(i);
    return type == MTC_BF16 ? widen(at<BFloat16>(i)) : widenByInstruction(at<Float16>(i));
  }
  void set(int64_t i, float value) {
    auto put = [&](auto element) {
      std::memcpy(bytes.data() + i * static_cast<int64_t>(sizeof element), &element,
                  sizeof element);
    };
    BFloat16 brain;
    Float16 half;
    if (type == MTC_F32)
      put(value);
    else if (type == MTC_BF16)
      narrow(value, brain), put(brain);
    else
      narrowByInstruction(value, half), put(half);
  }
  std::vector<float> values() const {
    std::vector<float> result;
    for (int64_t i = 0; i < count(); ++i)
      result.push_back((*this)[i]);
    return result;
  }
  int64_t count() const { return static_cast<int64_t>(bytes.size()) / typeBytes(type); }
  char *data() { return bytes.data(); }

private:
  template <typename Element> Element at(int64_t i) const {
    Element element;
    std::memcpy(&element, bytes.data() + i * static_cast<int64_t>(sizeof element), sizeof element);
    return element;
  }

  uint32_t type;
  std::vector<char> bytes;
};

/// Calls `visit` for each index of a space with these extents, such as batch, m and n.
void forEach(const std::vector<int64_t> &extents,
             const std::function<void(const std::vector<int64_t> &)> &visit) {
  std::vector<int64_t> index(extents.size());
  for (;;) {
    visit(index);
    size_t axis = extents.size();
    while (axis-- > 0 && ++index[axis] == extents[axis])
      index[axis] = 0;
    if (axis == SIZE_MAX)
      return;
  }
}

int64_t offset(const std::vector<int64_t> &index, const int64_t *strides) {
  int64_t result = 0;
  for (size_t i = 0; i < index.size(); ++i)
    result += index[i] * strides[i];
  return result;
}

std::vector<int64_t> extentsOf(const MtcContraction &c, int64_t rows, int64_t columns) {
  std::vector<int64_t> extents(c.batch, c.batch + c.batch_rank);
  extents.insert(extents.end(), {rows, columns});
  return extents;
}

int64_t span(const std::vector<int64_t> &extents, const int64_t *strides) {
  std::vector<int64_t> last;
  for (int64_t extent : extents)
    last.push_back(std::max<int64_t>(extent - 1, 0));
  return offset(last, strides) + 1;
}

/// Every sum is exact in f32, so that results are bit-identical for any order.
void check(const MtcContraction &c, LibraryCall &call) {
  SCOPED_TRACE(call.implementation() + ", m " + std::to_string(c.m) + ", n " + std::to_string(c.n) +
               ", k " + std::to_string(c.k) + ", " + typeName(c.lhs_type) + " -> " +
               typeName(c.out_type) + ", addends " + std::to_string(c.addend_count) +
               ", accumulate " + std::to_string(c.accumulate));
  std::mt19937 random(7);
  auto fill = [&](uint32_t type, const std::vector<int64_t> &extents, const int64_t *strides) {
    Tensor tensor(type, span(extents, strides));
    for (int64_t i = 0; i < tensor.count(); ++i)
      tensor.set(i, static_cast<float>(static_cast<int>(random() % 23) - 11) / 8);
    return tensor;
  };
  const std::vector<int64_t> outExtents = extentsOf(c, c.m, c.n);
  std::vector<Tensor> tensors = {fill(c.lhs_type, extentsOf(c, c.m, c.k), c.lhs_strides),
                                 fill(c.rhs_type, extentsOf(c, c.k, c.n), c.rhs_strides)};
  for (uint32_t i = 0; i < c.addend_count; ++i)
    tensors.push_back(fill(c.addend_types[i], outExtents, c.addend_strides[i]));
  tensors.push_back(fill(c.out_type, outExtents, c.out_strides));

  Tensor expected = tensors.back();
  // The contractions take most of the time of the test.
  const std::vector<float> lhsValues = tensors[0].values(), rhsValues = tensors[1].values();
  const int64_t lhsStride = c.lhs_strides[c.batch_rank + 1],
                rhsStride = c.rhs_strides[c.batch_rank];
  forEach(outExtents, [&](const std::vector<int64_t> &index) {
    const int64_t place = offset(index, c.out_strides);
    float sum = c.accumulate ? expected[place] : 0;
    for (uint32_t i = 0; i < c.addend_count; ++i)
      sum += tensors[2 + i][offset(index, c.addend_strides[i])];
    std::vector<int64_t> l = index, r = index;
    l[c.batch_rank + 1] = r[c.batch_rank] = 0;
    const float *lhs = lhsValues.data() + offset(l, c.lhs_strides);
    const float *rhs = rhsValues.data() + offset(r, c.rhs_strides);
    for (int64_t k = 0; k < c.k; ++k)
      sum += lhs[k * lhsStride] * rhs[k * rhsStride];
    expected.set(place, sum);
  });

  // Bytes after the planned scratch memory must not change.
  const auto scratchBytes = static_cast<size_t>(call.scratchBytes());
  std::vector<char> buffer(scratchBytes + 256, 0x5a);
  char *scratch = buffer.data() + (64 - reinterpret_cast<uintptr_t>(buffer.data()) % 64);
  std::vector<char *> buffers;
  for (Tensor &tensor : tensors)
    buffers.push_back(tensor.data());
  call.run(buffers.data(), scratch);
  for (int64_t i = 0; i < expected.count(); ++i)
    ASSERT_EQ(tensors.back()[i], expected[i]) << "element " << i;
  for (char *c = scratch + scratchBytes; c < buffer.data() + buffer.size(); ++c)
    ASSERT_EQ(*c, 0x5a) << "written after the scratch";
}

/// Uses the library's instructions if this machine has them, and f32 with each instruction set.
void checkEverywhere(MtcContraction c, int threads = 2) {
  setLibraryThreads(threads);
  for (int set = 0; set <= static_cast<int>(machineVectors()); ++set) {
    c.product_type = MTC_F32;
    auto call = createPanelContraction(c, simplifyContraction(c), threads, VectorSet(set));
    ASSERT_TRUE(call);
    EXPECT_EQ(
        call->scratchBytes(),
        createPanelContraction(c, simplifyContraction(c), threads, VectorSet::Sse)->scratchBytes())
        << "machines differ";
    check(c, *call);
  }
  if (c.lhs_type == MTC_BF16 && machineMultipliesBFloat16()) {
    const int64_t scratchInF32 =
        createPanelContraction(c, simplifyContraction(c), threads, VectorSet::Sse)->scratchBytes();
    c.product_type = c.lhs_type;
    auto call = createPanelContraction(c, simplifyContraction(c), threads, machineVectors());
    ASSERT_TRUE(call);
    EXPECT_TRUE(call->implementation().starts_with("bf16 panels"));
    EXPECT_EQ(call->scratchBytes(), scratchInF32) << "machines differ";
    check(c, *call);
  }
  for (uint32_t inF32 : {0, 1}) {
    c.product_type = inF32 ? uint32_t{MTC_F32} : c.lhs_type;
    auto call = LibraryCall::create(linkedLibrary(), MTC_CONTRACTION, &c, threads);
    ASSERT_TRUE(call);
    EXPECT_LE(call->scratchBytes(),
              mtc_call_scratch_bytes(MTC_ONEDNN, MTC_CONTRACTION, &c, threads));
    EXPECT_TRUE(!inF32 || call->implementation().starts_with("f32 panels"));
    check(c, *call);
  }
}

MtcContraction dense(int64_t m, int64_t n, int64_t k, const std::string &layouts = "NN") {
  MtcContraction c = {};
  mtc_set_contraction_types(&c, MTC_BF16);
  c.m = m;
  c.n = n;
  c.k = k;
  auto lay = [](int64_t *strides, char layout, int64_t rows, int64_t columns) {
    strides[0] = layout == 'T' ? 1 : layout == 'S' ? 2 * columns + 3 : columns;
    strides[1] = layout == 'T' ? rows : layout == 'S' ? 2 : 1;
  };
  lay(c.lhs_strides, layouts[0], m, k);
  lay(c.rhs_strides, layouts[1], k, n);
  lay(c.out_strides, layouts.size() > 2 ? layouts[2] : 'N', m, n);
  return c;
}

/// Calls `use` with the contraction in both types, with a result of that type and of f32.
void forTypes(MtcContraction c, const std::function<void(const MtcContraction &)> &use) {
  for (uint32_t type : {MTC_BF16, MTC_F16})
    for (uint32_t isF32 : {0, 1}) {
      mtc_set_contraction_types(&c, type);
      c.out_type = isF32 ? uint32_t{MTC_F32} : type;
      use(c);
    }
}

TEST(NarrowContraction, EveryLayout) {
  const int64_t extents[][3] = {{33, 20, 17}, {1, 40, 24}, {24, 1, 40}};
  for (auto [m, n, k] : extents)
    for (char l : {'N', 'T', 'S'})
      for (char r : {'N', 'T', 'S'})
        for (char o : {'N', 'T', 'S'})
          for (uint32_t accumulate : {0, 1}) {
            MtcContraction c = dense(m, n, k, {l, r, o});
            c.accumulate = accumulate;
            forTypes(c, [](const MtcContraction &c) { checkEverywhere(c); });
          }
}

TEST(NarrowContraction, AddendsOfEitherType) {
  for (auto [m, n, k] : {std::array{33, 20, 17}, std::array{16, 64, 32}})
    forTypes(dense(m, n, k), [](MtcContraction c) {
      const int64_t layouts[][2] = {{0, 1}, {c.n, 1}, {1, 0}, {c.n + 3, 1}, {1, c.m}};
      for (auto [row, column] : layouts)
        for (uint32_t ofF32 : {0, 1, 2, 3})
          for (uint32_t accumulate : {0, 1}) {
            c.accumulate = accumulate;
            c.addend_count = 1;
            c.addend_strides[0][0] = row;
            c.addend_strides[0][1] = column;
            c.addend_types[0] = ofF32 & 1 ? uint32_t{MTC_F32} : c.lhs_type;
            c.addend_types[1] = c.lhs_type;
            checkEverywhere(c);
            c.addend_count = 2;
            c.addend_strides[1][0] = c.n;
            c.addend_strides[1][1] = 1;
            c.addend_types[1] = ofF32 >> 1 ? uint32_t{MTC_F32} : c.lhs_type;
            checkEverywhere(c);
          }
    });
}

TEST(NarrowContraction, ManyBlocks) {
  const int64_t extents[][3] = {{40, 50, 1100}, {1100, 40, 20}, {20, 1100, 30}, {70, 90, 530}};
  for (auto [m, n, k] : extents)
    for (const std::string layouts : {"NN", "NT", "TN"})
      forTypes(dense(m, n, k, layouts), [&](MtcContraction c) {
        c.accumulate = layouts == "NN";
        c.addend_count = 1;
        c.addend_strides[0][1] = 1;
        c.addend_types[0] = MTC_F32;
        checkEverywhere(c, layouts == "NN" ? 1 : 3);
      });
}

TEST(NarrowContraction, Batches) {
  forTypes({}, [](MtcContraction c) {
    c.batch_rank = 2;
    c.batch[0] = 3;
    c.batch[1] = 5;
    c.m = 9;
    c.n = 12;
    c.k = 16;
    auto set = [](int64_t *strides, std::initializer_list<int64_t> values) {
      std::copy(values.begin(), values.end(), strides);
    };
    set(c.lhs_strides, {5 * 9 * 16, 16, 5 * 16, 1}); // heads in place
    set(c.rhs_strides, {0, 12 * 16, 1, 16});         // shared by all entries
    set(c.out_strides, {5 * 9 * 12, 12, 5 * 12, 1});
    checkEverywhere(c);
    checkEverywhere(c, 20);
    c.accumulate = 1;
    c.addend_count = 1;
    set(c.addend_strides[0], {12, 0, 0, 1});
    c.addend_types[0] = MTC_F32;
    checkEverywhere(c);
  });
}

TEST(NarrowContraction, SumsOverNothingAndEmptyResults) {
  forTypes(dense(3, 4, 0), [](MtcContraction c) {
    checkEverywhere(c);
    c.addend_count = 1;
    c.addend_strides[0][1] = 1;
    checkEverywhere(c);
    c.m = 0;
    char *const buffers[4] = {};
    auto call = LibraryCall::create(linkedLibrary(), MTC_CONTRACTION, &c, 2);
    ASSERT_TRUE(call);
    EXPECT_EQ(call->scratchBytes(), 0);
    call->run(buffers, nullptr);
  });
}

TEST(NarrowContraction, ScratchIsBounded) {
  for (uint32_t threads : {1, 64}) {
    MtcContraction c = dense(4096, 50257, 3072);
    c.product_type = MTC_F32;
    EXPECT_LE(mtc_call_scratch_bytes(MTC_ONEDNN, MTC_CONTRACTION, &c, static_cast<int>(threads)),
              (8 << 20) + static_cast<int64_t>(threads) * (256 << 10));
    EXPECT_EQ(mtc_call_support_level(MTC_ONEDNN, MTC_CONTRACTION, &c, 2), MTC_CALL_FAST);
  }
}

TEST(NarrowContraction, ProductsGoTheWayThatTheRecordSays) {
  MtcContraction c = dense(64, 64, 64);
  auto implementation = [&] {
    return LibraryCall::create(linkedLibrary(), MTC_CONTRACTION, &c, 2)->implementation();
  };
  EXPECT_EQ(implementation().starts_with("brg:"), libraryMultiplies(MTC_BF16));
  c.product_type = MTC_F32;
  EXPECT_TRUE(implementation().starts_with("f32 panels"));
  mtc_set_contraction_types(&c, MTC_F16);
  c.product_type = c.lhs_type;
  EXPECT_TRUE(implementation().starts_with("f32 panels"));
  EXPECT_EQ(mtc_multiplies(MTC_ONEDNN, MTC_F16), 0);
}

/// The values are all f16 values, f32 values between neighbors in each type, ties and NaNs.
TEST(NarrowFloats, IntegersRoundAsInstructionsDo) {
  for (uint32_t bits = 0; bits < 0x10000; ++bits) {
    const Float16 half{static_cast<uint16_t>(bits)};
    const float wide = widenByIntegers(half), wanted = widenByInstruction(half);
    if (std::isnan(wanted)) {
      EXPECT_TRUE(std::isnan(wide));
      continue;
    }
    EXPECT_EQ(std::bit_cast<uint32_t>(wide), std::bit_cast<uint32_t>(wanted)) << bits;
    for (uint32_t below : {0u, 1u, 0xfffu, 0x1000u, 0x1001u, 0x1fffu}) {
      const float value = std::bit_cast<float>(std::bit_cast<uint32_t>(wide) + below);
      Float16 one, other;
      narrowByIntegers(value, one);
      narrowByInstruction(value, other);
      EXPECT_TRUE(one.bits == other.bits || std::isnan(value)) << value;
      EXPECT_EQ(std::isnan(widenByInstruction(one)), std::isnan(value)) << value;
    }
    // A bf16 is converted to f32 and back, and so is an f32 that rounds to it.
    const BFloat16 brain{static_cast<uint16_t>(bits)};
    const float exact = widen(brain);
    BFloat16 again, up;
    narrow(exact, again);
    EXPECT_EQ(std::isnan(widen(again)), std::isnan(exact));
    if (std::isnan(exact) || std::isinf(exact))
      continue;
    EXPECT_EQ(again.bits, brain.bits);
    narrow(std::bit_cast<float>((bits << 16) + 0x8000), up);
    EXPECT_EQ(up.bits, bits + (bits & 1)) << "ties go to even";
  }
}

} // namespace

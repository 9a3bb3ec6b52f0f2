// Tests the runtime's own contractions with sizes near the limits of tiles and blocks, for every
// instruction set: errors relative to sums in f64, and bit-identical results for any number of
// threads.
#include "runtime/calls/contraction/cpu/panels.h"
#include "runtime/devices/cpu/threads/parallel.h"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <random>
#include <string>
#include <vector>

using namespace mtc::runtime;

namespace {

struct Case {
  int64_t m, n, k;
  std::string layouts = "NN"; ///< T: the operand is transposed in memory
  bool accumulates = false;
  int biases = 0, residuals = 0; ///< addends of one row, and of the size of the result
  int64_t gap = 0;               ///< elements between the lines of all matrices
};

using Floats = std::vector<float>;

/// The operands, the addends and the previous result of a case.
struct Tensors {
  MtcContraction record = {};
  std::array<Floats, 5> of;

  explicit Tensors(const Case &one) {
    MtcContraction &c = record;
    mtc_set_contraction_types(&c, MTC_F32);
    c.m = one.m;
    c.n = one.n;
    c.k = one.k;
    c.accumulate = one.accumulates;
    c.addend_count = static_cast<uint32_t>(one.biases + one.residuals);
    std::mt19937 random(3);
    std::uniform_real_distribution<float> uniform(-1, 1);
    auto add = [&](Floats &tensor, int64_t *strides, int64_t rows, int64_t columns, char layout) {
      const bool isTransposed = layout == 'T';
      const int64_t line = (isTransposed ? rows : columns) + one.gap;
      strides[isTransposed ? 1 : 0] = line;
      strides[isTransposed ? 0 : 1] = 1;
      tensor.resize(static_cast<size_t>((isTransposed ? columns : rows) * line));
      for (float &element : tensor)
        element = uniform(random);
    };
    add(of[0], c.lhs_strides, c.m, c.k, one.layouts[0]);
    add(of[1], c.rhs_strides, c.k, c.n, one.layouts[1]);
    for (uint32_t i = 0; i < c.addend_count; ++i) {
      add(of[2 + i], c.addend_strides[i], c.m, c.n, 'N');
      if (static_cast<int>(i) < one.biases)
        c.addend_strides[i][0] = 0;
    }
    add(of[4], c.out_strides, c.m, c.n, 'N');
  }

  /// Returns the result of the call. Checks that the call writes only its scratch memory and its
  /// lines.
  Floats run(LibraryCall &call) const {
    std::array<Floats, 5> copies = of;
    std::vector<char *> buffers;
    for (size_t i = 0; i < copies.size(); ++i)
      if (i < 2 || i == 4 || i < 2 + record.addend_count)
        buffers.push_back(reinterpret_cast<char *>(copies[i].data()));
    constexpr char after = 0x5a;
    const auto bytes = static_cast<size_t>(call.scratchBytes());
    // The memory of a program may have any previous contents.
    std::vector<char> scratch(bytes + 128, static_cast<char>(0xff));
    char *start = scratch.data() + (64 - reinterpret_cast<uintptr_t>(scratch.data()) % 64);
    std::fill_n(start + bytes, 64, after);
    call.run(buffers.data(), start);
    EXPECT_TRUE(std::all_of(start + bytes, start + bytes + 64, [](char c) { return c == after; }));
    return copies[4];
  }

  /// Compares a result with sums in f64, and elements between its lines with the previous ones.
  void check(const Floats &found) const {
    const MtcContraction &c = record;
    for (int64_t i = 0, line = 0; line < c.m; ++line)
      for (int64_t column = 0; column < c.out_strides[0]; ++column, ++i) {
        const float previous = of[4][static_cast<size_t>(i)];
        if (column >= c.n) {
          ASSERT_EQ(found[static_cast<size_t>(i)], previous) << "after row " << line;
          continue;
        }
        double sum = c.accumulate ? previous : 0, magnitude = std::fabs(sum);
        for (uint32_t a = 0; a < c.addend_count; ++a) {
          const float added =
              of[2 + a][static_cast<size_t>(line * c.addend_strides[a][0] + column)];
          sum += added;
          magnitude += std::fabs(added);
        }
        for (int64_t k = 0; k < c.k; ++k) {
          const double term =
              static_cast<double>(
                  of[0][static_cast<size_t>(line * c.lhs_strides[0] + k * c.lhs_strides[1])]) *
              of[1][static_cast<size_t>(k * c.rhs_strides[0] + column * c.rhs_strides[1])];
          sum += term;
          magnitude += std::fabs(term);
        }
        ASSERT_NEAR(found[static_cast<size_t>(i)], sum, 1e-6 * magnitude)
            << "row " << line << ", column " << column;
      }
  }
};

void check(const Case &one) {
  SCOPED_TRACE("m " + std::to_string(one.m) + ", n " + std::to_string(one.n) + ", k " +
               std::to_string(one.k) + ", " + one.layouts + ", biases " +
               std::to_string(one.biases) + ", residuals " + std::to_string(one.residuals) +
               ", accumulates " + std::to_string(one.accumulates));
  const Tensors tensors(one);
  for (int set = 0; set <= static_cast<int>(machineVectors()); ++set) {
    SCOPED_TRACE(vectorSetName(static_cast<VectorSet>(set)));
    Floats first;
    for (int threads : {1, 2, 3, 16}) {
      setLibraryThreads(threads);
      auto call = createPanelContraction(tensors.record, simplifyContraction(tensors.record),
                                         threads, static_cast<VectorSet>(set));
      ASSERT_TRUE(call);
      const Floats found = tensors.run(*call);
      if (threads == 1) {
        tensors.check(found);
        first = found;
      } else {
        ASSERT_EQ(found, first) << threads << " threads";
      }
    }
  }
}

TEST(Panels, PartsOfTiles) {
  for (int64_t m : {1, 4, 11, 13, 25, 40})
    for (int64_t n : {1, 16, 31, 33, 65})
      check({.m = m, .n = n, .k = 19});
}

TEST(Panels, LayoutsAndAddends) {
  for (const char *layouts : {"NN", "NT", "TN", "TT"})
    for (int addends = 0; addends < 6; ++addends)
      check({.m = 53,
             .n = 71,
             .k = 45,
             .layouts = layouts,
             .accumulates = addends >= 3,
             .biases = addends % 3 > 0,
             .residuals = addends % 3 > 1,
             .gap = addends});
}

/// The sums consist of several blocks of terms. The sums do not depend on the stride of lhs, such
/// as a power of two.
TEST(Panels, BlocksOfTheDepth) {
  for (const char *layouts : {"NN", "TN", "NT"})
    for (int64_t k : {767, 769, 1024, 1600})
      check({.m = 37, .n = 70, .k = k, .layouts = layouts, .biases = 1, .residuals = k > 1000});
  check({.m = 300, .n = 40, .k = 1030, .accumulates = true});
}

/// Small results have long sums, whose parts threads compute in any order.
TEST(Panels, PartsOfSums) {
  for (const char *layouts : {"NN", "NT", "TN", "TT"})
    for (int64_t k : {6143, 6144, 7001})
      check({.m = 14,
             .n = 35,
             .k = k,
             .layouts = layouts,
             .accumulates = k == 7001,
             .biases = k == 7001,
             .residuals = k > 6143,
             .gap = k % 2});
  for (int64_t m : {1, 36, 47})
    check({.m = m, .n = 64, .k = 6500, .layouts = "TN", .accumulates = m == 36});
  check({.m = 3, .n = 1, .k = 13000, .layouts = "TN"});
  check({.m = 144, .n = 20, .k = 6300, .layouts = "TN", .residuals = 1}); // Several tasks.
}

/// There are more lines than in a panel and a task.
TEST(Panels, BlocksOfLines) {
  check({.m = 1100, .n = 1090, .k = 20, .biases = 1});
  check({.m = 700, .n = 50, .k = 33, .layouts = "TN"});
  check({.m = 50, .n = 700, .k = 33, .layouts = "NT", .accumulates = true});
}

} // namespace

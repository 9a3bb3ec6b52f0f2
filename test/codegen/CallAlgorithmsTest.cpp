// Tests the samples of library calls, and the measurement of their algorithms.
#include "codegen/cpu/CallAlgorithms.h"
#include "runtime/abi/library_call.h"

#include "mlir/IR/MLIRContext.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include <array>

using namespace mtc;
using testing::ElementsAre;

namespace {

class CallAlgorithms : public testing::Test {
protected:
  CallAlgorithms() { context.loadDialect<MtcDialect>(); }

  static MtcContraction contraction(int64_t m, int64_t n, int64_t k) {
    MtcContraction c = {};
    mtc_set_contraction_types(&c, MTC_F32);
    c.m = m;
    c.n = n;
    c.k = k;
    c.lhs_strides[0] = k;
    c.rhs_strides[0] = c.out_strides[0] = n;
    c.lhs_strides[1] = c.rhs_strides[1] = c.out_strides[1] = 1;
    return c;
  }
  static MtcConvolution convolution(int64_t batch, int64_t channels) {
    MtcConvolution c = {};
    mtc_set_convolution_types(&c, MTC_F32);
    c.window_rank = 2;
    c.batch = batch;
    c.groups = 1;
    c.input_channels = c.output_channels = channels;
    for (int axis = 0; axis < 2; ++axis) {
      c.input[axis] = c.output[axis] = 28;
      c.kernel[axis] = 3;
      c.strides[axis] = c.dilations[axis] = c.before[axis] = 1;
    }
    return c;
  }

  CallAttrInterface call(const MtcContraction &c) { return ContractionCallAttr::get(&context, c); }
  CallAttrInterface sample(const MtcContraction &c, int threads = 1) {
    return cpu::sampleOf(call(c), threads);
  }
  const MtcContraction &recordOf(CallAttrInterface found) {
    return *llvm::cast<ContractionCallAttr>(found).getRecord();
  }

  mlir::MLIRContext context;
};

TEST_F(CallAlgorithms, SmallCallsHaveNoSample) {
  EXPECT_FALSE(sample(contraction(256, 256, 256)));
  EXPECT_TRUE(sample(contraction(512, 512, 512)));
  EXPECT_FALSE(sample(contraction(512, 512, 512), 16)); // Little for each thread.
  auto ofConvolution = [&](int64_t batch, int64_t channels) {
    return cpu::sampleOf(ConvolutionCallAttr::get(&context, convolution(batch, channels)), 1);
  };
  EXPECT_FALSE(ofConvolution(1, 16));
  EXPECT_TRUE(ofConvolution(2, 64));
}

TEST_F(CallAlgorithms, OnlyPlainContractionsHaveASample) {
  auto has = [&](auto change) {
    MtcContraction c = contraction(1024, 1024, 1024);
    change(c);
    return bool(sample(c));
  };
  EXPECT_TRUE(has([](MtcContraction &) {}));
  EXPECT_TRUE(has([](MtcContraction &c) { mtc_set_contraction_types(&c, MTC_BF16); }));
  EXPECT_FALSE(has([](MtcContraction &c) { mtc_set_contraction_types(&c, MTC_F64); }));
  EXPECT_FALSE(has([](MtcContraction &c) {
    mtc_set_contraction_types(&c, MTC_BF16), c.product_type = MTC_F32;
  }));
  EXPECT_FALSE(has([](MtcContraction &c) { c.batch_rank = 1, c.batch[0] = 2; }));
  EXPECT_FALSE(has([](MtcContraction &c) { c.activation = MTC_RELU; }));
  EXPECT_FALSE(has([](MtcContraction &c) { c.summed = MTC_LHS_SUMMED; }));
  EXPECT_FALSE(has([](MtcContraction &c) { c.rhs_storage = MTC_STORED_BF16; }));
}

/// The sample keeps the rows of the call, so that each copied element of rhs is read as often.
/// Addends do not affect the sample.
TEST_F(CallAlgorithms, SamplesSumFewerTerms) {
  MtcContraction c = contraction(1000, 3072, 4096);
  c.accumulate = c.addend_count = 1;
  c.addend_strides[0][1] = 1;
  const MtcContraction &found = recordOf(sample(c, 2));
  EXPECT_EQ(found.m, 1000);
  EXPECT_EQ(found.n, 1024);
  EXPECT_EQ(found.k, 768);
  EXPECT_EQ(found.lhs_strides[0], 1024);
  EXPECT_EQ(found.rhs_strides[0], 1024);
  EXPECT_EQ(sample(c, 2), sample(contraction(1000, 3072, 4096), 2));
}

TEST_F(CallAlgorithms, SamplesOfFewOperationsAreWhole) {
  MtcContraction c = contraction(25088, 64, 256);
  EXPECT_EQ(sample(c, 2), call(c));
  c = contraction(64, 256, 25088);
  EXPECT_EQ(sample(c, 2), call(c));
}

TEST_F(CallAlgorithms, SamplesOfLongMatricesKeepTheirLayout) {
  MtcContraction c = contraction(50257, 768, 1024);
  c.lhs_strides[0] = 1;
  c.lhs_strides[1] = 50257;
  c.out_strides[0] = 1000; // Lines with gaps keep their distance.
  const CallAttrInterface found = sample(c, 2);
  EXPECT_EQ(recordOf(found).m, 1024);
  EXPECT_EQ(recordOf(found).lhs_strides[0], 1);
  EXPECT_EQ(recordOf(found).lhs_strides[1], 1105); // equal to 50257 modulo 1024
  EXPECT_EQ(recordOf(found).out_strides[0], 1000);
  EXPECT_LT(found.getCost().flops, 5'000'000'000);
}

TEST_F(CallAlgorithms, SamplesOfConvolutionsHaveFewerImages) {
  MtcConvolution c = convolution(64, 128);
  c.has_bias = 1;
  const auto found =
      llvm::cast<ConvolutionCallAttr>(cpu::sampleOf(ConvolutionCallAttr::get(&context, c), 2));
  EXPECT_EQ(found.getRecord()->batch, 4);
  EXPECT_EQ(found.getRecord()->has_bias, 0u);
  EXPECT_EQ(found.getRecord()->input[0], 28);
  c = convolution(2, 4096); // 473 GFLOP for each of two images.
  EXPECT_FALSE(cpu::sampleOf(ConvolutionCallAttr::get(&context, c), 2));
}

TEST_F(CallAlgorithms, WinogradIsOfItsConvolutions) {
  MtcConvolution c = convolution(2, 64);
  auto has = [&] {
    auto call = TransposedConvolutionCallAttr::get(&context, c);
    const auto chosen = llvm::cast_or_null<TransposedConvolutionCallAttr>(
        call.withAlgorithm(CallAlgorithm::Winograd));
    EXPECT_TRUE(!chosen || chosen.getRecord()->algorithm == MTC_WINOGRAD);
    return chosen != nullptr;
  };
  EXPECT_TRUE(has());
  c.strides[1] = 2;
  EXPECT_FALSE(has());
  EXPECT_FALSE(call(contraction(512, 512, 512)).withAlgorithm(CallAlgorithm::Winograd));
}

TEST_F(CallAlgorithms, MeasuredOnce) {
  const CallAttrInterface calls[] = {
      call(contraction(520, 512, 512)), ConvolutionCallAttr::get(&context, convolution(2, 64)),
      ConvolutionWeightGradientCallAttr::get(&context, convolution(2, 64))};
  for (CallAttrInterface each : calls) {
    const ChosenAlgorithm first = cpu::measureAlgorithms(each, 1, /*again=*/false),
                          second = cpu::measureAlgorithms(each, 1, /*again=*/false);
    EXPECT_EQ(first.algorithm, second.algorithm);
    EXPECT_EQ(first.speedup, second.speedup);
    EXPECT_TRUE(first.algorithm ? first.speedup >= 1.02 : first.speedup == 1);
  }
}

TEST_F(CallAlgorithms, LittleScratch) {
  // A copy of rhs would need 40 MB.
  const ChosenAlgorithm chosen =
      cpu::measureAlgorithms(call(contraction(32, 20480, 512)), 1, /*again=*/false);
  EXPECT_NE(chosen.algorithm, CallAlgorithm::PackedRhs);
  EXPECT_NE(chosen.algorithm, CallAlgorithm::PackedOperands);
}

TEST_F(CallAlgorithms, EachAlgorithmIsTimed) {
  MtcContraction as = contraction(128, 128, 128), panels = as, unknown = as;
  panels.algorithm = MTC_OWN_PANELS;
  mtc_set_contraction_types(&unknown, MTC_I32);
  const std::array<const void *, 3> calls = {&as, &panels, &unknown};
  const std::array<int64_t, 3> bytes = {4 * 128 * 128, 4 * 128 * 128, 4 * 128 * 128};
  std::array<double, 3> seconds = {};
  mtc_compare_calls(MTC_ONEDNN, MTC_CONTRACTION, calls.data(), calls.size(), bytes.data(),
                    bytes.size(), seconds.data());
  EXPECT_THAT(seconds, ElementsAre(testing::Gt(0), testing::Gt(0), -1));
}

TEST_F(CallAlgorithms, Tuning) {
  for (const char *known : {"", "off", "cached", "full"})
    EXPECT_FALSE(cpu::checkTuning(known));
  EXPECT_EQ(toString(cpu::checkTuning("fast")), "--tune fast: expected one of: off, cached, full");
}

} // namespace

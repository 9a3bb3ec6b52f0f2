// Estimated times depend on the operations and on the unit that computes them.
#include "codegen/cpu/Rates.h"
#include "codegen/cuda/GpuFigures.h"
#include "runtime/abi/program.h"

#include "mlir/IR/MLIRContext.h"
#include "gtest/gtest.h"

using namespace mtc;

namespace {

class RatesTest : public testing::Test {
protected:
  RatesTest() { context.loadDialect<MtcDialect>(); }

  CallAttrInterface contraction(uint32_t type, int64_t m, int64_t n, int64_t k,
                                std::optional<uint32_t> products = std::nullopt,
                                uint32_t storage = MTC_STORED_AS_IS) {
    MtcContraction c = {};
    mtc_set_contraction_types(&c, type);
    c.product_type = products.value_or(type);
    c.m = m;
    c.n = n;
    c.k = k;
    c.rhs_storage = storage;
    c.lhs_strides[0] = k;
    c.rhs_strides[0] = c.out_strides[0] = n;
    c.lhs_strides[1] = c.rhs_strides[1] = c.out_strides[1] = 1;
    return ContractionCallAttr::get(&context, c);
  }

  CallAttrInterface attention(uint32_t type, bool isGradient) {
    MtcAttention a = {};
    a.type = type;
    a.batch = 1;
    a.heads = a.key_heads = 4;
    a.queries = a.keys = 256;
    a.width = a.value_width = 64;
    for (int64_t *strides : {a.query, a.key, a.value, a.out, a.d_query, a.d_key, a.d_value}) {
      strides[3] = 1;
      strides[2] = a.width;
      strides[1] = a.width * a.queries;
      strides[0] = strides[1] * a.heads;
    }
    if (isGradient)
      return AttentionGradientCallAttr::get(&context, a);
    return AttentionCallAttr::get(&context, a);
  }

  mlir::MLIRContext context;
};

TEST_F(RatesTest, AClassKnowsWhatItsProcessorsMultiply) {
  cpu::Rates plain = cpu::ratesOfClass("avx512", 2), narrow = cpu::ratesOfClass("avx512bf16", 2);
  CallAttrInterface f32 = contraction(MTC_F32, 1024, 1024, 1024),
                    bf16 = contraction(MTC_BF16, 1024, 1024, 1024),
                    inF32 = contraction(MTC_BF16, 1024, 1024, 1024, MTC_F32);
  EXPECT_LT(narrow.getSeconds(bf16), 0.6 * narrow.getSeconds(f32));
  EXPECT_GT(narrow.getSeconds(inF32), narrow.getSeconds(f32));
  EXPECT_GE(plain.getSeconds(bf16), plain.getSeconds(f32)); // No such products: in f32.
  for (bool isGradient : {false, true}) {
    CallAttrInterface wide = attention(MTC_F32, isGradient), half = attention(MTC_BF16, isGradient);
    EXPECT_LT(narrow.getSeconds(half), 0.7 * narrow.getSeconds(wide));
    EXPECT_EQ(plain.getSeconds(half), plain.getSeconds(wide));
  }
  EXPECT_GT(plain.getSeconds(contraction(MTC_F32, 1024, 1024, 1024, false, MTC_STORED_NF4)),
            plain.getSeconds(f32));
  EXPECT_GT(plain.getSeconds(contraction(MTC_F64, 1024, 1024, 1024)), 10 * plain.getSeconds(f32));
}

TEST_F(RatesTest, SmallAndSkinnyProductsAreSlower) {
  cpu::Rates rates = cpu::ratesOfClass("avx2", 4);
  auto rate = [&](int64_t m, int64_t n, int64_t k) {
    return static_cast<double>(m * n * k) / rates.getSeconds(contraction(MTC_F32, m, n, k));
  };
  double large = rate(1024, 1024, 1024);
  EXPECT_LT(rate(8, 1024, 1024), 0.6 * large);
  EXPECT_LT(rate(1024, 1024, 8), 0.6 * large);
  EXPECT_LT(rate(32, 32, 32), 0.3 * large);
  EXPECT_GE(rates.getSeconds(contraction(MTC_F32, 1, 1, 1)), rates.overhead);
  EXPECT_LT(2 * cpu::ratesOfClass("avx2", 1).getSeconds(contraction(MTC_F32, 512, 512, 512)),
            9 * rates.getSeconds(contraction(MTC_F32, 512, 512, 512)));
}

TEST_F(RatesTest, CopiesAreFasterInCaches) {
  cpu::Rates rates = cpu::ratesOfClass("avx512", 4);
  double before = 0;
  for (int64_t bytes = 1 << 12; bytes <= int64_t{1} << 30; bytes *= 2) {
    double each = rates.getCopySeconds(bytes) - rates.overhead;
    EXPECT_GE(each, 1.9 * before) << bytes; // Twice the bytes take as long or longer, each.
    before = each;
  }
  Cost moving{0, 1 << 24, 0}, computing{0, 1 << 24, 1 << 24};
  EXPECT_GT(rates.getSeconds(computing), rates.getSeconds(moving));
}

TEST_F(RatesTest, NamesClasses) {
  for (const char *name : {"", "avx512bf16", "avx512", "avx2", "sse"})
    EXPECT_FALSE(cpu::checkRates(name));
  EXPECT_EQ(llvm::toString(cpu::checkRates("mmx")),
            "--cost-model mmx: unknown processor class; expected one of: avx512bf16, avx512, avx2, "
            "sse, neon");
  EXPECT_EQ(cpu::classOf(llvm::cantFail(cpu::describeProcessor("znver4", ""))), "avx512bf16");
  EXPECT_EQ(cpu::classOf(llvm::cantFail(cpu::describeProcessor("x86-64-v4", ""))), "avx512");
  EXPECT_EQ(cpu::classOf(llvm::cantFail(cpu::describeProcessor("x86-64-v3", ""))), "avx2");
  EXPECT_EQ(cpu::classOf(llvm::cantFail(cpu::describeProcessor("x86-64", ""))), "sse");
  EXPECT_EQ(cpu::classOf(llvm::cantFail(cpu::describeProcessor("neoverse-n1", ""))), "neon");
}

TEST_F(RatesTest, AGpuIsTakenByItsDataSheet) {
  EXPECT_EQ(cuda::figuresOf(90).name, "H100");
  EXPECT_EQ(cuda::figuresOf(87).name, "A40"); // The nearest before it.
  EXPECT_EQ(cuda::figuresOf(121).name, "GeForce RTX 5090");
  EXPECT_EQ(cuda::figuresOf(89).name, "L40S"); // The first of several GPUs.
  EXPECT_EQ(cuda::findFigures("rtx-4070")->number, 89U);
  EXPECT_EQ(cuda::findFigures("rtx"), nullptr);
  CallAttrInterface f32 = contraction(MTC_F32, 8192, 8192, 8192),
                    bf16 = contraction(MTC_BF16, 8192, 8192, 8192);
  const cuda::GpuFigures &gpu = cuda::figuresOf(90);
  double flops = 2.0 * 8192 * 8192 * 8192;
  // The estimate is between half of the peak and the peak.
  for (auto [seconds, peak] :
       {std::pair(gpu.getSeconds(f32, ContractionPrecision::F32), gpu.f32),
        std::pair(gpu.getSeconds(f32, ContractionPrecision::TF32), gpu.tf32),
        std::pair(gpu.getSeconds(bf16, ContractionPrecision::F32), gpu.half)}) {
    EXPECT_GT(flops / seconds, 0.5e12 * peak);
    EXPECT_LT(flops / seconds, 1e12 * peak);
  }
  // A recurrent layer launches a kernel after each matrix multiplication, whose operands are never
  // rounded to TF32.
  auto layer = [&](uint32_t cell, int64_t hidden) {
    MtcRecurrence r = {};
    r.type = MTC_F32;
    r.cell = cell;
    r.steps = 1000;
    r.batch = hidden;
    r.hidden = hidden;
    return RecurrenceCallAttr::get(&context, r);
  };
  const double lstm = gpu.getSeconds(layer(MTC_LSTM, 1), ContractionPrecision::F32),
               gru = gpu.getSeconds(layer(MTC_GRU, 1), ContractionPrecision::F32);
  EXPECT_GT(lstm, 4e-3);
  EXPECT_NEAR(gru - lstm, 4e-3, 1e-6); // A GRU has twice the launches.
  EXPECT_EQ(gpu.getSeconds(layer(MTC_LSTM, 2048), ContractionPrecision::TF32),
            gpu.getSeconds(layer(MTC_LSTM, 2048), ContractionPrecision::F32));
  // If the result has only one tile, the other multiprocessors are idle.
  EXPECT_GT(gpu.getSeconds(contraction(MTC_BF16, 128, 128, 8192), ContractionPrecision::F32) - 2e-6,
            20 * flops / (1e12 * gpu.half) * 128 * 128 / (8192.0 * 8192.0));
}

TEST_F(RatesTest, AGpuLaunchesEachStepOfARecurrentLayer) {
  const cuda::GpuFigures &gpu = cuda::figuresOf(90);
  MtcRecurrence p = {};
  p.type = MTC_F32;
  p.cell = MTC_LSTM;
  p.batch = p.hidden = 8;
  auto seconds = [&](int64_t steps) {
    p.steps = steps;
    return gpu.getSeconds(RecurrenceGradientCallAttr::get(&context, p), ContractionPrecision::TF32);
  };
  EXPECT_GE(seconds(1000), 1000 * 2 * 2e-6);
  EXPECT_NEAR(seconds(1000), 10 * seconds(100), 1e-6 * seconds(1000));
  // The matrix multiplications do not use tf32.
  p.batch = p.hidden = 4096;
  EXPECT_GT(seconds(1), 2.0 * 4096 * 4 * 4096 * 4096 / (1e12 * gpu.f32));
}

} // namespace

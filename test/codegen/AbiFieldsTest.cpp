// A mismatch between the fields of the program's tables and the ABI is a compile-time error of mtc
// itself.
#include "codegen/target/ConstantBuilder.h"
#include "runtime/abi/cuda.h"
#include "runtime/abi/program.h"

#include "gtest/gtest.h"

#include <cstddef>

using namespace mtc;
using namespace mtc::abi;

// A nested struct counts as one field. An array counts as many fields as it has elements.
static_assert(countFields<MtcFault>() == 3);
static_assert(countFields<MtcVariable>() == 23);
static_assert(countFields<MtcGpuLaunch>() == 3 + 3 + 3);

static_assert(areAllFields<&MtcFault::raised, &MtcFault::index, &MtcFault::extent>());
static_assert(areAllFields<&MtcGpuLaunch::symbol, &MtcGpuLaunch::emulated, &MtcGpuLaunch::grid,
                           &MtcGpuLaunch::block, &MtcGpuLaunch::shared_bytes>());
// One field is missing, or two are swapped.
static_assert(!areAllFields<&MtcFault::raised, &MtcFault::extent>());
static_assert(!areAllFields<&MtcFault::raised, &MtcFault::extent, &MtcFault::index>());
// A field is missing, and padding has the same size.
static_assert(!areAllFields<&MtcFunction::operations>());
static_assert(!areAllFields<&MtcOperation::kind, &MtcOperation::index, &MtcOperation::operands,
                            &MtcOperation::bytes, &MtcOperation::nodes>());

TEST(AbiFields, LieWhereTheRuntimeReadsThem) {
  llvm::LLVMContext context;
  llvm::Module module("test", context);
  module.setDataLayout("e-i64:64-i128:128-n8:16:32:64-S128"); // The 64-bit hosts'.
  ConstantBuilder c(module);
  llvm::Constant *fault =
      c.record(field<&MtcFault::raised>(-1), field<&MtcFault::index>(int64_t(1) << 40),
               field<&MtcFault::extent>(7));
  auto *type = llvm::cast<llvm::StructType>(fault->getType());
  const llvm::StructLayout &layout = *module.getDataLayout().getStructLayout(type);
  EXPECT_EQ(layout.getSizeInBytes(), sizeof(MtcFault));
  EXPECT_EQ(layout.getElementOffset(1), offsetof(MtcFault, index));
  EXPECT_EQ(layout.getElementOffset(2), offsetof(MtcFault, extent));
  auto number = [&](unsigned i) {
    return llvm::cast<llvm::ConstantInt>(fault->getAggregateElement(i))->getSExtValue();
  };
  EXPECT_EQ(number(0), -1);
  EXPECT_EQ(number(1), int64_t(1) << 40);
  EXPECT_EQ(number(2), 7);
}

// The object file of a program's operations, as the linker reads it.
#include "codegen/program/DataObject.h"
#include "runtime/abi/program.h"

#include "llvm/Object/ELFObjectFile.h"
#include "llvm/Support/MemoryBuffer.h"

#include <gtest/gtest.h>

using namespace mtc;
using llvm::cantFail;

namespace {

using Object = llvm::object::ELF64LEObjectFile;

llvm::StringRef contentOf(const Object &object, llvm::StringRef name) {
  for (const llvm::object::SectionRef &section : object.sections())
    if (cantFail(section.getName()) == name)
      return cantFail(section.getContents());
  return "";
}

void addOperation(DataObject &data, llvm::ArrayRef<int64_t> operands, llvm::StringRef nodes) {
  data.addEntry(field<&MtcOperation::kind>(MTC_COPY), field<&MtcOperation::index>(3),
                field<&MtcOperation::operand_count>(operands.size()),
                field<&MtcOperation::operands>(data.addNumbers(operands)),
                field<&MtcOperation::strides>(data.addNumbers({})),
                field<&MtcOperation::bytes>(int64_t(1) << 40), field<&MtcOperation::iterations>(0),
                field<&MtcOperation::nodes>(data.addString(nodes)),
                field<&MtcOperation::wait_count>(0),
                field<&MtcOperation::waits>(data.addNumbers({})), field<&MtcOperation::stream>(2),
                field<&MtcOperation::source_space>(MTC_PINNED_HOST),
                field<&MtcOperation::destination_space>(MTC_DEVICE),
                field<&MtcOperation::write_count>(0), field<&MtcOperation::writes>(std::nullopt));
}

class DataObjectTest : public ::testing::TestWithParam<const char *> {};

TEST_P(DataObjectTest, HasTablesWithPointersToData) {
  DataObject data;
  data.beginTable("first", sizeof(MtcOperation));
  addOperation(data, {64, 128}, "a");
  data.beginTable("second", 2 * sizeof(MtcOperation));
  addOperation(data, {192}, "b");
  addOperation(data, {}, "a");
  const llvm::Triple triple(GetParam());
  const auto buffer = data.write(triple);
  const Object object = cantFail(Object::create(buffer->getMemBufferRef()));
  EXPECT_EQ(object.getArch(), triple.getArch());

  std::vector<uint64_t> begins;
  for (const llvm::object::ELFSymbolRef symbol : object.symbols())
    if (symbol.getBinding() == llvm::ELF::STB_GLOBAL) {
      EXPECT_EQ(cantFail(symbol.getName()), begins.empty() ? "first" : "second");
      begins.push_back(cantFail(symbol.getValue()));
    }
  EXPECT_EQ(begins, (std::vector<uint64_t>{0, sizeof(MtcOperation)}));

  // The pointers are relative to the start of the data.
  std::string tables = contentOf(object, ".data.rel.ro").str();
  const llvm::StringRef constants = contentOf(object, ".rodata");
  ASSERT_EQ(tables.size(), 3 * sizeof(MtcOperation));
  for (const llvm::object::SectionRef &section : object.sections())
    for (const llvm::object::ELFRelocationRef relocation : section.relocations()) {
      const char *target = constants.data() + cantFail(relocation.getAddend());
      std::memcpy(tables.data() + relocation.getOffset(), &target, sizeof(target));
    }
  std::vector<MtcOperation> operations(3);
  std::memcpy(operations.data(), tables.data(), tables.size());
  EXPECT_EQ(operations[0].kind, MTC_COPY);
  EXPECT_EQ(operations[0].index, 3u);
  EXPECT_EQ(operations[0].bytes, int64_t(1) << 40);
  EXPECT_EQ(operations[0].stream, 2u);
  EXPECT_EQ(operations[0].source_space, static_cast<uint32_t>(MTC_PINNED_HOST));
  ASSERT_EQ(operations[0].operand_count, 2u);
  EXPECT_EQ(operations[0].operands[1], 128);
  EXPECT_EQ(operations[1].operands[0], 192);
  EXPECT_EQ(operations[2].operands, nullptr);
  EXPECT_EQ(operations[2].waits, nullptr);
  EXPECT_EQ(operations[2].writes, nullptr);
  EXPECT_STREQ(operations[1].nodes, "b");
  EXPECT_EQ(operations[2].nodes, operations[0].nodes) << "equal strings are shared";
}

INSTANTIATE_TEST_SUITE_P(Processors, DataObjectTest,
                         ::testing::Values("x86_64-linux-gnu", "aarch64-linux-gnu"));

} // namespace

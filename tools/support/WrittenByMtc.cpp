//===- WrittenByMtc.cpp - How a file says that mtc wrote it -----------------------------------===//

#include "tools/support/WrittenByMtc.h"

#include "runtime/abi/program.h"
#include "tools/support/Nesting.h"

#include "llvm/BinaryFormat/Magic.h"
#include "llvm/Object/Archive.h"
#include "llvm/Object/ELFObjectFile.h"
#include "llvm/Support/Endian.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/MemoryBuffer.h"

using namespace llvm;

/// What no caller asks for: why the file is none of mtc's.
template <typename T> static T orNothing(Expected<T> value) {
  if (value)
    return std::move(*value);
  consumeError(value.takeError());
  return T();
}

static bool isProgram(MemoryBufferRef bytes) {
  auto file = orNothing(object::ObjectFile::createELFObjectFile(bytes));
  return file && any_of(file->sections(), [](const object::SectionRef &section) {
           return orNothing(section.getName()) == MTC_NOTE_SECTION;
         });
}

static bool isArchiveOfProgram(MemoryBufferRef bytes) {
  auto archive = orNothing(object::Archive::create(bytes));
  if (!archive)
    return false;
  bool found = false;
  Error error = Error::success();
  for (const object::Archive::Child &child : archive->children(error)) {
    Expected<MemoryBufferRef> member = child.getMemoryBufferRef();
    if (member)
      found = isProgram(*member);
    else
      consumeError(member.takeError());
    if (found)
      break;
  }
  consumeError(std::move(error));
  return found;
}

/// A header of weights is an object of tensors, each with lists of numbers.
static constexpr int weightsHeaderDepth = 3;
/// The limit of the safetensors format.
static constexpr uint64_t maxWeightsHeaderBytes = 100'000'000;

static bool isWeights(StringRef bytes) {
  if (bytes.size() < 8)
    return false;
  uint64_t length = support::endian::read64le(bytes.data());
  StringRef text = bytes.substr(8, length);
  if (length > bytes.size() - 8 || length > maxWeightsHeaderBytes || !text.starts_with("{") ||
      !mtc::tool::nestsWithin(text, weightsHeaderDepth))
    return false;
  Expected<json::Value> header = json::parse(text);
  if (!header) {
    consumeError(header.takeError());
    return false;
  }
  const json::Object *metadata = header->getAsObject()->getObject("__metadata__");
  return metadata && metadata->getString(MTC_WEIGHTS_DIGEST);
}

static constexpr StringLiteral mark = " written by mtc";

std::string mtc::tool::textMark(StringRef comment) { return (comment + mark + "\n").str(); }

static bool isText(StringRef bytes) {
  StringRef line = bytes.take_front(64).split('\n').first;
  return any_of(ArrayRef<StringRef>{"//", ";", "#", "<!--"},
                [&](StringRef comment) { return line.consume_front(comment) && line == mark; });
}

bool mtc::tool::isWrittenByMtc(StringRef path) {
  auto file = MemoryBuffer::getFile(path, /*IsText=*/false, /*RequiresNullTerminator=*/false);
  if (!file)
    return false;
  MemoryBufferRef bytes = **file;
  switch (identify_magic(bytes.getBuffer())) {
  case file_magic::elf:
  case file_magic::elf_executable:
  case file_magic::elf_relocatable:
  case file_magic::elf_shared_object:
    return isProgram(bytes);
  case file_magic::archive:
    return isArchiveOfProgram(bytes);
  default:
    return isText(bytes.getBuffer()) || isWeights(bytes.getBuffer());
  }
}

//===- WrittenByMtc.cpp - Recognition of files that mtc wrote ---------------------------------===//

#include "support/compiler/WrittenByMtc.h"

#include "runtime/abi/file_marks.h"
#include "runtime/abi/program.h"
#include "support/files/written_by_mtc.h"

#include "llvm/BinaryFormat/Magic.h"
#include "llvm/Object/Archive.h"
#include "llvm/Object/ELFObjectFile.h"
#include "llvm/Support/MemoryBuffer.h"

using namespace llvm;
using namespace mtc;

/// Returns the value, and ignores the error: callers do not need the reason.
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

std::string mtc::tool::textMark(StringRef comment) { return (comment + MTC_TEXT_MARK "\n").str(); }

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
    return files::isWrittenByMtc(path.str());
  }
}

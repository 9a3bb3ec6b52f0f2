//===- LinkLibrary.cpp - Linking of a library with the runtime --------------------------------===//
//
// The program's objects and the runtime are linked into one relocatable object, in which all
// symbols except the renamed functions of the interface become local. A library therefore cannot
// conflict with another one, or with another copy of the C++ libraries that the runtime contains.
//
//===------------------------------------------------------------------------------------------===//

#include "codegen/Link.h"
#include "codegen/ProgramLinker.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ObjCopy/ConfigManager.h"
#include "llvm/ObjCopy/ObjCopy.h"
#include "llvm/Object/ArchiveWriter.h"
#include "llvm/Object/ObjectFile.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/raw_ostream.h"

#include <vector>

using namespace llvm;
using namespace mtc;

namespace fs = llvm::sys::fs;

/// Prefix of the functions of the interface in the runtime.
static constexpr StringLiteral interfacePrefix = "mtc_model_";

/// Renames the functions of the interface, and makes all other symbols local.
static Expected<SmallString<0>> hideSymbols(MemoryBufferRef combined, StringRef prefix) {
  Expected<std::unique_ptr<object::ObjectFile>> file =
      object::ObjectFile::createObjectFile(combined);
  if (!file)
    return file.takeError();
  BumpPtrAllocator names;
  StringSaver saver(names);
  objcopy::ConfigManager config;
  objcopy::CommonConfig &common = config.Common;
  for (const object::SymbolRef &symbol : (*file)->symbols()) {
    Expected<StringRef> name = symbol.getName();
    if (!name)
      return name.takeError();
    if (!name->starts_with(interfacePrefix))
      continue;
    Expected<objcopy::NameOrPattern> kept = objcopy::NameOrPattern::create(
        *name, objcopy::MatchStyle::Literal, [](Error error) { return error; });
    if (!kept)
      return kept.takeError();
    if (Error error = common.SymbolsToKeepGlobal.addMatcher(std::move(kept)))
      return error;
    common.SymbolsToRename[*name] =
        saver.save(prefix + "_" + name->drop_front(interfacePrefix.size()));
  }
  SmallString<0> bytes;
  raw_svector_ostream stream(bytes);
  if (Error error = objcopy::executeObjcopyOnBinary(config, **file, stream))
    return error;
  return bytes;
}

static Error writeArchive(StringRef object, StringRef output, StringRef name) {
  std::vector<NewArchiveMember> members;
  members.emplace_back(MemoryBufferRef(object, name));
  // llvm::writeArchive takes each '%' of the file's path as a placeholder.
  Expected<std::unique_ptr<MemoryBuffer>> archive =
      writeArchiveToBuffer(members, SymtabWritingMode::NormalSymtab, object::Archive::K_GNU,
                           /*Deterministic=*/true, /*Thin=*/false);
  return archive ? writeFile(output, (*archive)->getBuffer()) : archive.takeError();
}

Error mtc::linkLibrary(const LinkRequest &request, const LibraryNames &names) {
  Expected<ProgramLinker> linker = ProgramLinker::find(request.inputs, request.libraryFolder);
  if (!linker)
    return linker.takeError();
  Expected<std::vector<std::string>> archives = linker->findArchives("libmtc_runtime_library.a");
  if (!archives)
    return archives.takeError();
  Expected<TemporaryFile> code = TemporaryFile::create(request.output, ".a");
  if (!code)
    return code.takeError();
  Expected<TemporaryFile> combined = TemporaryFile::create(request.output, ".o");
  if (!combined)
    return combined.takeError();
  if (Error error = code->write(request.archive.getBuffer()))
    return error;
  const uint64_t bytes = request.archive.getBufferSize();

  // Section groups would be matched by name with those of the program that contains the library,
  // although their symbols are local.
  std::vector<StringRef> arguments{"--force-group-allocation", "--undefined=mtc_model_create"};
  append_range(arguments, archiveArguments(code->name(), *archives));
  if (Error error = linker->link(combined->name(), LinkForm::Object, arguments, bytes))
    return error;
  ErrorOr<std::unique_ptr<MemoryBuffer>> linked = MemoryBuffer::getFile(combined->name());
  if (!linked)
    return createStringError(linked.getError(), "cannot read '" + combined->name() +
                                                    "': " + linked.getError().message());
  Expected<SmallString<0>> object = hideSymbols(**linked, names.prefix);
  if (!object)
    return object.takeError();
  if (!names.isShared)
    return writeArchive(*object, request.output, names.prefix + ".o");

  if (Error error = combined->write(*object))
    return error;
  // Unused sections are dropped here and not in the first link: exceptions are not caught in a
  // relocatable object that was linked with --gc-sections.
  arguments = {"-z", "defs", "--gc-sections", "-soname", names.soname, combined->name()};
  if (Error error = linker->link(request.output, LinkForm::SharedLibrary, arguments, bytes))
    return error;
  if (std::error_code error =
          fs::setPermissions(request.output, static_cast<fs::perms>(0777 & ~fs::getUmask())))
    return createStringError(error,
                             "the permissions of the library cannot be set: " + error.message());
  return Error::success();
}

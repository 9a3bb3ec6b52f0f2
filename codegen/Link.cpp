//===- Link.cpp - Linking of a program with the runtime ---------------------------------------===//

#include "codegen/Link.h"

#include "codegen/ProgramLinker.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FileSystem.h"

#include <vector>

using namespace llvm;
using namespace mtc;

namespace fs = llvm::sys::fs;

Error mtc::linkProgram(const LinkRequest &request) {
  Expected<ProgramLinker> linker = ProgramLinker::find(request.inputs, request.libraryFolder);
  if (!linker)
    return linker.takeError();
  Expected<std::vector<std::string>> archives = linker->findArchives(
      request.inputs.hasRanks ? "libmtc_runtime_mpi.a" : "libmtc_runtime_main.a");
  if (!archives)
    return archives.takeError();
  Expected<TemporaryFile> code = TemporaryFile::create(request.output, ".a");
  if (!code)
    return code.takeError();
  if (Error error = code->write(request.archive.getBuffer()))
    return error;
  // An object of the runtime has more functions than the program calls.
  std::vector<StringRef> arguments{"--gc-sections"};
  append_range(arguments, archiveArguments(code->name(), *archives));
  if (request.inputs.readsImages)
    arguments.push_back("--undefined=mtc_decode_image");
  if (Error error = linker->link(
          request.output, request.inputs.isStatic ? LinkForm::StaticProgram : LinkForm::Program,
          arguments, request.archive.getBufferSize()))
    return error;
  // The program gets the permissions of the umask, regardless of the mode of the file that the
  // linker overwrote.
  if (std::error_code error =
          fs::setPermissions(request.output, static_cast<fs::perms>(0777 & ~fs::getUmask())))
    return createStringError(error, "the program cannot be made executable: " + error.message());
  return Error::success();
}

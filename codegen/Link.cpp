//===- Link.cpp - Linking of a program with the runtime ---------------------------------------===//

#include "codegen/Link.h"

#include "codegen/LinkDriver.h"

#include "llvm/Support/FileSystem.h"

#include <vector>

using namespace llvm;
using namespace mtc;

namespace fs = llvm::sys::fs;

Error mtc::linkProgram(const LinkRequest &request) {
  Expected<LinkDriver> driver = LinkDriver::find(request.inputs);
  if (!driver)
    return driver.takeError();
  Expected<std::vector<std::string>> archives =
      findArchives(request.inputs.hasRanks ? "libmtc_runtime_mpi.a" : "libmtc_runtime_main.a",
                   request.inputs, request.libraryFolder.str());
  if (!archives)
    return archives.takeError();
  Expected<TemporaryFile> code = TemporaryFile::create(request.output, ".a");
  if (!code)
    return code.takeError();
  if (Error error = code->write(request.archive.getBuffer()))
    return error;
  std::vector<std::string> libraries;
  libraries.reserve(request.inputs.libraries.size() + 1);
  if (request.inputs.hasRanks)
    libraries.emplace_back("-lmpi");
  for (const std::string &name : request.inputs.libraries)
    libraries.push_back("-l" + name);
  std::vector<StringRef> arguments = archiveArguments(code->name(), *archives);
  arguments.insert(arguments.end(), libraries.begin(), libraries.end());
  if (request.inputs.readsImages)
    arguments.push_back("-Wl,--undefined=mtc_decode_image");
  // An object of the runtime has more functions than the program calls.
  arguments.push_back("-Wl,--gc-sections");
  if (request.inputs.isStatic)
    arguments.push_back("-static");
  if (Error error = driver->link(request.output, arguments, request.archive.getBufferSize()))
    return error;
  // The program gets the permissions of the umask, regardless of the mode of the file that the
  // linker overwrote.
  if (std::error_code error =
          fs::setPermissions(request.output, static_cast<fs::perms>(0777 & ~fs::getUmask())))
    return createStringError(error, "the program cannot be made executable: " + error.message());
  return Error::success();
}

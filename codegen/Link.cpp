//===- Link.cpp - A program and the runtime become an executable ------------------------------===//

#include "codegen/Link.h"

#include "llvm/ADT/SmallString.h"
#include "llvm/Config/llvm-config.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FileUtilities.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Process.h"
#include "llvm/Support/Program.h"
#include "llvm/Support/Signals.h"
#include "llvm/Support/raw_ostream.h"

#include <optional>
#include <vector>

using namespace llvm;
using namespace mtc;

namespace fs = llvm::sys::fs;
namespace path = llvm::sys::path;

static Error makeError(const Twine &message) {
  return createStringError(inconvertibleErrorCode(), message);
}

namespace {

/// A file that vanishes with this object, or when the process is killed, unless it was kept.
class TemporaryFile {
public:
  static Expected<TemporaryFile> create(const Twine &model) {
    TemporaryFile result;
    int descriptor;
    if (std::error_code code = fs::createUniqueFile(model, descriptor, result.file))
      return makeError("cannot create a file like '" + model + "': " + code.message());
    sys::Process::SafelyCloseFileDescriptor(descriptor);
    sys::RemoveFileOnSignal(result.file);
    return result;
  }
  TemporaryFile(TemporaryFile &&other) : file(std::move(other.file)) { other.file.clear(); }
  ~TemporaryFile() {
    if (file.empty())
      return;
    fs::remove(file);
    sys::DontRemoveFileOnSignal(file);
  }

  StringRef name() const { return file; }

  Error renameTo(StringRef target) {
    if (std::error_code code = fs::rename(file, target))
      return makeError("cannot write '" + target + "': " + code.message());
    sys::DontRemoveFileOnSignal(file);
    file.clear();
    return Error::success();
  }

private:
  TemporaryFile() = default;
  SmallString<128> file;
};

struct Driver {
  std::string program;
  std::vector<std::string> arguments;
};

} // namespace

/// A compiler driver that links C++, with lld where it is installed.
static Expected<Driver> findDriver() {
  std::string versioned = "clang++-" + std::to_string(LLVM_VERSION_MAJOR);
  for (StringRef name : {StringRef(versioned), StringRef("clang++"), StringRef("c++"),
                         StringRef("g++"), StringRef("cc")}) {
    ErrorOr<std::string> program = sys::findProgramByName(name);
    if (!program)
      continue;
    Driver driver{*program, {}};
    std::vector<StringRef> folders;
#ifdef MTC_LLVM_BINARIES
    folders.push_back(MTC_LLVM_BINARIES);
#endif
    if (ErrorOr<std::string> lld = sys::findProgramByName("ld.lld", folders))
      driver.arguments = {"-fuse-ld=lld", "-B" + path::parent_path(*lld).str()};
    else if (sys::findProgramByName("ld.lld"))
      driver.arguments = {"-fuse-ld=lld"};
    return driver;
  }
  return makeError("no linker: none of " + versioned +
                   ", clang++, c++, g++, cc is on PATH; install clang or gcc");
}

static Expected<std::vector<std::string>> findArchives(ArrayRef<std::string> names,
                                                       std::string folder) {
  if (folder.empty()) {
    SmallString<128> beside(
        path::parent_path(fs::getMainExecutable(nullptr, reinterpret_cast<void *>(&findArchives))));
    path::append(beside, "..", "lib");
    path::remove_dots(beside, /*remove_dot_dot=*/true);
    folder = beside.str();
  }
  std::vector<std::string> archives;
  for (const std::string &name : names) {
    SmallString<128> file(folder);
    path::append(file, name);
    if (!fs::exists(file))
      return makeError("the runtime library '" + file +
                       "' is missing; build or install mtc as a whole");
    archives.push_back(file.str().str());
  }
  return archives;
}

static Error write(StringRef bytes, StringRef file) {
  std::error_code code;
  raw_fd_ostream stream(file, code);
  if (!code) {
    stream << bytes;
    stream.close();
    code = stream.error();
    stream.clear_error();
  }
  return code ? makeError("cannot write '" + file + "': " + code.message()) : Error::success();
}

Error mtc::linkProgram(const MemoryBuffer &archive, StringRef output, const LinkInputs &inputs,
                       StringRef libraryFolder) {
  Expected<Driver> driver = findDriver();
  if (!driver)
    return driver.takeError();
  Expected<std::vector<std::string>> archives = findArchives(inputs.archives, libraryFolder.str());
  if (!archives)
    return archives.takeError();
  std::vector<std::string> libraries;
  for (const std::string &name : inputs.libraries)
    libraries.push_back("-l" + name);
  if (fs::is_directory(output))
    return makeError("cannot write '" + output + "': it is a folder; choose another -o");

  // Everything is made beside the program, so that renaming it cannot fail for another file system.
  Expected<TemporaryFile> code = TemporaryFile::create(output + "-%%%%%%%%.a");
  if (!code)
    return code.takeError();
  if (Error error = write(archive.getBuffer(), code->name()))
    return error;
  Expected<TemporaryFile> program = TemporaryFile::create(output + "-%%%%%%%%");
  if (!program)
    return program.takeError();
  Expected<TemporaryFile> messages = TemporaryFile::create(output + "-%%%%%%%%.log");
  if (!messages)
    return messages.takeError();

  std::vector<StringRef> arguments{driver->program};
  arguments.insert(arguments.end(), driver->arguments.begin(), driver->arguments.end());
  arguments.insert(arguments.end(), {"-o", program->name()});
  arguments.insert(arguments.end(),
                   {"-Wl,--whole-archive", code->name(), "-Wl,--no-whole-archive"});
  // The runtime's core and the target's archives need each other.
  arguments.push_back("-Wl,--start-group");
  arguments.insert(arguments.end(), archives->begin(), archives->end());
  arguments.push_back("-Wl,--end-group");
  arguments.insert(arguments.end(), libraries.begin(), libraries.end());

  std::optional<StringRef> redirects[] = {std::nullopt, messages->name(), messages->name()};
  std::string failure;
  if (sys::ExecuteAndWait(driver->program, arguments, std::nullopt, redirects, 0, 0, &failure) !=
      0) {
    ErrorOr<std::unique_ptr<MemoryBuffer>> text = MemoryBuffer::getFile(messages->name());
    return makeError("linking '" + output + "' by " + driver->program + " failed" +
                     (failure.empty() ? "" : " (" + failure + ")") + ":\n" +
                     (text ? (*text)->getBuffer() : ""));
  }
  // createUniqueFile makes files that only their owner reads; a program is for whoever the umask
  // lets.
  if (std::error_code error =
          fs::setPermissions(program->name(), static_cast<fs::perms>(0777 & ~fs::getUmask())))
    return makeError("cannot make '" + output + "' executable: " + error.message());
  return program->renameTo(output);
}

//===- ExternalData.cpp - Tensor data in external files ---------------------------------------===//

#include "frontend/onnx/reader/ExternalData.h"

#include "support/compiler/InputFile.h"
#include "support/compiler/Problems.h"

#include "onnx-ml.pb.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/Support/Path.h"

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

using namespace llvm;

namespace mtc::onnx {

char MissingFileError::ID = 0;

namespace {

constexpr int readFlags = O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY;

/// Closes a descriptor at the end of the scope.
class Descriptor {
public:
  explicit Descriptor(int number) : number(number) {}
  ~Descriptor() {
    if (number >= 0)
      close(number);
  }
  Descriptor(const Descriptor &) = delete;
  Descriptor &operator=(const Descriptor &) = delete;
  Descriptor &operator=(Descriptor &&other) noexcept {
    std::swap(number, other.number);
    return *this;
  }
  int get() const { return number; }
  int release() { return std::exchange(number, -1); }

private:
  int number;
};

/// Returns why the text of a location is not a valid path below the model's folder; empty if it is.
StringRef badLocation(StringRef location) {
  if (location.empty())
    return "is empty";
  if (location.contains('\0'))
    return "contains a zero byte";
  if (sys::path::is_absolute(location))
    return "is absolute; it must be relative to the model's folder";
  for (StringRef component : llvm::split(location, '/'))
    if (component == "..")
      return "leaves the model's folder by '..'";
  return "";
}

int openByKernel(int folder, const std::string &location) {
  open_how how = {};
  how.flags = readFlags;
  how.resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS;
  return static_cast<int>(syscall(SYS_openat2, folder, location.c_str(), &how, sizeof(how)));
}

/// Opens each component relative to the previous one and rejects symbolic links, so that replacing
/// a folder concurrently cannot redirect the path.
int openByComponents(int folder, StringRef location) {
  SmallVector<StringRef> components;
  location.split(components, '/', -1, /*KeepEmpty=*/false);
  llvm::erase(components, ".");
  Descriptor current(dup(folder));
  for (auto [index, component] : llvm::enumerate(components)) {
    bool isLast = index + 1 == components.size();
    int flags = isLast ? readFlags : O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;
    int next = openat(current.get(), component.str().c_str(), flags);
    if (next < 0 && !isLast && errno == ENOTDIR) {
      struct stat status;
      bool isLink =
          fstatat(current.get(), component.str().c_str(), &status, AT_SYMLINK_NOFOLLOW) == 0 &&
          S_ISLNK(status.st_mode);
      errno = isLink ? ELOOP : ENOTDIR;
    }
    if (next < 0)
      return next;
    current = Descriptor(next);
  }
  return current.release();
}

Error describeOpenFailure(StringRef location, const std::string &folder, int code) {
  std::string file = "external data file " + quoted(location);
  switch (code) {
  case ENOENT:
  case ENOTDIR:
    return make_error<MissingFileError>(file + " is not in the model's folder " + quoted(folder));
  case ELOOP:
    return problem(file + " is or passes through a symbolic link, which mtc does not follow; put "
                          "the data in the model's folder");
  case EXDEV:
    return problem(file + " is outside the model's folder " + quoted(folder));
  default:
    return problem(file + " in " + quoted(folder) + " cannot be opened: " + strerror(code));
  }
}

Expected<uint64_t> readNumber(StringRef key, StringRef text) {
  uint64_t value;
  if (text.empty() || !llvm::all_of(text, [](char c) { return c >= '0' && c <= '9'; }) ||
      text.getAsInteger(10, value) || value > INT64_MAX)
    return problem("external data: " + key + " is " + quoted(text) +
                   ", expected a number of bytes from 0 to 2^63 - 1");
  return value;
}

} // namespace

Expected<ExternalReference> readExternalReference(const ::onnx::TensorProto &tensor) {
  ExternalReference reference;
  SmallVector<StringRef> seen;
  for (const auto &entry : tensor.external_data()) {
    StringRef key = entry.key();
    if (llvm::is_contained(seen, key))
      return problem("external data: key " + quoted(key) + " is given twice");
    seen.push_back(key);
    if (key == "location") {
      reference.location = entry.value();
    } else if (key == "offset" || key == "length") {
      Expected<uint64_t> number = readNumber(key, entry.value());
      if (!number)
        return number.takeError();
      if (key == "offset")
        reference.offset = *number;
      else
        reference.length = *number;
    } else if (key != "checksum") {
      return problem("external data: unknown key " + quoted(key) +
                     ", expected location, offset, length or checksum");
    }
  }
  if (!llvm::is_contained(seen, "location"))
    return problem("external data: no location");
  if (StringRef reason = badLocation(reference.location); !reason.empty())
    return problem("external data: location " + quoted(reference.location) + " " + reason);
  return reference;
}

Expected<int> openBeneath(const std::string &folder, StringRef location, Resolution resolution) {
  if (StringRef reason = badLocation(location); !reason.empty())
    return problem("external data: location " + quoted(location) + " " + reason);
  Descriptor directory(open(folder.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  if (directory.get() < 0)
    return describeOpenFailure(location, folder, errno);

  int number = -1;
  errno = ENOSYS;
  if (resolution == Resolution::kernel)
    number = openByKernel(directory.get(), location.str());
  // Kernels before 5.6 lack openat2, and seccomp filters often reject it with EPERM.
  if (number < 0 && (errno == ENOSYS || errno == EPERM || errno == EINVAL || errno == EAGAIN))
    number = openByComponents(directory.get(), location);
  if (number < 0)
    return describeOpenFailure(location, folder, errno);

  Descriptor file(number);
  struct stat status;
  if (fstat(file.get(), &status) != 0)
    return describeOpenFailure(location, folder, errno);
  if (!S_ISREG(status.st_mode))
    return problem("external data file " + quoted(location) + " is " +
                   describeFileType(status.st_mode) + ", not a regular file");
  if (status.st_nlink > 1)
    return problem("external data file " + quoted(location) + " has " + Twine(status.st_nlink) +
                   " hard links, so it may be another folder's file; use a copy");
  return file.release();
}

ExternalFiles::File &ExternalFiles::open(StringRef location) {
  auto [entry, isNew] = files.try_emplace(location);
  File &file = entry->second;
  if (!isNew)
    return file;

  Expected<int> number = openBeneath(realFolder, location);
  if (!number && number.errorIsA<MissingFileError>() && givenFolder != realFolder) {
    // In a cache of links, the data's link is next to the model's link, and both targets are in one
    // folder.
    SmallString<256> link(givenFolder), target;
    sys::path::append(link, location);
    StringRef inside;
    if (!sys::fs::real_path(link, target) && StringRef(target).starts_with(realFolder + "/"))
      inside = StringRef(target).drop_front(realFolder.size() + 1);
    if (!inside.empty()) {
      consumeError(number.takeError());
      number = openBeneath(realFolder, inside);
    }
  }
  if (!number) {
    file.isMissing = number.errorIsA<MissingFileError>();
    file.failure = toString(number.takeError());
    return file;
  }

  Descriptor descriptor(*number);
  struct stat status;
  if (fstat(descriptor.get(), &status) != 0)
    return file;
  opened.emplace_back(status.st_dev, status.st_ino);
  if (status.st_size == 0)
    return file;
  std::error_code code;
  auto region = std::make_unique<sys::fs::mapped_file_region>(
      descriptor.get(), sys::fs::mapped_file_region::readonly, status.st_size, 0, code);
  if (code)
    file.failure = "external data file " + quoted(location) +
                   " cannot be mapped into memory: " + code.message();
  else
    file.region = std::move(region);
  return file;
}

std::vector<std::string> ExternalFiles::getPaths() const {
  std::vector<std::string> paths;
  for (StringRef location : files.keys())
    paths.push_back((realFolder + "/" + location).str());
  llvm::sort(paths);
  return paths;
}

Expected<ArrayRef<char>> ExternalFiles::bytes(const ExternalReference &reference, uint64_t size) {
  if (reference.length && *reference.length != size)
    return problem("external data: length is " + Twine(*reference.length) +
                   " bytes, but the tensor's type and shape need " + Twine(size));
  File &file = open(reference.location);
  if (file.isMissing)
    return make_error<MissingFileError>(file.failure);
  if (!file.failure.empty())
    return problem(file.failure);
  uint64_t available = file.region ? file.region->size() : 0;
  if (reference.offset > available || size > available - reference.offset)
    return problem("external data: " + Twine(size) + " bytes at offset " + Twine(reference.offset) +
                   " are beyond the end of " + quoted(reference.location) + " (" +
                   Twine(available) + " bytes)");
  if (size == 0)
    return ArrayRef<char>();
  return ArrayRef<char>(file.region->const_data() + reference.offset, size);
}

} // namespace mtc::onnx

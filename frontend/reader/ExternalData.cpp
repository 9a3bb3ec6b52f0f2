//===- ExternalData.cpp - Tensor data in files beside the model
//---------------------------------===//

#include "frontend/reader/ExternalData.h"

#include "onnx-ml.pb.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

using namespace mtc::onnx;
using llvm::Error;
using llvm::Expected;
using llvm::StringRef;

static Error error(const llvm::Twine &message) {
  return llvm::createStringError(llvm::inconvertibleErrorCode(), message);
}

Expected<ExternalLocation> mtc::onnx::parseExternalLocation(const ::onnx::TensorProto &tensor) {
  ExternalLocation result;
  for (const auto &entry : tensor.external_data()) {
    StringRef key = entry.key(), value = entry.value();
    if (key == "location") {
      result.location = value.str();
    } else if (key == "offset" || key == "length") {
      int64_t number;
      if (value.getAsInteger(10, number) || number < 0)
        return error("external data has the " + key + " '" + value +
                     "', expected a number that is not negative");
      (key == "offset" ? result.offset : result.length) = number;
    } else if (key != "checksum") {
      return error("external data has the unknown key '" + key +
                   "', expected location, offset, length or checksum");
    }
  }
  if (result.location.empty())
    return error("external data names no location");
  if (StringRef(result.location).contains('\0'))
    return error("external data's location holds a zero byte");
  if (result.location.front() == '/')
    return error("external data's location '" + llvm::Twine(result.location) +
                 "' is absolute, expected one relative to the model's folder");
  return result;
}

/// Opens a path below a folder without leaving it or passing a link. Kernels before 5.6 have no
/// openat2: there each part of the path is opened by itself, without following.
static int openBeneath(int folder, StringRef path) {
  open_how how = {};
  how.flags = O_RDONLY | O_CLOEXEC;
  how.resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS;
  std::string name = path.str();
  long opened = syscall(SYS_openat2, folder, name.c_str(), &how, sizeof(how));
  if (opened >= 0 || (errno != ENOSYS && errno != EPERM))
    return static_cast<int>(opened);

  llvm::SmallVector<StringRef> parts;
  path.split(parts, '/', /*MaxSplit=*/-1, /*KeepEmpty=*/false);
  int current = dup(folder);
  for (size_t i = 0; i < parts.size() && current >= 0; ++i) {
    int next = -1;
    if (parts[i] == "..") {
      errno = EXDEV;
    } else {
      int flags = O_RDONLY | O_CLOEXEC | O_NOFOLLOW | (i + 1 < parts.size() ? O_DIRECTORY : 0);
      next = openat(current, parts[i].str().c_str(), flags);
    }
    int reason = errno;
    close(current);
    errno = reason;
    current = next;
  }
  return current;
}

ExternalFiles::~ExternalFiles() {
  for (auto &entry : mappings)
    if (entry.second.data)
      munmap(const_cast<char *>(entry.second.data), entry.second.size);
}

Expected<ExternalFiles::Mapping> ExternalFiles::map(StringRef location) {
  if (auto it = mappings.find(location); it != mappings.end())
    return it->second;
  auto wrong = [&](const llvm::Twine &what) {
    return error("external data file '" + location + "' " + what);
  };
  int directory = open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (directory < 0)
    return error("the model's folder '" + folder + "' cannot be opened: " + strerror(errno));
  int file = openBeneath(directory, location);
  int reason = errno;
  close(directory);
  if (file < 0) {
    if (reason == EXDEV || reason == ELOOP)
      return wrong("leaves the model's folder or passes a symbolic link, which is not followed");
    return wrong(llvm::Twine("cannot be opened in '") + folder + "': " + strerror(reason));
  }
  struct stat status;
  if (fstat(file, &status) != 0 || !S_ISREG(status.st_mode)) {
    close(file);
    return wrong("is no regular file");
  }
  if (status.st_nlink > 1) {
    close(file);
    return wrong("has more than one name (hard link), which is not followed");
  }
  Mapping mapping;
  mapping.size = status.st_size;
  if (mapping.size > 0) {
    void *data = mmap(nullptr, mapping.size, PROT_READ, MAP_PRIVATE, file, 0);
    reason = errno;
    if (data == MAP_FAILED) {
      close(file);
      return wrong(llvm::Twine("cannot be mapped: ") + strerror(reason));
    }
    mapping.data = static_cast<const char *>(data);
  }
  close(file);
  mappings[location] = mapping;
  return mapping;
}

Expected<llvm::ArrayRef<char>> ExternalFiles::read(const ExternalLocation &location,
                                                   int64_t bytes) {
  if (location.length >= 0 && location.length != bytes)
    return error(llvm::formatv("external data has the length {0}, the shape needs {1} bytes",
                               location.length, bytes)
                     .str());
  Expected<Mapping> mapping = map(location.location);
  if (!mapping)
    return mapping.takeError();
  if (location.offset > mapping->size || bytes > mapping->size - location.offset)
    return error(llvm::formatv(
                     "external data file '{0}' has {1} bytes, the tensor needs {2} from offset {3}",
                     location.location, mapping->size, bytes, location.offset)
                     .str());
  return llvm::ArrayRef<char>(mapping->data + location.offset, bytes);
}

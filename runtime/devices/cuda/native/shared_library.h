// Shared libraries that are opened at run time.
#ifndef MTC_RUNTIME_DEVICES_CUDA_NATIVE_SHARED_LIBRARY_H
#define MTC_RUNTIME_DEVICES_CUDA_NATIVE_SHARED_LIBRARY_H

#include <string>
#include <vector>

namespace mtc::runtime::cuda {

/// A library of NVIDIA's toolkit. It is never closed, because its code may run until the process
/// ends.
class SharedLibrary {
public:
  /// Opens the first of the files that is found in these locations: each folder of MTC_CUDA_PATH
  /// (separated by colons), its `lib64` and `lib`, and the folders `nvidia/*/lib`, where PyPI
  /// wheels install them; the loader's default search path; CUDA_HOME, CUDA_PATH and
  /// /usr/local/cuda. The handle is null if none is found.
  explicit SharedLibrary(const std::vector<std::string> &names);

  bool isOpen() const { return handle; }
  /// Returns the names and locations that were searched, for messages.
  const std::string &searched() const { return searchedText; }
  /// Returns null if the library lacks the symbol.
  void *find(const char *symbol) const;

private:
  bool openIn(const std::string &folder, const std::string &name);
  bool openBelow(const std::string &root, const std::string &name);

  void *handle = nullptr;
  std::string searchedText;
};

} // namespace mtc::runtime::cuda

#endif // MTC_RUNTIME_DEVICES_CUDA_NATIVE_SHARED_LIBRARY_H

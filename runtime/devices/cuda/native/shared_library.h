// Libraries that are opened at run time.
#ifndef MTC_RUNTIME_DEVICES_CUDA_NATIVE_SHARED_LIBRARY_H
#define MTC_RUNTIME_DEVICES_CUDA_NATIVE_SHARED_LIBRARY_H

#include <string>
#include <vector>

namespace mtc::runtime::cuda {

/// A library of NVIDIA's toolkit: never closed, since its code may run until the process ends.
class SharedLibrary {
public:
  /// Opens the first of the files that can be found: in each folder of MTC_CUDA_PATH (separated by
  /// colons), its `lib64`, `lib`, and the folders `nvidia/*/lib` in which PyPI's wheels have them;
  /// by the loader's own rules; then in CUDA_HOME, CUDA_PATH and /usr/local/cuda. Null handle if
  /// there is none.
  explicit SharedLibrary(const std::vector<std::string> &names);

  bool isOpen() const { return handle; }
  /// What was looked for and where, for messages.
  const std::string &searched() const { return searchedText; }
  /// Null if the library does not have it.
  void *find(const char *symbol) const;

private:
  bool openIn(const std::string &folder, const std::string &name);
  bool openBelow(const std::string &root, const std::string &name);

  void *handle = nullptr;
  std::string searchedText;
};

} // namespace mtc::runtime::cuda

#endif // MTC_RUNTIME_DEVICES_CUDA_NATIVE_SHARED_LIBRARY_H

// Searches for shared libraries.
#include "runtime/devices/cuda/native/shared_library.h"

#include <algorithm>
#include <cstdlib>
#include <dlfcn.h>
#include <glob.h>
#include <sstream>

namespace mtc::runtime::cuda {

SharedLibrary::SharedLibrary(const std::vector<std::string> &names) {
  std::vector<std::string> first, last;
  auto addFolders = [](const char *variable, std::vector<std::string> &to) {
    const char *value = std::getenv(variable);
    std::istringstream folders(value ? value : "");
    for (std::string folder; std::getline(folders, folder, ':');)
      if (!folder.empty() && std::find(to.begin(), to.end(), folder) == to.end())
        to.push_back(folder);
  };
  addFolders("MTC_CUDA_PATH", first);
  addFolders("CUDA_HOME", last);
  addFolders("CUDA_PATH", last);
  if (std::find(last.begin(), last.end(), "/usr/local/cuda") == last.end())
    last.emplace_back("/usr/local/cuda");

  for (const std::string &name : names)
    searchedText += (searchedText.empty() ? "" : ", ") + name;
  searchedText += " by the loader's rules";
  for (const auto *list : {&first, &last})
    for (const std::string &folder : *list)
      searchedText += ", in " + folder;

  for (const std::string &name : names) {
    for (const std::string &root : first)
      if (openBelow(root, name))
        return;
    handle = dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (handle)
      return;
    for (const std::string &root : last)
      if (openBelow(root, name))
        return;
  }
}

bool SharedLibrary::openIn(const std::string &folder, const std::string &name) {
  handle = dlopen((folder + "/" + name).c_str(), RTLD_NOW | RTLD_LOCAL);
  return handle;
}

bool SharedLibrary::openBelow(const std::string &root, const std::string &name) {
  for (const char *folder : {"", "/lib64", "/lib"})
    if (openIn(root + folder, name))
      return true;
  // site-packages/nvidia/cublas/lib, site-packages/nvidia/cu13/lib
  for (const char *pattern : {"/nvidia/*/lib", "/*/lib"}) {
    glob_t found = {};
    if (glob((root + pattern).c_str(), 0, nullptr, &found) == 0)
      for (size_t i = 0; i < found.gl_pathc && !handle; ++i)
        openIn(found.gl_pathv[i], name);
    globfree(&found);
    if (handle)
      return true;
  }
  return false;
}

void *SharedLibrary::find(const char *symbol) const {
  return handle ? dlsym(handle, symbol) : nullptr;
}

} // namespace mtc::runtime::cuda

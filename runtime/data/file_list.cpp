// Lists, patterns and folders of data files.
#include "runtime/data/file_list.h"

#include "runtime/support/failure.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <dirent.h>
#include <glob.h>
#include <string_view>
#include <sys/stat.h>
#include <utility>

namespace mtc::runtime {

bool isFolder(const std::string &path) {
  struct stat status;
  return stat(path.c_str(), &status) == 0 && S_ISDIR(status.st_mode);
}

namespace {

constexpr std::string_view extensions[] = {".npy", ".npz", ".bin", ".safetensors"};

bool exists(const std::string &path) {
  struct stat status;
  return stat(path.c_str(), &status) == 0;
}

/// Splits `PATH:CHOICE` after the extension of PATH.
FileChoice splitChoice(const std::string &text) {
  for (std::string_view extension : extensions)
    if (const size_t at = text.rfind(std::string(extension) + ":"); at != std::string::npos)
      return {text.substr(0, at + extension.size()), text.substr(at + extension.size() + 1)};
  return {text, ""};
}

/// Appends the files of a folder.
void addFolder(const std::string &folder, std::vector<FileChoice> &files) {
  DIR *directory = opendir(folder.c_str());
  if (!directory)
    userError(folder, ": cannot be opened: ", std::strerror(errno));
  std::vector<std::string> names;
  std::string other; // the extension of another known format
  while (const dirent *entry = readdir(directory)) {
    const std::string name = entry->d_name, extension = dataExtension(name);
    if (extension == ".npy" && !isFolder(folder + "/" + name))
      names.push_back(name);
    else if (!extension.empty())
      other = extension;
  }
  closedir(directory);
  if (names.empty())
    userError(folder, ": is a folder without .npy files; ",
              other.empty() ? "python -m mtc.data converts other formats"
                            : text("expected a pattern such as '", folder, "/*", other, "'"));
  std::sort(names.begin(), names.end());
  const std::string prefix = folder.ends_with('/') ? folder : folder + "/";
  for (const std::string &name : names)
    files.push_back({prefix + name, ""});
}

/// Appends the matches of a pattern.
void addMatches(const FileChoice &pattern, std::vector<FileChoice> &files) {
  glob_t matches{};
  const int status = glob(pattern.path.c_str(), GLOB_NOSORT, nullptr, &matches);
  std::vector<std::string> paths(matches.gl_pathv, matches.gl_pathv + matches.gl_pathc);
  globfree(&matches);
  if (status == GLOB_NOSPACE)
    throw std::bad_alloc();
  if (paths.empty())
    userError(pattern.path, ": no file matches this pattern");
  std::sort(paths.begin(), paths.end());
  for (std::string &path : paths)
    files.push_back({std::move(path), pattern.choice});
}

void addItem(const std::string &item, std::vector<FileChoice> &files) {
  const FileChoice file = exists(item) ? FileChoice{item, ""} : splitChoice(item);
  if (isFolder(file.path))
    addFolder(file.path, files);
  else if (!exists(file.path) && file.path.find_first_of("*?[") != std::string::npos)
    addMatches(file, files);
  else
    files.push_back(file);
}

} // namespace

std::string dataExtension(const std::string &path) {
  for (std::string_view extension : extensions)
    if (path.ends_with(extension))
      return std::string(extension);
  return "";
}

std::vector<FileChoice> listDataFiles(const std::string &value) {
  std::vector<FileChoice> files;
  if (exists(value) || exists(splitChoice(value).path)) {
    addItem(value, files);
    return files;
  }
  for (size_t begin = 0; begin <= value.size();) {
    const size_t end = std::min(value.find(',', begin), value.size());
    if (begin == end)
      userError(value, ": a name in this list of files is empty; expected FILE,FILE,...");
    addItem(value.substr(begin, end - begin), files);
    begin = end + 1;
  }
  return files;
}

std::string fileOfInput(const std::string &folder, const std::string &name) {
  const std::string start = (folder.ends_with('/') ? folder : folder + "/") + name;
  for (const std::string_view extension : extensions)
    if (std::string path = start + std::string(extension); exists(path) && !isFolder(path))
      return path;
  return exists(start + "-0000.bin") ? start + "-*.bin" : "";
}

} // namespace mtc::runtime

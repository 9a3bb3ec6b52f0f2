// The files that a value of --data names.
#ifndef MTC_RUNTIME_DATA_FILE_LIST_H
#define MTC_RUNTIME_DATA_FILE_LIST_H

#include <string>
#include <vector>

namespace mtc::runtime {

struct FileChoice {
  std::string path;
  std::string choice; ///< text after the colon: a tensor, an array or a token type; may be empty
};

/// Returns the files of a value, in order. A value is a list, separated by commas, of files,
/// patterns of glob(7) and folders; a name that exists is never a list or pattern. A pattern
/// denotes its matches, a folder its `.npy` files, both in the order of their names' bytes. Throws
/// a user error if a pattern or folder has no files.
std::vector<FileChoice> listDataFiles(const std::string &value);

/// Returns whether a path is a folder.
bool isFolder(const std::string &path);

/// Returns the value of --data for an input in a folder with a file for each input, as `python -m
/// mtc.data` writes it: NAME with the extension of a known format, or the shards NAME-0000.bin, ...
/// Returns "" if the folder has no file of the input.
std::string fileOfInput(const std::string &folder, const std::string &name);

/// Returns the extension of a known format, such as ".npy"; "" if there is none.
std::string dataExtension(const std::string &path);

} // namespace mtc::runtime

#endif // MTC_RUNTIME_DATA_FILE_LIST_H

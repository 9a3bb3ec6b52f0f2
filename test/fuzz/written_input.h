// Writes the input of one run to a file, because readers require paths.
#ifndef MTC_TEST_FUZZ_WRITTEN_INPUT_H
#define MTC_TEST_FUZZ_WRITTEN_INPUT_H

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

namespace mtc::fuzz {

/// A temporary folder of this process, removed at its end.
class Folder {
public:
  static Folder &get() {
    static Folder instance;
    return instance;
  }

  /// Writes a file; returns its path.
  std::string write(const std::string &name, const void *data, size_t size) const {
    std::ofstream(path / name, std::ios::binary)
        .write(static_cast<const char *>(data), static_cast<std::streamsize>(size));
    return path / name;
  }

private:
  Folder() {
    std::string pattern = std::filesystem::temp_directory_path() / "mtc-fuzz-XXXXXX";
    if (!mkdtemp(pattern.data()))
      std::abort();
    path = pattern;
  }
  ~Folder() { std::filesystem::remove_all(path); }

  std::filesystem::path path;
};

} // namespace mtc::fuzz

#endif // MTC_TEST_FUZZ_WRITTEN_INPUT_H

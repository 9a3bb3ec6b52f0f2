// Stripe i belongs to file i modulo the number of files.
#include "runtime/io/striped_file.h"

#include "runtime/support/quotient.h"

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <future>
#include <sstream>

namespace mtc::runtime {

std::vector<std::string> foldersOf(const std::string &list) {
  if (std::filesystem::is_directory(list))
    return {list};
  std::vector<std::string> folders;
  std::istringstream names(list);
  for (std::string name; std::getline(names, name, ',');)
    if (!name.empty())
      folders.push_back(name);
  return folders.empty() ? std::vector<std::string>{list} : folders;
}

StripedFile::StripedFile(const std::vector<std::string> &folders, int64_t bytes) {
  const int64_t stripes = roundedUpQuotient(bytes, stripe),
                count = std::clamp<int64_t>(stripes, 1, std::ssize(folders));
  for (int64_t i = 0; i < count; ++i)
    files.push_back(std::make_unique<ScratchFile>(
        folders[static_cast<size_t>(i)],
        count == 1 ? bytes : roundedUpQuotient(stripes - i, count) * stripe));
}

int64_t StripedFile::bytes() const {
  int64_t all = 0;
  for (const auto &file : files)
    all += file->bytes();
  return all;
}

/// Calls access(file, offset in the file, begin, bytes, bounce) for the parts of a range, where
/// `begin` counts from the range's first byte; the parts of different files concurrently.
template <typename Access>
void StripedFile::divide(int64_t offset, int64_t bytes, const BouncePages &bounce,
                         const Access &access) const {
  const auto start = std::chrono::steady_clock::now();
  const auto count = std::ssize(files);
  const int64_t first = offset / stripe, last = roundedUpQuotient(offset + bytes, stripe);
  auto accessFile = [&](int64_t firstStripe, const BouncePages &own) {
    for (int64_t i = firstStripe; i < last; i += count) {
      const int64_t begin = std::max(offset, i * stripe),
                    end = std::min(offset + bytes, (i + 1) * stripe);
      access(*files[static_cast<size_t>(i % count)], i / count * stripe + begin - i * stripe,
             begin - offset, end - begin, own);
    }
  };
  if (count == 1) {
    access(*files.front(), offset, 0, bytes, bounce);
  } else {
    std::vector<std::future<void>> others;
    for (int64_t i = first + 1; i < std::min(first + count, last); ++i)
      others.push_back(std::async(std::launch::async, [&, i] { accessFile(i, BouncePages()); }));
    accessFile(first, bounce);
    for (std::future<void> &other : others)
      other.get();
  }
  moved += bytes;
  nanoseconds += std::chrono::nanoseconds(std::chrono::steady_clock::now() - start).count();
}

void StripedFile::read(int64_t offset, char *to, int64_t bytes, const BouncePages &bounce) const {
  divide(offset, bytes, bounce,
         [&](const ScratchFile &file, int64_t at, int64_t begin, int64_t count,
             const BouncePages &own) { file.read(at, to + begin, count, own); });
}

void StripedFile::write(int64_t offset, const char *from, int64_t bytes,
                        const BouncePages &bounce) const {
  divide(offset, bytes, bounce,
         [&](const ScratchFile &file, int64_t at, int64_t begin, int64_t count,
             const BouncePages &own) { file.write(at, from + begin, count, own); });
}

} // namespace mtc::runtime

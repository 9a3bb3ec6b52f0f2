#include "runtime/data/images/image_folder.h"

#include "runtime/support/failure.h"
#include "support/terminal/suggestions.h"

#include <algorithm>
#include <filesystem>
#include <string_view>
#include <system_error>
#include <utility>

namespace mtc::runtime {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view decoded[] = {".jpg", ".jpeg", ".png"};
/// Extensions of images that would be missing from the data without notice.
constexpr std::string_view undecoded[] = {".avif", ".bmp", ".gif",  ".heic", ".pgm",
                                          ".ppm",  ".tif", ".tiff", ".webp"};

bool hasExtension(const std::string &name, const auto &extensions) {
  std::string extension = fs::path(name).extension();
  std::transform(extension.begin(), extension.end(), extension.begin(), [](char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  });
  return std::find(std::begin(extensions), std::end(extensions), extension) != std::end(extensions);
}

/// The content of a folder, sorted, without hidden files.
struct Listing {
  std::vector<std::string> folders, images;
  std::string undecoded; ///< an image that cannot be decoded
  bool hasArrays = false;
};

Listing list(const std::string &folder) {
  Listing listing;
  std::error_code error;
  fs::directory_iterator entries(folder, error);
  for (const fs::directory_iterator end; !error && entries != end; entries.increment(error)) {
    std::string name = entries->path().filename();
    std::error_code ignored; // of files that vanish
    if (name.starts_with('.'))
      continue;
    if (entries->is_directory(ignored))
      listing.folders.push_back(std::move(name));
    else if (hasExtension(name, decoded))
      listing.images.push_back(std::move(name));
    else if (hasExtension(name, undecoded))
      listing.undecoded = std::move(name);
    else
      listing.hasArrays |= name.ends_with(".npy");
  }
  if (error)
    userError(folder, ": cannot be opened: ", error.message());
  std::sort(listing.folders.begin(), listing.folders.end());
  std::sort(listing.images.begin(), listing.images.end());
  return listing;
}

/// Returns `folder/name`.
std::string join(std::string folder, std::string_view name) {
  if (!folder.ends_with('/'))
    folder += '/';
  return folder.append(name);
}

} // namespace

bool isImageFolder(const std::string &path) {
  std::error_code error;
  if (!fs::is_directory(path, error))
    return false;
  const Listing listing = list(path);
  return !listing.hasArrays && (!listing.folders.empty() || !listing.images.empty());
}

/// Lists a folder and all folders in it.
static void listAll(const std::string &folder, std::vector<std::pair<std::string, Listing>> &all) {
  Listing listing = list(folder);
  if (!listing.undecoded.empty())
    userError(join(folder, listing.undecoded),
              ": has a format that programs do not read; expected .jpg or .png. python -m mtc.data "
              "converts a folder of images");
  const std::vector<std::string> folders = listing.folders;
  all.emplace_back(folder, std::move(listing));
  for (const std::string &name : folders)
    listAll(join(folder, name), all);
}

/// Appends the images of a class.
void ImageFolder::addImages(const std::string &folder, int32_t label) {
  std::vector<std::pair<std::string, Listing>> all;
  listAll(folder, all);
  std::sort(all.begin(), all.end(),
            [](const auto &one, const auto &other) { return one.first < other.first; });
  for (auto &[path, listing] : all) {
    if (listing.images.empty())
      continue;
    for (const std::string &name : listing.images) {
      starts.push_back(files.size());
      files += name;
    }
    groups.push_back({std::move(path), label, static_cast<int64_t>(starts.size())});
  }
}

/// Returns the index of a class, which is added unless all classes are known.
int32_t ImageFolder::labelOf(const std::string &name, bool isKnown) {
  const auto found = std::find(names.begin(), names.end(), name);
  if (isKnown && found == names.end())
    userError(join(root, name), ": is no class of the training data, whose classes are ",
              terminal::listNames(names), terminal::suggestNames(name, names));
  if (!isKnown)
    names.push_back(name);
  return static_cast<int32_t>(isKnown ? found - names.begin() : std::ssize(names) - 1);
}

ImageFolder::ImageFolder(const std::string &path, const std::vector<std::string> &known)
    : root(path), names(known) {
  const Listing listing = list(path);
  if (listing.folders.empty()) {
    names.clear();
    addImages(path, 0);
  } else if (!listing.images.empty()) {
    userError(path, ": has the image ", listing.images.front(), " beside the folder ",
              listing.folders.front(), "; expected only a folder of images for each class");
  }
  for (const std::string &name : listing.folders) {
    const size_t before = starts.size();
    addImages(join(path, name), labelOf(name, !known.empty()));
    if (starts.size() == before)
      userError(join(path, name), ": has no .jpg or .png images; expected images of the class '",
                name, "', or no such folder");
  }
  if (groups.empty())
    userError(path, ": has no .jpg or .png images");
}

std::string ImageFolder::fileOf(int64_t image) const {
  const auto group =
      std::upper_bound(groups.begin(), groups.end(), image,
                       [](int64_t wanted, const Group &each) { return wanted < each.end; });
  const auto i = static_cast<size_t>(image);
  const uint64_t begin = starts[i], end = i + 1 < starts.size() ? starts[i + 1] : files.size();
  return join(group->folder, std::string_view(files).substr(begin, end - begin));
}

std::vector<int32_t> ImageFolder::labels() const {
  std::vector<int32_t> labels;
  labels.reserve(starts.size());
  for (const Group &group : groups)
    labels.resize(static_cast<size_t>(group.end), group.label);
  return labels;
}

} // namespace mtc::runtime

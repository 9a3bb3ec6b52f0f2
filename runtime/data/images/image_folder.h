// Folders with a folder of images for each class.
#ifndef MTC_RUNTIME_DATA_IMAGES_IMAGE_FOLDER_H
#define MTC_RUNTIME_DATA_IMAGES_IMAGE_FOLDER_H

#include <cstdint>
#include <string>
#include <vector>

namespace mtc::runtime {

/// The images below a folder, in the order of torchvision's ImageFolder: by class, then by path, in
/// the order of bytes. Images are `.jpg`, `.jpeg` and `.png` files; hidden files and files of other
/// kinds are ignored. A folder without class folders may itself have images, which have no class.
class ImageFolder {
public:
  /// Lists the folder. `known` are the names of the classes if other data has determined them; the
  /// folder may then lack some. Throws a user error if the folder has no images, a class has none
  /// or is not known, or images have a format that is not supported.
  explicit ImageFolder(const std::string &path, const std::vector<std::string> &known = {});

  const std::string &path() const { return root; }
  int64_t count() const { return groups.back().end; }
  /// Returns the names of the classes: the known ones, or those of the folders, sorted. Empty if
  /// the images have none.
  const std::vector<std::string> &classes() const { return names; }

  /// Returns the path of an image.
  std::string fileOf(int64_t image) const;
  /// Returns the class of each image: an index of `classes`.
  std::vector<int32_t> labels() const;

private:
  /// Images of one folder.
  struct Group {
    std::string folder;
    int32_t label = 0;
    int64_t end = 0; ///< number of images up to the last one of the folder
  };

  void addImages(const std::string &folder, int32_t label);
  int32_t labelOf(const std::string &name, bool isKnown);

  std::string root;
  std::vector<std::string> names;
  std::vector<Group> groups;
  std::string files;            ///< names of all images
  std::vector<uint64_t> starts; ///< of each name in `files`
};

/// Returns whether a path is a folder that may be an ImageFolder: it has no `.npy` files, and has
/// folders or images.
bool isImageFolder(const std::string &path);

} // namespace mtc::runtime

#endif // MTC_RUNTIME_DATA_IMAGES_IMAGE_FOLDER_H

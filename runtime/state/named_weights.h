// Maps tensors of a weights file to variables of the program, by name only.
#ifndef MTC_RUNTIME_STATE_NAMED_WEIGHTS_H
#define MTC_RUNTIME_STATE_NAMED_WEIGHTS_H

#include "runtime/abi/program.h"
#include "runtime/io/tensor_files.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace mtc::runtime {

/// A tensor of a file, and the part of a variable that it holds.
struct FoundTensor {
  std::string name; ///< name in the file
  const ArrayOnDisk *array;
  const MtcTensorImage *image; ///< null: the variable itself
};

/// A prefix in which all names of a file differ from the program's, such as `module.`.
struct NamePrefix {
  std::string text; ///< ends with a dot
  bool isInFile;    ///< the file's names have the prefix and the program's names lack it, or the
                    ///< reverse

  /// Returns the name of a tensor in the file; nullopt if the program's name lacks the prefix.
  std::optional<std::string> nameInFile(const std::string &name) const;
};

/// Finds the tensors of each variable in a weights file. A tensor with a name of the user's module
/// has the module's layout; a tensor with the name of an initializer has the layout of the model
/// file. Names are matched exactly first; the remaining ones are matched after adding or removing
/// one prefix, which is the same for all of them.
class NamedWeights {
public:
  /// Throws a user error if the file is invalid, or if a name in it could refer to either layout.
  NamedWeights(const MtcProgram &program, const std::string &path);

  const TensorFiles &file() const { return weights; }
  /// Returns the tensors of the variable; empty if the file lacks it. If the module has several
  /// names for the variable, the first ones that are present are used.
  const std::vector<FoundTensor> &of(uint32_t variable) const { return found[variable]; }
  const std::optional<NamePrefix> &prefix() const { return common; }
  /// Returns the number of variables that were found with the prefix.
  int prefixed() const { return prefixedCount; }
  /// Returns the tensors of the variable under its other names in the file.
  const std::vector<std::vector<FoundTensor>> &repeated(uint32_t variable) const {
    return further[variable];
  }
  /// Returns the names in the file that the program does not know.
  std::vector<std::string> unknown() const;
  /// A tensor that is expected in a file.
  struct Expected {
    std::string name;
    MtcTensor tensor;
  };
  /// Returns the tensors of a variable that the file lacks, under each name that it could have.
  std::vector<Expected> missing(uint32_t variable) const;

private:
  enum class Layout { Module, Model };
  struct Names;

  std::optional<std::string> find(const std::string &name) const;
  std::vector<std::vector<FoundTensor>> match(uint32_t variable) const;
  void choosePrefix();
  void chooseLayout();

  const MtcProgram &program;
  TensorFiles weights;
  std::shared_ptr<const Names> names;
  std::optional<NamePrefix> common;
  int prefixedCount = 0;
  std::optional<Layout> layout; ///< of names that occur in both layouts
  std::vector<std::vector<FoundTensor>> found;
  std::vector<std::vector<std::vector<FoundTensor>>> further;
};

} // namespace mtc::runtime

#endif // MTC_RUNTIME_STATE_NAMED_WEIGHTS_H

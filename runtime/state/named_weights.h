// Which tensors of a weights file are which variables: decided by names alone.
#ifndef MTC_RUNTIME_STATE_NAMED_WEIGHTS_H
#define MTC_RUNTIME_STATE_NAMED_WEIGHTS_H

#include "runtime/abi/program.h"
#include "runtime/io/tensor_files.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace mtc::runtime {

/// A tensor of a file, and what it is of a variable.
struct FoundTensor {
  std::string name; ///< in the file
  const ArrayOnDisk *array;
  const MtcTensorImage *image; ///< null: the variable as it is
};

/// A prefix by which all names of a file differ from the program's.
struct NamePrefix {
  std::string text; ///< ends with a dot
  bool isInFile;    ///< the file's names have it, the program's do not; or the reverse

  /// The file's name of a tensor; nothing where the program's name lacks the prefix.
  std::optional<std::string> nameInFile(const std::string &name) const;
};

/// The tensors of a weights file for each variable. A tensor has the user's module's layout where
/// it has the module's name, and the model file's where it has the name of an initializer there.
/// Names are matched exactly, and those that are not there after one prefix, the same for all, that
/// the file's names have or lack.
class NamedWeights {
public:
  /// A mistake of the user if the file is not valid, or if a name in it could be either of two
  /// layouts.
  NamedWeights(const MtcProgram &program, const std::string &path);

  const TensorFiles &file() const { return weights; }
  /// None where the file does not have the variable. Of one that has several names in the module
  /// those that come first.
  const std::vector<FoundTensor> &of(uint32_t variable) const { return found[variable]; }
  const std::optional<NamePrefix> &prefix() const { return common; }
  /// How many variables were found under names with the prefix.
  int prefixed() const { return prefixedCount; }
  /// The other names under which the file has a variable, if it does.
  const std::vector<std::vector<FoundTensor>> &repeated(uint32_t variable) const {
    return further[variable];
  }
  /// The file's names that the program knows nothing of.
  std::vector<std::string> unknown() const;
  /// A tensor that a file is expected to have.
  struct Expected {
    std::string name;
    MtcTensor tensor;
  };
  /// Those of a variable that the file lacks, under the names that it could have.
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
  std::optional<Layout> layout; ///< of names that could be either
  std::vector<std::vector<FoundTensor>> found;
  std::vector<std::vector<std::vector<FoundTensor>>> further;
};

} // namespace mtc::runtime

#endif // MTC_RUNTIME_STATE_NAMED_WEIGHTS_H

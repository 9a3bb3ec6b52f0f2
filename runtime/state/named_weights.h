// Maps tensors of a weights file to variables of the program, by name only.
#ifndef MTC_RUNTIME_STATE_NAMED_WEIGHTS_H
#define MTC_RUNTIME_STATE_NAMED_WEIGHTS_H

#include "runtime/abi/program.h"
#include "runtime/io/tensor_files.h"
#include "runtime/state/module_tensors.h"

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <vector>

namespace mtc::runtime {

/// A tensor of a file, and the part of a variable that it holds.
struct FoundTensor {
  std::string name; ///< name in the file
  const ArrayOnDisk *array;
  const MtcTensorImage *image; ///< null: the variable itself
};

/// The prefixes in which all names of a file differ from the program's. Each is empty or ends with
/// a dot, such as `module.`.
struct NamePrefix {
  std::string inFile, inProgram;

  /// Returns the name of a tensor in the file; nullopt if the program's name lacks its prefix.
  std::optional<std::string> nameInFile(const std::string &name) const;
  bool operator<(const NamePrefix &other) const {
    return std::tie(inFile, inProgram) < std::tie(other.inFile, other.inProgram);
  }
};

/// Finds the tensors of each variable in a weights file. A tensor with a name of the user's module
/// has the module's layout; a tensor with the name of an initializer has the layout of the model
/// file; a tensor with a name of save_pretrained has the layout of that. If the module's name is
/// one of save_pretrained, too, folders have the layout of save_pretrained, other files that of the
/// module. Names are matched exactly first. The remaining ones are matched with the names that
/// wrappers
/// (`_orig_mod`) and older versions (`gamma`, `beta`) write, and after one prefix, the same for all
/// of them, is added, removed or, between names of wrappers such as `module.` and `model.`,
/// replaced.
class NamedWeights {
public:
  /// Throws a user error if the file is invalid, or if a name in it could refer to either layout.
  NamedWeights(const MtcProgram &program, const std::string &path);

  const TensorFiles &file() const { return weights; }
  /// Returns the tensors of the variable; empty if the file lacks it. If the module has several
  /// names for the variable, the first ones that are present are used.
  const std::vector<FoundTensor> &of(uint32_t variable) const { return found[variable]; }
  /// Returns whether the tensors of a variable are those of save_pretrained, which the module does
  /// not have.
  bool isPretrained() const { return hasPretrained; }
  /// Returns the name that the file has, or would have, for a tensor of the program.
  std::string nameInFile(const std::string &name) const;
  /// Returns the name that the program has, or would have, for a tensor of the file.
  std::string nameInProgram(const std::string &name) const;
  /// Returns one sentence for each rule by which names that differ from the program's were matched.
  std::vector<std::string> describeMatches() const;
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

  std::optional<std::string> inFile(const std::string &name) const;
  std::optional<std::string> find(const std::string &name) const;
  void addSpellings();
  std::set<NamePrefix> candidates(const std::vector<uint32_t> &unmatched) const;
  std::vector<ImageGroup> groupsOf(uint32_t variable) const;
  std::vector<std::vector<FoundTensor>> match(uint32_t variable) const;
  void choosePrefix();
  void chooseLayout();

  const MtcProgram &program;
  TensorFiles weights;
  std::shared_ptr<const Names> names;
  std::map<std::string, std::string> spelled; ///< names in the file, by those of the module
  std::optional<NamePrefix> common;
  int prefixedCount = 0;
  bool hasPretrained = false;
  std::optional<Layout> layout; ///< of names that occur in both layouts
  std::vector<std::vector<FoundTensor>> found;
  std::vector<std::vector<std::vector<FoundTensor>>> further;
};

} // namespace mtc::runtime

#endif // MTC_RUNTIME_STATE_NAMED_WEIGHTS_H

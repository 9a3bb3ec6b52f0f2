// Tensors under the names and in the layouts of the user's module.
#ifndef MTC_RUNTIME_STATE_MODULE_TENSORS_H
#define MTC_RUNTIME_STATE_MODULE_TENSORS_H

#include "runtime/abi/program.h"

#include <cstdint>
#include <functional>
#include <set>
#include <string>
#include <vector>

namespace mtc::runtime {

/// Returns the tensor of a variable in files, independent of its storage in the arena, without an
/// offset.
MtcTensor valueOf(const MtcProgram &program, uint32_t variable);

/// Returns the extents of an image.
std::vector<int64_t> shapeOf(const MtcTensorImage &image);

/// Returns the tensor of an image of a value, under the image's name.
MtcTensor tensorOf(const MtcTensor &value, const MtcTensorImage &image);

/// Returns whether the image has all elements of its variable in order; null is the variable
/// itself.
inline bool isWhole(const MtcTensorImage *image) { return !image || image->part_count == 0; }

/// Images of a variable that together cover all of its elements.
using ImageGroup = std::vector<const MtcTensorImage *>;

/// Returns the images of a variable in the user's module in groups. Empty if the variable has no
/// images.
std::vector<ImageGroup> imageGroups(const MtcProgram &program, uint32_t variable);

/// Returns the images of a variable in files of save_pretrained in groups. Empty if they are those
/// of the module.
std::vector<ImageGroup> pretrainedGroups(const MtcProgram &program, uint32_t variable);

/// A tensor of the user's module, and the variables that contain its elements.
struct ModuleTensor {
  struct Piece {
    uint32_t variable;
    const MtcTensorImage *image; ///< null: the variable itself
  };

  std::string name;
  uint32_t type; ///< MtcType
  std::vector<int64_t> dims;
  std::vector<Piece> pieces;

  /// Returns whether the tensor is a single variable with its elements in order.
  bool isPlain() const { return isWhole(pieces.front().image); }
  int64_t bytes() const;
};

/// The choice among a variable's names: those in the module, if it has several, or the first one in
/// files of save_pretrained.
enum class ModuleNames { First, All, Pretrained };

/// Returns the variables whose images consist only of elements of variables for which `includes`
/// holds. `names` selects images of a variable. Other variables are
/// stored in files under their own names.
std::set<uint32_t> completeVariables(const MtcProgram &program, ModuleNames names,
                                     const std::function<bool(uint32_t)> &includes);

/// Returns the tensors of the variables for which `includes` holds, in the order of the variables.
std::vector<ModuleTensor> moduleTensors(const MtcProgram &program, ModuleNames names,
                                        const std::function<bool(uint32_t)> &includes);

} // namespace mtc::runtime

#endif // MTC_RUNTIME_STATE_MODULE_TENSORS_H

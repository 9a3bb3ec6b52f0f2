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

/// The value of a variable as files have it, whatever the arena stores: without an offset.
MtcTensor valueOf(const MtcProgram &program, uint32_t variable);

/// The extents of an image.
std::vector<int64_t> shapeOf(const MtcTensorImage &image);

/// A value in the form of an image, under its name.
MtcTensor tensorOf(const MtcTensor &value, const MtcTensorImage &image);

/// Whether an image has all elements of its variable in their order; null is the variable itself.
inline bool isWhole(const MtcTensorImage *image) { return !image || image->part_count == 0; }

/// The images of a variable in groups, of which each has all elements of it. None where it has no
/// images.
std::vector<std::vector<const MtcTensorImage *>> imageGroups(const MtcProgram &program,
                                                             uint32_t variable);

/// A tensor of the user's module, and the variables that have its elements.
struct ModuleTensor {
  struct Piece {
    uint32_t variable;
    const MtcTensorImage *image; ///< null: the variable as it is
  };

  std::string name;
  uint32_t type; ///< MtcType
  std::vector<int64_t> dims;
  std::vector<Piece> pieces;

  /// Whether it is one variable with its elements in their order.
  bool isPlain() const { return isWhole(pieces.front().image); }
  int64_t bytes() const;
};

/// Of a variable that has several names in the module: one of them, or all.
enum class ModuleNames { First, All };

/// The variables all of whose images, or those that come first, have each of their elements from a
/// variable for which `includes` holds. Others are files' tensors under their own names.
std::set<uint32_t> completeVariables(const MtcProgram &program, ModuleNames names,
                                     const std::function<bool(uint32_t)> &includes);

/// The tensors of the variables for which `includes` holds, in the order of these.
std::vector<ModuleTensor> moduleTensors(const MtcProgram &program, ModuleNames names,
                                        const std::function<bool(uint32_t)> &includes);

/// The bytes of a tensor that is not plain; `read` gives the bytes of a variable's value.
std::vector<char> compose(const ModuleTensor &tensor,
                          const std::function<std::vector<char>(uint32_t)> &read);

/// Puts the elements of an image, which is not null, where a variable's value has them.
void takeImage(const MtcTensorImage &image, uint32_t type, const std::vector<char> &elements,
               char *value);

} // namespace mtc::runtime

#endif // MTC_RUNTIME_STATE_MODULE_TENSORS_H

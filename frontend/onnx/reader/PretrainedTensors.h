//===- PretrainedTensors.h - Tensors of save_pretrained in metadata ---------------------------===//
//
// transformers saves some models under other names and in other tensors than those of the module,
// such as a matrix for each expert. `mtc.export` lists these tensors for each parameter; see
// docs/reference/onnx.md.
//
//===------------------------------------------------------------------------------------------===//

#ifndef MTC_FRONTEND_ONNX_READER_PRETRAINEDTENSORS_H
#define MTC_FRONTEND_ONNX_READER_PRETRAINEDTENSORS_H

#include "frontend/onnx/dialect/Onnx.h"
#include "support/compiler/Problems.h"

#include "llvm/Support/JSON.h"

#include <optional>
#include <string>
#include <vector>

namespace mtc::onnx {

/// A tensor in a file of save_pretrained, and the elements of a parameter that it contains: all in
/// order if there are no parts.
struct PretrainedTensor {
  struct Part {
    int64_t variable, image;
    std::vector<int64_t> extents, variableStrides, imageStrides;
  };

  std::string name;
  std::vector<int64_t> shape;
  std::vector<Part> parts;
};

/// Returns the integers of a JSON list; nullopt for other values.
std::optional<std::vector<int64_t>> integersOf(const llvm::json::Array *list);

/// Parses a list of tensors; nullopt if it is malformed.
std::optional<std::vector<PretrainedTensor>> parsePretrainedTensors(const llvm::json::Array &list);

/// Sets `pretrained_images` of an initializer, if there are tensors. Adds a problem if one of them
/// cannot hold elements of the initializer.
void describePretrained(InitializerOp initializer, llvm::ArrayRef<PretrainedTensor> tensors,
                        Problems &problems);

} // namespace mtc::onnx

#endif // MTC_FRONTEND_ONNX_READER_PRETRAINEDTENSORS_H

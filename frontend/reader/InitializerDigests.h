//===- InitializerDigests.h - Which initializers hold the same elements -----------------------===//

#ifndef MTC_FRONTEND_READER_INITIALIZERDIGESTS_H
#define MTC_FRONTEND_READER_INITIALIZERDIGESTS_H

#include "frontend/dialect/Onnx.h"
#include "frontend/reader/Model.h"

#include <map>

namespace mtc::onnx {

/// Describes initializers that may equal each other, as they are or transposed, by digests of their
/// elements (`onnx.digest`, `onnx.transposed_digest`). The size and the first and the last element,
/// which a transposition keeps, tell most apart, so that large models are not read through.
/// Initializers of one value say nothing of the module, and have no digest; nor have those whose
/// data is missing.
class InitializerDigests {
public:
  explicit InitializerDigests(Model &model) : model(model) {}

  void add(InitializerOp initializer);
  /// Sets the attributes of all that were added.
  void describe();

private:
  Model &model;
  std::map<std::pair<int64_t, std::string>, std::vector<InitializerOp>> alike;
};

} // namespace mtc::onnx

#endif // MTC_FRONTEND_READER_INITIALIZERDIGESTS_H

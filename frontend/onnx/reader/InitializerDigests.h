//===- InitializerDigests.h - Digests of equal initializers -----------------------------------===//

#ifndef MTC_FRONTEND_ONNX_READER_INITIALIZERDIGESTS_H
#define MTC_FRONTEND_ONNX_READER_INITIALIZERDIGESTS_H

#include "frontend/onnx/dialect/Onnx.h"
#include "frontend/onnx/reader/Model.h"

#include <map>

namespace mtc::onnx {

/// Attaches digests (`onnx.digest`, `onnx.transposed_digest`) to initializers that may be equal or
/// transposes of each other. Candidates are grouped by size and by the first and last element,
/// which a transposition preserves, so that most data of large models is not read. An initializer
/// whose elements are all equal has its value instead (`onnx.one_value`), and one with missing data
/// has nothing.
class InitializerDigests {
public:
  explicit InitializerDigests(Model &model) : model(model) {}

  void add(InitializerOp initializer);
  /// Sets the digest attributes of all added initializers.
  void describe();

private:
  Model &model;
  std::map<std::pair<int64_t, std::string>, std::vector<InitializerOp>> alike;
};

} // namespace mtc::onnx

#endif // MTC_FRONTEND_ONNX_READER_INITIALIZERDIGESTS_H

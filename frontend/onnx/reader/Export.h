//===- Export.h - Export of a model with trained weights --------------------------------------===//

#ifndef MTC_FRONTEND_ONNX_READER_EXPORT_H
#define MTC_FRONTEND_ONNX_READER_EXPORT_H

#include "frontend/Frontend.h"
#include "frontend/onnx/reader/AddedInitializers.h"
#include "frontend/onnx/reader/ExportMessages.h"
#include "frontend/onnx/reader/InferenceValues.h"
#include "frontend/onnx/reader/Model.h"

#include "llvm/ADT/StringSet.h"

#include <vector>

namespace mtc::onnx {

/// A segment of a file: bytes, followed by the data of an initializer with the given
/// TensorProto.DataType. No data follows if the name is empty.
struct FileSegment {
  std::string bytes, initializer;
  int64_t dataType = 0;
  ExportForm form = ExportForm::Every;
  SegmentKind kind = SegmentKind::Inline;
};

/// Serializes the model with the added initializers, split at the data of the initializers in
/// `initializers`. `replaced` lists nodes whose inference form is not that of their operator. It is
/// used in addition to the values that `mtc.module` lists. The segments' bytes, interleaved with
/// raw data of the original sizes, form a valid model; data of external files is included. If the
/// inference form (`toInferenceForm`) differs, each form starts with segments of its own, and both
/// share all later segments. If the file would exceed `limit`, the data of `initializers` of the
/// main graph is external. Fails if external data is missing, or if the rest exceeds 2 GiB.
llvm::Expected<std::vector<FileSegment>> exportSegments(Model &model,
                                                        llvm::ArrayRef<AddedInitializer> added,
                                                        const llvm::StringSet<> &initializers,
                                                        llvm::ArrayRef<ReplacedNode> replaced = {},
                                                        uint64_t limit = maxModelBytes);

} // namespace mtc::onnx

#endif // MTC_FRONTEND_ONNX_READER_EXPORT_H

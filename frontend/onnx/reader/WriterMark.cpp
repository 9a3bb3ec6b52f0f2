//===- WriterMark.cpp - Mark of models that mtc writes ----------------------------------------===//

#include "frontend/onnx/reader/WriterMark.h"
#include "runtime/abi/file_marks.h"

#include "onnx-ml.pb.h"

namespace mtc::onnx {

void markAsWritten(::onnx::ModelProto &model) {
  for (const ::onnx::StringStringEntryProto &entry : model.metadata_props())
    if (entry.key() == MTC_WRITER_KEY)
      return;
  ::onnx::StringStringEntryProto *mark = model.add_metadata_props();
  mark->set_key(MTC_WRITER_KEY);
  mark->set_value(MTC_WRITER);
}

} // namespace mtc::onnx

//===- WriterMark.h - Mark of models that mtc writes ------------------------------------------===//

#ifndef MTC_FRONTEND_ONNX_READER_WRITERMARK_H
#define MTC_FRONTEND_ONNX_READER_WRITERMARK_H

namespace onnx {
class ModelProto;
} // namespace onnx

namespace mtc::onnx {

/// Marks the file as written by mtc, so that later runs recognize it.
void markAsWritten(::onnx::ModelProto &model);

} // namespace mtc::onnx

#endif // MTC_FRONTEND_ONNX_READER_WRITERMARK_H

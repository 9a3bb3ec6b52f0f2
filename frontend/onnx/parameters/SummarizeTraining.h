//===- SummarizeTraining.h - Summary of the trained parameters --------------------------------===//

#ifndef MTC_FRONTEND_ONNX_PARAMETERS_SUMMARIZETRAINING_H
#define MTC_FRONTEND_ONNX_PARAMETERS_SUMMARIZETRAINING_H

#include "frontend/TrainingSummary.h"
#include "frontend/onnx/parameters/Parameters.h"

namespace mtc::onnx {

/// Summarizes the training of a graph whose initializers have these classes.
TrainingSummary summarizeTraining(GraphOp graph, const llvm::StringMap<InitializerClass> &classes);

} // namespace mtc::onnx

#endif // MTC_FRONTEND_ONNX_PARAMETERS_SUMMARIZETRAINING_H

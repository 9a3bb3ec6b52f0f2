//===- Rules.cpp - All operator families ------------------------------------------------------===//

#include "frontend/inference/rules/Rules.h"

namespace mtc::onnx {

void registerAllRules(Registry &registry) {
  registerUnaryRules(registry);
  registerBinaryRules(registry);
  registerTypeRules(registry);
  registerShapeRules(registry);
  registerSliceRules(registry);
  registerIndexingRules(registry);
  registerScatterRules(registry);
  registerReductionRules(registry);
  registerSequenceRules(registry);
  registerContractionRules(registry);
  registerNormalizationRules(registry);
  registerConvolutionRules(registry);
  registerResizeRules(registry);
  registerAttentionRules(registry);
  registerRecurrentRules(registry);
  registerLossRules(registry);
}

} // namespace mtc::onnx

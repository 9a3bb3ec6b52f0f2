//===- Rules.h - The operator families that have inference rules ------------------------------===//

#ifndef MTC_FRONTEND_INFERENCE_RULES_RULES_H
#define MTC_FRONTEND_INFERENCE_RULES_RULES_H

namespace mtc::onnx {

class Registry;

void registerUnaryRules(Registry &registry);
void registerBinaryRules(Registry &registry);
void registerTypeRules(Registry &registry);
void registerShapeRules(Registry &registry);
void registerSliceRules(Registry &registry);
void registerIndexingRules(Registry &registry);
void registerScatterRules(Registry &registry);
void registerReductionRules(Registry &registry);
void registerSequenceRules(Registry &registry);
void registerContractionRules(Registry &registry);
void registerNormalizationRules(Registry &registry);
void registerConvolutionRules(Registry &registry);
void registerResizeRules(Registry &registry);
void registerAttentionRules(Registry &registry);
void registerRecurrentRules(Registry &registry);
void registerLossRules(Registry &registry);

void registerAllRules(Registry &registry);

} // namespace mtc::onnx

#endif // MTC_FRONTEND_INFERENCE_RULES_RULES_H

//===- MtcOps.td - All operations of the mtc dialect --------------------------------------------===//

include "ir/AttentionOps.td"
include "ir/ConvolutionOps.td"
include "ir/ElementwiseOps.td"
include "ir/IndexingOps.td"
include "ir/KernelOps.td"
include "ir/LossOps.td"
include "ir/PlanOps.td"
include "ir/ProgramOps.td"
include "ir/ReductionOps.td"
include "ir/ShapeOps.td"
include "ir/StateOps.td"
include "ir/WindowOps.td"

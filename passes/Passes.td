//===- Passes.td - All mtc passes --------------------------------------------------------------===//

#ifndef MTC_PASSES
#define MTC_PASSES

include "passes/adapters/AdapterPasses.td"
include "passes/attention/AttentionPasses.td"
include "passes/autodiff/AutodiffPasses.td"
include "passes/calls/CallPasses.td"
include "passes/cost/CostPasses.td"
include "passes/planning/FitPasses.td"
include "passes/kernels/KernelPasses.td"
include "passes/layout/LayoutPasses.td"
include "passes/losses/LossPasses.td"
include "passes/memory/MemoryPasses.td"
include "passes/offload/OffloadPasses.td"
include "passes/optimizer/OptimizerPasses.td"
include "passes/overlap/OverlapPasses.td"
include "passes/pipeline/PipelinePasses.td"
include "passes/sharding/ShardingPasses.td"
include "passes/splitting/SplittingPasses.td"
include "passes/tiling/TilePasses.td"
include "passes/precision/PrecisionPasses.td"
include "passes/program/ProgramPasses.td"
include "passes/recompute/RecomputePasses.td"
include "passes/algorithms/AlgorithmPasses.td"

#endif // MTC_PASSES

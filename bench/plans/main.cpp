//===- main.cpp - mtc-bench-plan: times plan analyses after changes ---------------------------===//
//
// Benchmarks incremental analyses for a search over plans: changes one kernel of a model's step at
// a time, as recomputation would, and queries the analyses after each change.
//
//===------------------------------------------------------------------------------------------===//

#include "driver/CommandLine.h"
#include "driver/Compilation.h"
#include "driver/Options.h"
#include "ir/Mtc.h"
#include "passes/cost/StepCost.h"
#include "passes/memory/MemoryAnalysis.h"

#include "mlir/IR/PatternMatch.h"

#include <benchmark/benchmark.h>

using namespace mlir;
using namespace mtc;

namespace {

/// Iterates over the kernels of the longest function: duplicates one before its last user, and
/// undoes this in the next iteration.
class Edits {
public:
  Edits(ModuleOp module, RewriterBase::Listener *listener)
      : rewriter(module.getContext(), listener) {
    for (auto function : module.getOps<func::FuncOp>()) {
      SmallVector<KernelOp> found;
      for (auto kernel : function.getOps<KernelOp>())
        if (kernel->getNumResults() == 1 && !kernel->use_empty())
          found.push_back(kernel);
      if (found.size() > kernels.size())
        kernels = std::move(found);
    }
  }
  ~Edits() { undo(); }

  bool isEmpty() const { return kernels.empty(); }

  void next() {
    if (copy)
      return undo();
    KernelOp kernel = kernels[at = (at + stride) % kernels.size()];
    OpOperand *last = nullptr;
    for (OpOperand &use : kernel->getUses())
      if (!last || last->getOwner()->isBeforeInBlock(use.getOwner()))
        last = &use;
    rewriter.setInsertionPoint(last->getOwner());
    copy = rewriter.clone(*kernel);
    original = kernel->getResult(0);
    redirect(original, copy->getResult(0), last->getOwner());
  }

private:
  /// The stride is a prime number, so that successive changes are far apart in the program.
  static constexpr size_t stride = 1009;

  void redirect(Value from, Value to, Operation *user) {
    rewriter.modifyOpInPlace(user, [&] { user->replaceUsesOfWith(from, to); });
  }

  void undo() {
    if (!copy)
      return;
    for (Operation *user : llvm::make_early_inc_range(copy->getUsers()))
      redirect(copy->getResult(0), original, user);
    rewriter.eraseOp(copy);
    copy = nullptr;
  }

  IRRewriter rewriter;
  SmallVector<KernelOp> kernels;
  size_t at = 0;
  Operation *copy = nullptr;
  Value original;
};

/// An analysis to benchmark; returns false if it fails.
bool askLive(MemoryAnalysis &analysis) { return succeeded(analysis.getPlan()); }
bool askPlacement(MemoryAnalysis &analysis) { return succeeded(analysis.getPlanWithLayout()); }
bool askTime(StepCost &cost) { return cost.ofStep().picoseconds > 0; }

template <typename Analysis>
void askFirst(benchmark::State &state, ModuleOp module, bool (*ask)(Analysis &)) {
  for (auto _ : state) {
    Analysis analysis(module);
    if (!ask(analysis))
      return state.SkipWithError("there is no answer");
  }
}

template <typename Analysis>
void askAgain(benchmark::State &state, ModuleOp module, bool (*ask)(Analysis &)) {
  Analysis analysis(module);
  Edits edits(module, &analysis);
  bool isAnswered = ask(analysis);
  if (edits.isEmpty() || !isAnswered)
    return state.SkipWithError("there is nothing to change, or no answer");
  for (auto _ : state) {
    edits.next();
    if (!ask(analysis))
      return state.SkipWithError("there is no answer");
  }
}

constexpr const char *usage =
    "mtc-bench-plan MODEL.onnx [--benchmark_...] [flags of mtc plan]\n\n"
    "Times questions about the memory and the time of the model's training program, the first and\n"
    "those after changes of one kernel each.\n";

} // namespace

int main(int argc, char **argv) {
  benchmark::Initialize(&argc, argv);
  if (argc < 2 || StringRef(argv[1]).starts_with("--")) {
    llvm::errs() << usage;
    return 1;
  }
  std::vector<char *> words(argv, argv + argc);
  static char command[] = "plan";
  words.insert(words.begin() + 1, command);
  tool::Options options;
  tool::parseCommandLine(static_cast<int>(words.size()), words.data(), options);
  tool::Compilation compilation(options);
  if (failed(compilation.import()) || failed(compilation.lower(Stage::Kernels)))
    return 1;
  auto add = [&]<typename Analysis>(const std::string &name, bool (*ask)(Analysis &)) {
    auto time = [&](const char *when, auto run) {
      benchmark::RegisterBenchmark((name + when).c_str(), run, compilation.getModule(), ask)
          ->Unit(benchmark::kMillisecond);
    };
    time(", first", &askFirst<Analysis>);
    time(", after a change", &askAgain<Analysis>);
  };
  add("live bytes", askLive);
  add("placement", askPlacement);
  add("time", askTime);
  benchmark::RunSpecifiedBenchmarks();
  return 0;
}

//===- main.cpp - mtc-bench: times kernels and library calls separately -----------------------===//
//
// A row `NAME nodes` is a kernel or call of the program, run repeatedly as in the program: with its
// own slices of the arena, on all threads, and with operands in the cache if they fit. The
// following rows are references: a copy of as many bytes, or the library's plain contraction of the
// same shape, and the call with each algorithm. The last rows are the peak throughput of
// multiply-adds in registers.
//
//===------------------------------------------------------------------------------------------===//

#include "bench/kernels/AllocatedModule.h"
#include "codegen/Jit.h"
#include "driver/CommandLine.h"
#include "driver/Compilation.h"
#include "driver/Options.h"
#include "ir/Mtc.h"
#include "runtime/abi/contraction.h"
#include "runtime/abi/convolution.h"
#include "runtime/calls/contraction/plain.h"
#include "runtime/devices/cpu/arena.h"
#include "runtime/devices/cpu/library_call.h"
#include "runtime/devices/cpu/measure/register_throughput.h"
#include "runtime/devices/cpu/threads/parallel.h"
#include "runtime/devices/operation_info.h"
#include "runtime/support/element_type.h"
#include "runtime/support/failure.h"
#include "runtime/support/process.h"

#include "mlir/IR/MLIRContext.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FileSystem.h"

#include <benchmark/benchmark.h>
#include <cstring>
#include <map>
#include <optional>
#include <random>
#include <set>

using namespace mtc;
using namespace mtc::runtime;
using benchmark::Counter;

namespace {

int64_t aligned(int64_t bytes) {
  return (bytes + MTC_ALIGNMENT - 1) / MTC_ALIGNMENT * MTC_ALIGNMENT;
}

void setRates(benchmark::State &state, int64_t flops, int64_t bytes) {
  auto rate = [&](int64_t amount) {
    return Counter(static_cast<double>(amount), Counter::kIsIterationInvariantRate);
  };
  if (flops)
    state.counters["FLOP/s"] = rate(flops);
  if (bytes)
    state.counters["B/s"] = rate(bytes);
}

/// Registers the program's kernels and calls under their nodes' names.
class Bench {
public:
  Bench(JitProgram &jit, int threads) : jit(jit), program(jit.program()), threads(threads) {
    setLibraryThreads(threads);
  }

  void registerAll() {
    fillIntegers();
    for (const MtcFunction *function : functionsOf({program.micro_step, program.update}))
      for (uint32_t i = 0; i < function->operation_count; ++i)
        ++runsOfStep[{function->operations[i].kind, function->operations[i].index}];
    for (const MtcFunction *function :
         functionsOf({program.micro_step, program.update, program.evaluate}))
      for (uint32_t i = 0; i < function->operation_count; ++i)
        registerOne(function->operations[i]);
    for (uint32_t type : {MTC_F32, MTC_BF16})
      add(text("registers ", mtc::runtime::typeName(type)), [=, this](benchmark::State &state) {
        std::optional<double> rate;
        for (auto _ : state)
          rate = std::max(rate, registerThroughput(type, threads)); // Slow in some runs.
        state.counters["FLOP/s"] = Counter(rate.value_or(0));
      });
  }

private:
  llvm::SmallVector<char *> places(const MtcOperation &operation) {
    llvm::SmallVector<char *> result;
    for (uint32_t i = 0; i < operation.operand_count; ++i)
      result.push_back(jit.arena() + operation.operands[i]);
    return result;
  }

  void registerOne(const MtcOperation &operation) {
    if (operation.kind == MTC_COPY || !known.insert({operation.kind, operation.index}).second)
      return;
    if (operation.kind == MTC_LAUNCH)
      registerKernel(operation, program.kernels[operation.index]);
    else
      registerCall(operation, program.calls[operation.index]);
  }

  void add(const std::string &name, const std::function<void(benchmark::State &)> &run) {
    benchmark::RegisterBenchmark(name.c_str(), run)->UseRealTime()->Unit(benchmark::kMicrosecond);
  }

  void registerKernel(const MtcOperation &operation, const MtcKernel &kernel) {
    std::string name = kernel.name;
    add(text(name, " ", operation.nodes), [=, this, &kernel](benchmark::State &state) {
      for (auto _ : state)
        launch(kernel, places(operation).data());
      setRates(state, kernel.flops, kernel.bytes);
    });
    add(name + " as a copy", [=, this, &kernel](benchmark::State &state) {
      const int64_t half = std::max<int64_t>(kernel.bytes / 2, 1);
      Arena arena(2 * aligned(half), threads);
      char *from = arena.data(), *to = arena.at(aligned(half));
      const MtcCpuStage &stage = stagesOf(kernel).front();
      const int64_t parts = std::max<int64_t>(stage.extent / std::max<int64_t>(stage.grain, 1), 1);
      for (auto _ : state) // on as many threads as the kernel
        parallelFor(threads, half, (half + parts - 1) / parts,
                    [&](int, int64_t begin, int64_t end) {
                      std::memcpy(to + begin, from + begin, static_cast<size_t>(end - begin));
                    });
      setRates(state, 0, 2 * half);
    });
  }

  void registerCall(const MtcOperation &operation, const MtcCall &call) {
    std::string name = text(call.kind, "_", operation.index);
    add(text(name, " ", operation.nodes), [=, this, &call](benchmark::State &state) {
      runCall(state, call.kind, call.description, places(operation));
      setRates(state, call.flops, call.bytes);
      state.counters["runs"] = runsOfStep[{operation.kind, operation.index}];
    });
    const MtcContraction *contraction = contractionOf(call);
    if (!contraction) {
      for (const char *kind :
           {MTC_CONVOLUTION, MTC_TRANSPOSED_CONVOLUTION, MTC_CONVOLUTION_WEIGHT_GRADIENT})
        if (llvm::StringRef(call.kind) == kind)
          registerAlgorithms(operation, call,
                             *static_cast<const MtcConvolution *>(call.description),
                             {MTC_AS_STORED, MTC_OWN_PANELS, MTC_WINOGRAD});
      return;
    }
    add(name + " as a plain contraction", [=, this, &call](benchmark::State &state) {
      MtcContraction plain = plainContraction(*contraction);
      auto bytes = [&](int64_t rows, int64_t columns, uint32_t type) {
        return aligned(plain.batch[0] * rows * columns * typeBytes(type));
      };
      int64_t rhs = bytes(plain.m, plain.k, plain.lhs_type),
              out = rhs + bytes(plain.k, plain.n, plain.rhs_type);
      Arena arena(out + bytes(plain.m, plain.n, plain.out_type), threads);
      runCall(state, MTC_CONTRACTION, &plain, {arena.data(), arena.at(rhs), arena.at(out)});
      setRates(state, call.flops, 0);
    });
    if (!contraction->batch_rank && !contraction->activation && !contraction->summed &&
        !contraction->lhs_storage && !contraction->rhs_storage)
      registerAlgorithms(operation, call, *contraction,
                         {MTC_AS_STORED, MTC_PACKED_RHS, MTC_PACKED_OPERANDS, MTC_OWN_PANELS});
  }

  /// Registers a call with each of its algorithms.
  template <typename Record>
  void registerAlgorithms(const MtcOperation &operation, const MtcCall &call, Record record,
                          std::initializer_list<uint32_t> algorithms) {
    constexpr const char *words[] = {" as stored", " with a packed rhs", " with packed operands",
                                     " by own panels", " by winograd"};
    for (uint32_t algorithm : algorithms) {
      record.algorithm = algorithm;
      if constexpr (std::is_same_v<Record, MtcConvolution>)
        if (algorithm == MTC_WINOGRAD && !mtc_has_winograd(&record))
          continue;
      add(text(call.kind, "_", operation.index, words[algorithm]),
          [=, this, &call](benchmark::State &state) {
            runCall(state, call.kind, &record, places(operation));
            setRates(state, call.flops, 0);
          });
    }
  }

  void launch(const MtcKernel &kernel, char *const *operands) {
    for (const MtcCpuStage &stage : stagesOf(kernel))
      parallelFor(threads, stage.extent, stage.grain, [&](int, int64_t begin, int64_t end) {
        MtcFault fault = {};
        stage.function(operands, begin, end, &fault);
      });
  }

  void runCall(benchmark::State &state, const char *kind, const void *description,
               llvm::SmallVector<char *> operands) {
    auto prepared = LibraryCall::create(linkedLibrary(), kind, description, threads);
    if (!prepared)
      return state.SkipWithError("this machine's libraries do not have it");
    Arena scratch(prepared->scratchBytes(), threads);
    state.SetLabel(prepared->implementation());
    for (auto _ : state)
      prepared->run(operands.data(), scratch.data());
  }

  std::vector<const MtcFunction *> functionsOf(std::initializer_list<MtcSequence> sequences) const {
    std::vector<const MtcFunction *> functions;
    for (const MtcSequence &sequence : sequences)
      for (uint32_t i = 0; i < sequence.count; ++i)
        functions.push_back(&program.functions[sequence.functions[i]]);
    return functions;
  }

  /// Generates random integers that are valid indices for every axis that a kernel indexes by them.
  /// If all indices were 0, lookups would only read from the cache.
  void fillIntegers() {
    int64_t extent = int64_t{1} << 30;
    fillIntegers(extent);
    for (const MtcFunction *function : functionsOf({program.micro_step, program.evaluate}))
      for (uint32_t i = 0; i < function->operation_count; ++i) {
        const MtcOperation &operation = function->operations[i];
        if (operation.kind != MTC_LAUNCH || !program.kernels[operation.index].may_fault)
          continue;
        const MtcKernel &kernel = program.kernels[operation.index];
        MtcFault fault = {};
        for (const MtcCpuStage &stage : stagesOf(kernel))
          stage.function(places(operation).data(), 0, stage.extent, &fault);
        if (fault.raised)
          extent = std::min(extent, fault.extent);
      }
    fillIntegers(extent);
  }

  void fillIntegers(int64_t extent) {
    std::mt19937_64 random(0);
    std::uniform_int_distribution<int64_t> below(0, extent - 1);
    for (uint32_t i = 0; i < program.input_count; ++i) {
      const MtcTensor &tensor = program.inputs[i].tensor;
      int64_t width = typeBytes(tensor.type);
      if (!isInteger(tensor.type))
        continue;
      for (int64_t at = 0; at < tensor.bytes; at += width) {
        int64_t value = below(random); // Little-endian: the low bytes of narrower types.
        std::memcpy(jit.arena() + tensor.offset + at, &value, static_cast<size_t>(width));
      }
    }
  }

  JitProgram &jit;
  const MtcProgram &program;
  int threads;
  std::set<std::pair<uint32_t, uint32_t>> known;
  /// Returns how often an update runs a kernel or a call.
  std::map<std::pair<uint32_t, uint32_t>, int> runsOfStep;
};

constexpr const char *usage =
    "mtc-bench FILE.mlir [--threads=N] [--benchmark_...]\n"
    "mtc-bench MODEL.onnx [--threads=N] [--benchmark_...] [flags of mtc compile]\n\n"
    "Times every kernel and library call of an allocated program, or every kernel function of a "
    "text,\n"
    "and beside each what the machine can: a copy of as many bytes, or a plain contraction.\n";

void parseModelFlags(llvm::ArrayRef<std::string> flags, tool::Options &options) {
  std::vector<const char *> words = {"mtc-bench", "compile"};
  for (const std::string &flag : flags)
    words.push_back(flag.c_str());
  tool::parseCommandLine(static_cast<int>(words.size()), const_cast<char **>(words.data()),
                         options);
}

} // namespace

int main(int argc, char **argv) {
  benchmark::Initialize(&argc, argv);
  std::vector<std::string> flags(argv + 1, argv + argc);
  int threads = availableCores();
  llvm::erase_if(flags, [&](llvm::StringRef flag) {
    return flag.consume_front("--threads=") && !flag.getAsInteger(10, threads);
  });
  if (flags.empty() || llvm::StringRef(flags[0]).starts_with("--") || threads < 1 ||
      (flags.size() > 1 && !llvm::StringRef(flags[0]).ends_with(".onnx"))) {
    llvm::errs() << usage;
    return 1;
  }
  if (flags[0] != "-" && !llvm::sys::fs::exists(flags[0])) {
    llvm::errs() << "error: " << flags[0] << ": there is no such file\n";
    return 1;
  }
  mlir::DialectRegistry registry;
  registerCodegenDialects(registry);
  mlir::MLIRContext context(registry);
  context.loadAllAvailableDialects();
  std::unique_ptr<Target> machine =
      llvm::cantFail(Target::create(llvm::cantFail(Target::parse(context, {}))));
  Target *target = machine.get();
  mlir::OwningOpRef<mlir::ModuleOp> text;
  tool::Options options;
  std::optional<tool::Compilation> compilation;
  if (llvm::StringRef(flags[0]).ends_with(".onnx")) {
    parseModelFlags(flags, options);
    compilation.emplace(options);
    if (failed(compilation->import()) || failed(compilation->lower(Stage::Allocated)))
      return 1;
    target = &compilation->getTarget();
    if (target->getName() != machine->getName()) {
      llvm::errs() << "error: the target '" << target->getName() << "' is not measured here, only '"
                   << machine->getName() << "'\n";
      return 1;
    }
  } else if (!(text = bench::readAllocated(context, flags[0], *target))) {
    return 1;
  }
  auto program = JitProgram::create(compilation ? compilation->getModule() : *text, *target);
  if (failed(program))
    return 1;
  try {
    Bench bench(**program, threads);
    bench.registerAll();
    benchmark::RunSpecifiedBenchmarks();
  } catch (const Failure &failure) {
    llvm::errs() << "error: " << failure.what() << '\n';
    return failure.exitCode();
  }
  return 0;
}

// Runs a program's functions over its arena.
#ifndef MTC_RUNTIME_EXECUTOR_H
#define MTC_RUNTIME_EXECUTOR_H

#include "runtime/abi/program.h"
#include "runtime/contraction.h"

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace mtc::runtime {

class Trace;

/// Everything is prepared in the constructor: addresses, oneDNN's primitives and their memory
/// objects. A run allocates nothing of its own.
class Executor {
public:
  /// A mistake of the user if this machine needs more scratch for a contraction than was planned.
  /// `trace` may be null.
  Executor(const MtcProgram &program, char *arena, int threads, Trace *trace);
  ~Executor();

  void microStep() { run(microStepOperations); }
  void update() { run(updateOperations); }
  void evaluate() { run(evaluateOperations); }

private:
  struct Operation {
    const MtcOperation *source;
    const MtcKernel *kernel;  ///< of MTC_LAUNCH
    Contraction *contraction; ///< of MTC_CONTRACT
    std::vector<char *> operands;
    std::string label; ///< of the kernel or the library's implementation, for the trace
    int64_t flops, bytes;
  };

  std::vector<Operation> prepare(const MtcFunction &function, char *arena);
  Contraction &contraction(const MtcOperation &operation);
  void run(std::vector<Operation> &operations);
  void runOne(Operation &operation);
  void launch(Operation &operation);
  [[noreturn]] void reportFault(const Operation &operation, const MtcFault &fault);

  const MtcProgram &program;
  int threads;
  Trace *trace;
  std::vector<std::unique_ptr<Contraction>> contractions;
  std::vector<MtcFault> faults; ///< one for each thread
  std::vector<Operation> microStepOperations, updateOperations, evaluateOperations;
};

} // namespace mtc::runtime

#endif // MTC_RUNTIME_EXECUTOR_H

// Engine selection and execution of cuDNN graphs.
#include "runtime/devices/cuda/dnn_execution.h"

#include "runtime/support/failure.h"

namespace mtc::runtime::cuda {

using namespace gpu;

/// Returns nullopt if the library has no code for the device after all.
static std::optional<dnn::Descriptor> finalizePlan(const Dnn &dnn, const DnnChoice &choice,
                                                   const dnn::Descriptor &device) {
  dnn::Descriptor plan(dnn.library, dnn::planKind);
  plan.set(dnn::planConfiguration, choice.configuration);
  plan.set(dnn::planDevice, device);
  try {
    plan.finalize();
  } catch (const Failure &) {
    return std::nullopt;
  }
  return plan;
}

std::optional<DnnExecution> DnnExecution::choose(const Dnn &dnn, dnn::OperationGraph graph,
                                                 const DnnLimits &limits) {
  dnn::Descriptor operations = graph.finish();
  dnn::Descriptor device(dnn.library, dnn::deviceKind);
  device.set(dnn::deviceHandle, dnn::handleType, dnn.handle);
  device.finalize();
  for (dnn::Heuristics heuristics : limits.heuristics)
    for (const DnnChoice &choice : dnnChoices(dnn.library, operations, device, heuristics)) {
      if (choice.notes & limits.refusedNotes)
        continue;
      auto plan = finalizePlan(dnn, choice, device);
      if (plan && plan->number(dnn::planWorkspace) <= limits.workspaceBytes)
        return DnnExecution(dnn, std::move(graph), std::move(operations), std::move(*plan),
                            choice.engine);
    }
  return std::nullopt;
}

void DnnExecution::bind(const DnnTensors &tensors, Address workspace) {
  std::vector<int64_t> ids;
  std::vector<const void *> pointers;
  for (auto [id, pointer] : tensors) {
    ids.push_back(id);
    pointers.push_back(pointer);
  }
  const auto count = static_cast<int64_t>(ids.size());
  void *const space = reinterpret_cast<void *>(workspace);
  pack.set(dnn::packIds, dnn::int64Type, count, ids.data());
  pack.set(dnn::packPointers, dnn::pointerType, count, pointers.data());
  pack.set(dnn::packWorkspace, dnn::pointerType, space);
  pack.finalize();
}

void DnnExecution::enqueue(Stream stream, const char *what) const {
  const dnn::Library &library = dnn->library;
  if (library.setStream(dnn->handle, stream) == 0 &&
      library.execute(dnn->handle, plan.get(), pack.get()) == 0)
    return;
  char message[1024] = "";
  library.lastError(message, sizeof message);
  systemError("cuDNN cannot run ", what, ": ", message);
}

std::string DnnExecution::implementation() const { return text("cudnn, engine ", engine); }

} // namespace mtc::runtime::cuda

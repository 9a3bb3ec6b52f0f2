#include "runtime/devices/cuda/dnn_handle.h"

#include <iterator>
#include <utility>

namespace mtc::runtime::cuda {

static uint32_t notesOf(const dnn::Library &library, const dnn::Descriptor &engine) {
  int numbers[32] = {};
  int64_t count = 0;
  library.getAttribute(engine.get(), dnn::engineNotes, dnn::noteType, std::size(numbers), &count,
                       numbers);
  uint32_t notes = 0;
  for (int64_t i = 0; i < count; ++i)
    notes |= uint32_t{1} << numbers[i];
  return notes;
}

std::vector<DnnChoice> dnnChoices(const dnn::Library &library, const dnn::Descriptor &graph,
                                  const dnn::Descriptor &device, dnn::Heuristics heuristics) {
  dnn::Descriptor asked(library, dnn::heuristicsKind);
  asked.set(dnn::heuristicsGraph, graph);
  asked.set(dnn::heuristicsMode, dnn::heuristicsModeType, heuristics);
  asked.set(dnn::heuristicsDevice, device);
  asked.finalize();
  int64_t count = 0;
  library.getAttribute(asked.get(), dnn::heuristicsResults, dnn::descriptorType, 0, &count,
                       nullptr);
  std::vector<dnn::Descriptor> found;
  std::vector<dnn::RawDescriptor> raw;
  raw.reserve(static_cast<size_t>(count));
  for (int64_t i = 0; i < count; ++i)
    raw.push_back(found.emplace_back(library, dnn::configurationKind).get());
  if (count && library.getAttribute(asked.get(), dnn::heuristicsResults, dnn::descriptorType, count,
                                    &count, raw.data()) != 0)
    count = 0;
  std::vector<DnnChoice> choices;
  for (int64_t i = 0; i < count; ++i) {
    dnn::Descriptor engine(library, dnn::engineKind);
    dnn::RawDescriptor target = engine.get();
    int64_t one = 0;
    library.getAttribute(raw[static_cast<size_t>(i)], dnn::configurationEngine, dnn::descriptorType,
                         1, &one, &target);
    const int64_t bytes = found[static_cast<size_t>(i)].number(dnn::configurationWorkspace);
    choices.push_back({std::move(found[static_cast<size_t>(i)]), bytes,
                       engine.number(dnn::engineIndex), notesOf(library, engine)});
  }
  return choices;
}

std::unique_ptr<Dnn> Dnn::open() {
  const dnn::Library *library = dnn::openLibrary();
  if (!library)
    return nullptr;
  std::unique_ptr<Dnn> result(new Dnn(*library));
  return library->create(&result->handle) == 0 ? std::move(result) : nullptr;
}

Dnn::~Dnn() {
  if (handle)
    library.destroy(handle);
}

} // namespace mtc::runtime::cuda

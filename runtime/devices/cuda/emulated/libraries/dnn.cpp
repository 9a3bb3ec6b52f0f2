// cuDNN graphs on the CPU, to test the descriptors that the program passes to the library.
#include "runtime/devices/cuda/dnn.h"

#include "runtime/devices/cuda/emulated/execution/emulator.h"
#include "runtime/devices/cuda/emulated/libraries/dnn_checks.h"
#include "runtime/devices/cuda/emulated/streams.h"

#include <cstdio>
#include <cstdlib>

namespace mtc::runtime::cuda::dnn {

using namespace gpu;

struct HandleObject {
  Stream stream = nullptr;
};

namespace {

constexpr int badParameter = 2000; // CUDNN_STATUS_BAD_PARAM
constexpr size_t workspaceBytes = 256;
thread_local std::string mistake = "CUDNN_STATUS_BAD_PARAM"; ///< of the last call that failed

size_t version() { return 91900; }
int create(Handle *handle) {
  *handle = new HandleObject;
  return 0;
}
int destroy(Handle handle) {
  delete handle;
  return 0;
}
int setStream(Handle handle, Stream stream) {
  handle->stream = stream;
  return 0;
}
void lastError(char *message, size_t bytes) {
  std::snprintf(message, bytes, "%s", mistake.c_str());
}

int createDescriptor(int kind, RawDescriptor *descriptor) {
  *descriptor = new DescriptorObject{kind, false, {}};
  return 0;
}
int destroyDescriptor(RawDescriptor descriptor) {
  delete descriptor;
  return 0;
}

size_t bytesOf(int type) {
  return type == booleanType || type == charType ? 1
         : type == handleType || type == int64Type || type == pointerType || type == descriptorType
             ? 8
             : 4;
}

/// Sets an attribute. Finalized descriptors are immutable and may refer only to finalized ones.
int setAttribute(RawDescriptor descriptor, int attribute, int type, int64_t count,
                 const void *values) {
  if (descriptor->isFinal || count < 1)
    return badParameter;
  if (type == descriptorType)
    for (int64_t i = 0; i < count; ++i)
      if (!static_cast<const RawDescriptor *>(values)[i]->isFinal)
        return badParameter;
  const char *bytes = static_cast<const char *>(values);
  descriptor->attributes[attribute] = {{bytes, bytes + static_cast<size_t>(count) * bytesOf(type)},
                                       count};
  return 0;
}

/// Returns an attribute. There is one engine for each graph, without numerical notes.
int getAttribute(RawDescriptor descriptor, int attribute, int type, int64_t wanted, int64_t *count,
                 void *values) {
  *count = 1;
  if (attribute == heuristicsResults && wanted > 0) {
    RawDescriptor configuration = *static_cast<RawDescriptor *>(values);
    configuration->attributes = descriptor->attributes;
    configuration->isFinal = true;
  } else if (attribute == engineNotes) {
    *count = 0;
  } else if (type == int64Type && wanted > 0) {
    *static_cast<int64_t *>(values) =
        attribute == engineIndex ? 0 : static_cast<int64_t>(workspaceBytes);
  }
  return 0;
}

/// Finalizes a descriptor. A plan keeps the graph, because its configuration may be destroyed
/// earlier.
int finalize(RawDescriptor descriptor) {
  mistake = descriptor->isFinal ? "the descriptor is final already" : findMistake(*descriptor);
  if (!mistake.empty())
    return badParameter;
  if (descriptor->kind == planKind)
    descriptor->attributes[heuristicsGraph] =
        descriptor->value<RawDescriptor>(planConfiguration)->attributes[heuristicsGraph];
  descriptor->isFinal = true;
  return 0;
}

int execute(Handle handle, RawDescriptor plan, RawDescriptor pack) {
  RawDescriptor graph = plan->value<RawDescriptor>(heuristicsGraph);
  const std::vector<int64_t> ids = pack->values<int64_t>(packIds);
  const std::vector<char *> pointers = pack->values<char *>(packPointers);
  std::map<int64_t, char *> addresses;
  for (size_t i = 0; i < ids.size(); ++i)
    addresses[ids[i]] = pointers[i];
  char *workspace = pack->value<char *>(packWorkspace);
  enqueue(handle->stream, [graph, addresses, workspace]() {
    std::string fault = emulation::findFault(workspace, workspaceBytes, false);
    return fault.empty() ? evaluate(*graph, addresses) : "cuDNN's workspace: " + fault;
  });
  return 0;
}

} // namespace

/// Returns whether the environment variable MTC_CUDNN starts with this character.
static bool isAsked(char beginning) {
  const char *wanted = std::getenv("MTC_CUDNN");
  return wanted && *wanted == beginning;
}

const Library *openLibrary() {
  static const Library library = {
      .version = version,
      .create = create,
      .destroy = destroy,
      .setStream = setStream,
      .lastError = lastError,
      .createDescriptor = createDescriptor,
      .destroyDescriptor = destroyDescriptor,
      .setAttribute = setAttribute,
      .getAttribute = getAttribute,
      .finalize = finalize,
      .execute = execute,
  };
  return isAsked('0') ? nullptr : &library;
}

std::string describeAbsence() { return "MTC_CUDNN=0 switches off"; }

bool isPreferred() { return isAsked('1'); }

} // namespace mtc::runtime::cuda::dnn

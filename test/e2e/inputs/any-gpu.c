// A stub of CUDA's driver up to the first launch: a machine with one GPU of compute capability
// $GPU_MAJOR.$GPU_MINOR. It prints which code it receives, and rejects all of it.
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int cuInit(unsigned flags) { return flags; }
int cuDriverGetVersion(int *version) { return *version = atoi(getenv("GPU_DRIVER")), 0; }
int cuDeviceGetCount(int *count) { return *count = 1, 0; }
int cuDeviceGet(int *device, int ordinal) { return *device = ordinal; }
int cuDeviceGetName(char *name, int bytes, int device) { return strncpy(name, "the GPU", bytes), device; }
int cuDeviceGetAttribute(int *value, int attribute, int device) {
  *value = attribute == 75 ? atoi(getenv("GPU_MAJOR")) : attribute == 76 ? atoi(getenv("GPU_MINOR")) : 0;
  return device;
}
int cuMemGetInfo_v2(size_t *free, size_t *total) { return *free = *total = (size_t)1 << 30, 0; }
int cuMemAlloc_v2(uint64_t *address, size_t bytes) { return *address = (uint64_t)malloc(bytes), 0; }
int cuMemFree_v2(uint64_t address) { return free((void *)address), 0; }
int cuMemHostAlloc(void **memory, size_t bytes, unsigned flags) { return *memory = calloc(bytes, 1), (int)flags; }
int cuMemFreeHost(void *memory) { return free(memory), 0; }

int cuModuleLoadData(void **module, const char *image) {
  const char *target = strstr(image, "\n.target ");
  if (!memcmp(image, "\177ELF", 4))
    fprintf(stderr, "machine code\n");
  else if (target && strstr(image, "\n.visible .entry "))
    fprintf(stderr, "PTX of %.*s\n", (int)strcspn(target + 9, "\n"), target + 9);
  return 222;
}
int cuGetErrorName(int error, const char **name) { return *name = "CUDA_ERROR_UNSUPPORTED_PTX_VERSION", 0; }
int cuGetErrorString(int error, const char **text) { return *text = "no code is taken here", 0; }

#define DOES_NOTHING(name) \
  int name(void) { return 0; }
DOES_NOTHING(cuDevicePrimaryCtxRetain)
DOES_NOTHING(cuDevicePrimaryCtxRelease_v2)
DOES_NOTHING(cuCtxSetCurrent)
DOES_NOTHING(cuDeviceGetUuid_v2)
DOES_NOTHING(cuMemcpyHtoDAsync_v2)
DOES_NOTHING(cuMemcpyDtoHAsync_v2)
DOES_NOTHING(cuMemcpyDtoDAsync_v2)
DOES_NOTHING(cuMemsetD8Async)
DOES_NOTHING(cuStreamCreate)
DOES_NOTHING(cuStreamDestroy_v2)
DOES_NOTHING(cuStreamSynchronize)
DOES_NOTHING(cuStreamQuery)
DOES_NOTHING(cuStreamWaitEvent)
DOES_NOTHING(cuEventCreate)
DOES_NOTHING(cuEventDestroy_v2)
DOES_NOTHING(cuEventRecord)
DOES_NOTHING(cuEventSynchronize)
DOES_NOTHING(cuEventQuery)
DOES_NOTHING(cuEventElapsedTime)
DOES_NOTHING(cuModuleUnload)
DOES_NOTHING(cuModuleGetFunction)
DOES_NOTHING(cuLaunchKernel)
DOES_NOTHING(cuLaunchHostFunc)
DOES_NOTHING(cuStreamBeginCapture_v2)
DOES_NOTHING(cuStreamEndCapture)
DOES_NOTHING(cuGraphDestroy)
DOES_NOTHING(cuGraphInstantiateWithFlags)
DOES_NOTHING(cuGraphExecDestroy)
DOES_NOTHING(cuGraphLaunch)

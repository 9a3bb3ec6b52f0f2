// The alignment of the libraries' workspaces.
#ifndef MTC_RUNTIME_DEVICES_CUDA_WORKSPACE_H
#define MTC_RUNTIME_DEVICES_CUDA_WORKSPACE_H

#include "runtime/abi/tensor.h"
#include "runtime/devices/gpu/driver.h"

namespace mtc::runtime::cuda {

/// Required alignment of the workspaces of cuBLASLt and cuDNN, in bytes. cuBLASLt 13.1 rejects
/// others.
constexpr int64_t workspaceAlignment = 256;

/// The number of scratch bytes that aligning a workspace may take, because scratch is aligned to
/// MTC_ALIGNMENT only.
constexpr int64_t workspaceSlack = workspaceAlignment - MTC_ALIGNMENT;

/// Returns the first aligned workspace address at or after `scratch`.
constexpr gpu::Address workspaceFrom(gpu::Address scratch) {
  constexpr gpu::Address alignment = workspaceAlignment;
  return (scratch + alignment - 1) / alignment * alignment;
}

} // namespace mtc::runtime::cuda

#endif // MTC_RUNTIME_DEVICES_CUDA_WORKSPACE_H

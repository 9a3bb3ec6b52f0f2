// Stack switching on x86-64 (System V ABI): saves the callee-saved registers and the stack pointer.
#include "runtime/devices/cuda/emulated/execution/fiber.h"

#include <cstdint>
#include <new>
#include <sys/mman.h>

#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>
#define MTC_TELL_SANITIZER 1
#endif
#endif

extern "C" void mtc_switch_stack(void **leave, void *enter);

asm(R"(
  .text
  .p2align 4
  .globl mtc_switch_stack
  .hidden mtc_switch_stack
  .type mtc_switch_stack, @function
mtc_switch_stack:
  pushq %rbp
  pushq %rbx
  pushq %r12
  pushq %r13
  pushq %r14
  pushq %r15
  movq %rsp, (%rdi)
  movq %rsi, %rsp
  popq %r15
  popq %r14
  popq %r13
  popq %r12
  popq %rbx
  popq %rbp
  ret
  .size mtc_switch_stack, . - mtc_switch_stack
)");

namespace mtc::runtime::emulation {

namespace {

constexpr size_t page = 4096;

// The source and the destination of the current switch.
thread_local Fiber *left, *entered;
} // namespace

Fiber::Fiber(void (*entry)()) : size(stackBytes), entry(entry) {
  // The lowest page is inaccessible, so that a stack overflow ends the process.
  void *memory = mmap(nullptr, stackBytes + page, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED)
    throw std::bad_alloc();
  mprotect(memory, page, PROT_NONE);
  stack = static_cast<char *>(memory);
  bottom = stack + page;
  // The stack looks as if `start` had been called: at its entry, the stack pointer is 8 bytes above
  // a multiple of 16.
  auto **top = reinterpret_cast<void **>(stack + page + stackBytes) - 2;
  *top = reinterpret_cast<void *>(&Fiber::start);
  constexpr int savedRegisters = 6;
  stackPointer = top - savedRegisters;
}

Fiber::~Fiber() {
  if (!stack)
    return;
#ifdef MTC_TELL_SANITIZER
  // Functions that did not return have left the stack poisoned.
  ASAN_UNPOISON_MEMORY_REGION(stack, stackBytes + page);
#endif
  munmap(stack, stackBytes + page);
}

void Fiber::switchTo(Fiber &other) {
  left = this;
  entered = &other;
#ifdef MTC_TELL_SANITIZER
  void *fakeStack = nullptr;
  __sanitizer_start_switch_fiber(&fakeStack, other.bottom, other.size);
#endif
  mtc_switch_stack(&stackPointer, other.stackPointer);
#ifdef MTC_TELL_SANITIZER
  __sanitizer_finish_switch_fiber(fakeStack, &left->bottom, &left->size);
#endif
}

void Fiber::start() {
#ifdef MTC_TELL_SANITIZER
  __sanitizer_finish_switch_fiber(nullptr, &left->bottom, &left->size);
#endif
  entered->entry();
}

} // namespace mtc::runtime::emulation

// AddressSanitizer's options of the compiler's instrumented executables; ASAN_OPTIONS wins over
// them.

extern "C" const char *__asan_default_options() {
  // llvm::BumpPtrAllocator, inlined, poisons what it has not handed out. libLLVM and libMLIR, which
  // are not instrumented, hand out memory of the same allocators and leave it poisoned.
  // Stack traces of 30 frames for each allocation would take a sixth of the time.
  return "allow_user_poisoning=0:malloc_context_size=4";
}

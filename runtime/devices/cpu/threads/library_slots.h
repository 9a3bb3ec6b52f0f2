// The addresses through which a shared library calls functions of other libraries.
#ifndef MTC_RUNTIME_DEVICES_CPU_THREADS_LIBRARY_SLOTS_H
#define MTC_RUNTIME_DEVICES_CPU_THREADS_LIBRARY_SLOTS_H

namespace mtc::runtime {

/// Returns the slot in which the library that defines `definition` keeps the address of the
/// external function `name`; null if it calls no such function. Slots are entries of the global
/// offset table (System V ABI, "Dynamic Linking").
void **findSlot(const char *definition, const char *name);

/// Writes a slot, which may be in memory that is read-only after loading.
bool writeSlot(void **slot, void *function);

} // namespace mtc::runtime

#endif // MTC_RUNTIME_DEVICES_CPU_THREADS_LIBRARY_SLOTS_H

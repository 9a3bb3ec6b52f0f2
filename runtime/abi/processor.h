/* Processor features that the code of a program may use, in addition to the baseline of its
 * architecture: x86-64, or Armv8-A with NEON.
 *
 * The compiler generates code for features of this table only, and stores the names of those that
 * it may use in the program (MtcCpuProgram::features). The program detects the features at startup,
 * so that it can name the missing ones instead of executing an illegal instruction. */
#ifndef MTC_RUNTIME_ABI_PROCESSOR_H
#define MTC_RUNTIME_ABI_PROCESSOR_H

/* FEATURE(name, label, level, leaf, subleaf, reg, bit, state)
 *
 * name: LLVM's name. label: the name in messages. level: the first of LLVM's processors x86-64-v2
 * to x86-64-v4 that has the feature; 0: none has it. leaf, subleaf, reg, bit: the bit of CPUID; reg
 * is the last letter of EAX to EDX. state: register state that the operating system must save:
 * 0: SSE, 1: AVX, 2: AVX-512. */
#define MTC_X86_FEATURES(FEATURE)                                                                  \
  FEATURE("sse3", "SSE3", 2, 1, 0, 'c', 0, 0)                                                      \
  FEATURE("ssse3", "SSSE3", 2, 1, 0, 'c', 9, 0)                                                    \
  FEATURE("cx16", "CMPXCHG16B", 2, 1, 0, 'c', 13, 0)                                               \
  FEATURE("sse4.1", "SSE4.1", 2, 1, 0, 'c', 19, 0)                                                 \
  FEATURE("sse4.2", "SSE4.2", 2, 1, 0, 'c', 20, 0)                                                 \
  FEATURE("popcnt", "POPCNT", 2, 1, 0, 'c', 23, 0)                                                 \
  FEATURE("sahf", "LAHF-SAHF", 2, 0x80000001, 0, 'c', 0, 0)                                        \
  FEATURE("avx", "AVX", 3, 1, 0, 'c', 28, 1)                                                       \
  FEATURE("avx2", "AVX2", 3, 7, 0, 'b', 5, 1)                                                      \
  FEATURE("bmi", "BMI1", 3, 7, 0, 'b', 3, 0)                                                       \
  FEATURE("bmi2", "BMI2", 3, 7, 0, 'b', 8, 0)                                                      \
  FEATURE("f16c", "F16C", 3, 1, 0, 'c', 29, 1)                                                     \
  FEATURE("fma", "FMA", 3, 1, 0, 'c', 12, 1)                                                       \
  FEATURE("lzcnt", "LZCNT", 3, 0x80000001, 0, 'c', 5, 0)                                           \
  FEATURE("movbe", "MOVBE", 3, 1, 0, 'c', 22, 0)                                                   \
  FEATURE("avx512f", "AVX512F", 4, 7, 0, 'b', 16, 2)                                               \
  FEATURE("avx512bw", "AVX512BW", 4, 7, 0, 'b', 30, 2)                                             \
  FEATURE("avx512cd", "AVX512CD", 4, 7, 0, 'b', 28, 2)                                             \
  FEATURE("avx512dq", "AVX512DQ", 4, 7, 0, 'b', 17, 2)                                             \
  FEATURE("avx512vl", "AVX512VL", 4, 7, 0, 'b', 31, 2)                                             \
  FEATURE("avx512ifma", "AVX512IFMA", 0, 7, 0, 'b', 21, 2)                                         \
  FEATURE("avx512vbmi", "AVX512VBMI", 0, 7, 0, 'c', 1, 2)                                          \
  FEATURE("avx512vbmi2", "AVX512VBMI2", 0, 7, 0, 'c', 6, 2)                                        \
  FEATURE("avx512vnni", "AVX512VNNI", 0, 7, 0, 'c', 11, 2)                                         \
  FEATURE("avx512bitalg", "AVX512BITALG", 0, 7, 0, 'c', 12, 2)                                     \
  FEATURE("avx512vpopcntdq", "AVX512VPOPCNTDQ", 0, 7, 0, 'c', 14, 2)                               \
  FEATURE("avx512bf16", "AVX512BF16", 0, 7, 1, 'a', 5, 2)                                          \
  FEATURE("avx512fp16", "AVX512FP16", 0, 7, 0, 'd', 23, 2)                                         \
  FEATURE("avxvnni", "AVX-VNNI", 0, 7, 1, 'a', 4, 1)                                               \
  FEATURE("avxifma", "AVX-IFMA", 0, 7, 1, 'a', 23, 1)                                              \
  FEATURE("avxneconvert", "AVX-NE-CONVERT", 0, 7, 1, 'd', 5, 1)                                    \
  FEATURE("gfni", "GFNI", 0, 7, 0, 'c', 8, 0)                                                      \
  FEATURE("pclmul", "PCLMULQDQ", 0, 1, 0, 'c', 1, 0)                                               \
  FEATURE("vpclmulqdq", "VPCLMULQDQ", 0, 7, 0, 'c', 10, 1)                                         \
  FEATURE("adx", "ADX", 0, 7, 0, 'b', 19, 0)                                                       \
  FEATURE("sse4a", "SSE4A", 0, 0x80000001, 0, 'c', 6, 0)                                           \
  FEATURE("xop", "XOP", 0, 0x80000001, 0, 'c', 11, 1)                                              \
  FEATURE("fma4", "FMA4", 0, 0x80000001, 0, 'c', 16, 1)                                            \
  FEATURE("tbm", "TBM", 0, 0x80000001, 0, 'c', 21, 0)

/* FEATURE(name, label, word, bit): LLVM's name, the name in messages, and the bit of the
 * auxiliary vector's AT_HWCAP (word 1) or AT_HWCAP2 (word 2). */
#define MTC_AARCH64_FEATURES(FEATURE)                                                              \
  FEATURE("crc", "CRC32", 1, 7)                                                                    \
  FEATURE("lse", "LSE", 1, 8)                                                                      \
  FEATURE("fullfp16", "FP16", 1, 10)                                                               \
  FEATURE("rdm", "RDM", 1, 12)                                                                     \
  FEATURE("jsconv", "JSCVT", 1, 13)                                                                \
  FEATURE("complxnum", "FCMA", 1, 14)                                                              \
  FEATURE("rcpc", "LRCPC", 1, 15)                                                                  \
  FEATURE("sha3", "SHA3", 1, 17)                                                                   \
  FEATURE("dotprod", "DotProd", 1, 20)                                                             \
  FEATURE("sve", "SVE", 1, 22)                                                                     \
  FEATURE("fp16fml", "FHM", 1, 23)                                                                 \
  FEATURE("lse2", "LSE2", 1, 25)                                                                   \
  FEATURE("rcpc-immo", "LRCPC2", 1, 26)                                                            \
  FEATURE("flagm", "FlagM", 1, 27)                                                                 \
  FEATURE("sve2", "SVE2", 2, 1)                                                                    \
  FEATURE("altnzcv", "FlagM2", 2, 7)                                                               \
  FEATURE("fptoint", "FRINTTS", 2, 8)                                                              \
  FEATURE("i8mm", "I8MM", 2, 13)                                                                   \
  FEATURE("bf16", "BF16", 2, 14)                                                                   \
  FEATURE("cssc", "CSSC", 2, 34)                                                                   \
  FEATURE("sve2p1", "SVE2.1", 2, 36)                                                               \
  FEATURE("mops", "MOPS", 2, 43)

#endif /* MTC_RUNTIME_ABI_PROCESSOR_H */

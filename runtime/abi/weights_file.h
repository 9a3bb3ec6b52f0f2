/* Keys of the metadata of weights files that carry checksums, all of them XXH64 with seed 0 as 16
 * hexadecimal digits. The compiler writes them beside a program; programs compare them with what
 * they read. Files without them are read as they are.
 *
 * The digest of MTC_WEIGHTS_DIGEST (runtime/abi/program.h) is that of the header's text, in which
 * zeros are in the place of the digest's own digits. It covers the tensors through the checksums in
 * that header. */
#ifndef MTC_RUNTIME_ABI_WEIGHTS_FILE_H
#define MTC_RUNTIME_ABI_WEIGHTS_FILE_H

/* Followed by a tensor's name: the checksum of its bytes. */
#define MTC_WEIGHTS_CHECKSUM "mtc.checksum."

#endif /* MTC_RUNTIME_ABI_WEIGHTS_FILE_H */

/* Metadata keys of checksums in weights files. All checksums are XXH64 with seed 0, as 16
 * hexadecimal digits. The compiler writes them into the weights file of a program; programs verify
 * them while reading. Files without checksums are not verified.
 *
 * The digest of MTC_WEIGHTS_DIGEST (runtime/abi/program.h) is the checksum of the header text with
 * the digest's own digits replaced by zeros. It covers the tensors through their checksums in that
 * header. */
#ifndef MTC_RUNTIME_ABI_WEIGHTS_FILE_H
#define MTC_RUNTIME_ABI_WEIGHTS_FILE_H

/* Followed by the name of a tensor; the value is the checksum of its bytes. */
#define MTC_WEIGHTS_CHECKSUM "mtc.checksum."

#endif /* MTC_RUNTIME_ABI_WEIGHTS_FILE_H */

// Reads the digits of examples/digits: arrays of numpy in version 1 of its format.
#ifndef DIGITS_DATA_H
#define DIGITS_DATA_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// Reads `bytes` bytes of elements of FOLDER/NAME. The caller frees them.
static inline void *read_npy(const char *folder, const char *name, size_t bytes) {
  char path[4096];
  snprintf(path, sizeof path, "%s/%s", folder, name);
  FILE *file = fopen(path, "rb");
  unsigned char head[10];
  void *data = malloc(bytes);
  if (!file || !data || fread(head, 1, sizeof head, file) != sizeof head ||
      memcmp(head, "\x93NUMPY\x01", 7) != 0 ||
      fseek(file, 10 + head[8] + 256 * head[9], SEEK_SET) != 0 ||
      fread(data, 1, bytes, file) != bytes) {
    fprintf(stderr, "%s: cannot be read\n", path);
    exit(1);
  }
  fclose(file);
  return data;
}

enum { trainSamples = 1437, testSamples = 360, pixels = 64 };

#endif // DIGITS_DATA_H

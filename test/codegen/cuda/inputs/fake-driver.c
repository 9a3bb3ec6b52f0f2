// A stub of CUDA's driver for queries of the architecture: a machine with one GPU of compute capability 8.6.
int cuInit(unsigned flags) { return flags; }
int cuDeviceGet(int *device, int ordinal) {
  *device = 7;
  return ordinal;
}
int cuDeviceGetAttribute(int *value, int attribute, int device) {
  *value = attribute == 75 ? 8 : attribute == 76 ? 6 : 0;
  return device != 7;
}

/* The element types of tensors. Compiler and runtime derive sizes, names and number formats from
 * this table; docs/contributing/add-an-element-type.md lists the other places that know a type. */
#ifndef MTC_RUNTIME_ABI_ELEMENT_TYPES_H
#define MTC_RUNTIME_ABI_ELEMENT_TYPES_H

#include <stdint.h>

/* Calls FLOAT(name, code, bytes, exponent, fraction, infinity, nan, text, ir, numpy, safetensors)
 * or INTEGER(name, code, bytes, text, ir, numpy, safetensors) for each type, in the order of the
 * codes. Programs and checkpoints contain the codes, which therefore never change.
 *
 * exponent, fraction: their numbers of bits
 * infinity, nan:      the bits of positive infinity, or 0 if the type has none, and of a NaN
 * text:               the name in messages
 * ir:                 the name in MLIR
 * numpy, safetensors: the names in numpy's astype and in safetensors files */
#define MTC_ELEMENT_TYPES(FLOAT, INTEGER)                                                          \
  FLOAT(F64, 0, 8, 11, 52, 0x7ff0000000000000, 0x7ff8000000000000, "f64", "f64", "np.float64",     \
        "F64")                                                                                     \
  FLOAT(F32, 1, 4, 8, 23, 0x7f800000, 0x7fc00000, "f32", "f32", "np.float32", "F32")               \
  FLOAT(BF16, 2, 2, 8, 7, 0x7f80, 0x7fc0, "bf16", "bf16", "ml_dtypes.bfloat16", "BF16")            \
  FLOAT(F16, 3, 2, 5, 10, 0x7c00, 0x7e00, "f16", "f16", "np.float16", "F16")                       \
  INTEGER(I64, 4, 8, "i64", "i64", "np.int64", "I64")                                              \
  INTEGER(I32, 5, 4, "i32", "i32", "np.int32", "I32")                                              \
  INTEGER(I16, 6, 2, "i16", "i16", "np.int16", "I16")                                              \
  INTEGER(I8, 7, 1, "i8", "i8", "np.int8", "I8")                                                   \
  INTEGER(U64, 8, 8, "u64", "ui64", "np.uint64", "U64")                                            \
  INTEGER(U32, 9, 4, "u32", "ui32", "np.uint32", "U32")                                            \
  INTEGER(U16, 10, 2, "u16", "ui16", "np.uint16", "U16")                                           \
  INTEGER(U8, 11, 1, "u8", "ui8", "np.uint8", "U8")                                                \
  INTEGER(BOOL, 12, 1, "bool", "i1", "np.bool_", "BOOL") /* 0 or 1 */                              \
  FLOAT(F8E4M3, 13, 1, 4, 3, 0, 0x7f, "f8E4M3", "f8E4M3FN", "ml_dtypes.float8_e4m3fn", "F8_E4M3")  \
  FLOAT(F8E5M2, 14, 1, 5, 2, 0x7c, 0x7f, "f8E5M2", "f8E5M2", "ml_dtypes.float8_e5m2", "F8_E5M2")

typedef enum MtcType {
#define MTC_TYPE_CODE(name, code, ...) MTC_##name = code,
  MTC_ELEMENT_TYPES(MTC_TYPE_CODE, MTC_TYPE_CODE)
#undef MTC_TYPE_CODE
} MtcType;

/* The number of types; codes are below. */
enum {
#define MTC_TYPE_INDEX(name, ...) MTC_INDEX_OF_##name,
  MTC_ELEMENT_TYPES(MTC_TYPE_INDEX, MTC_TYPE_INDEX)
#undef MTC_TYPE_INDEX
      MTC_TYPE_COUNT
};

/* The number format of a float type: a sign, the exponent, the fraction. */
typedef struct MtcFloatFormat {
  int bits, exponent_bits, fraction_bits; /* 0 if the type is no float */
  uint64_t infinity;                      /* bits of positive infinity; 0 if there is none */
  uint64_t nan;                           /* bits of a NaN */
} MtcFloatFormat;

/* Returns the size of an element. */
static inline int64_t mtc_type_bytes(uint32_t type) {
  switch (type) {
#define MTC_TYPE_BYTES(name, code, bytes, ...)                                                     \
  case code:                                                                                       \
    return bytes;
    MTC_ELEMENT_TYPES(MTC_TYPE_BYTES, MTC_TYPE_BYTES)
#undef MTC_TYPE_BYTES
  default:
    return 0;
  }
}

static inline MtcFloatFormat mtc_float_format(uint32_t type) {
  MtcFloatFormat format = {0, 0, 0, 0, 0};
  switch (type) {
#define MTC_TYPE_FORMAT(name, code, bytes, exponent, fraction, inf, not_a_number, ...)             \
  case code:                                                                                       \
    format.bits = 8 * (bytes);                                                                     \
    format.exponent_bits = exponent;                                                               \
    format.fraction_bits = fraction;                                                               \
    format.infinity = inf;                                                                         \
    format.nan = not_a_number;                                                                     \
    break;
#define MTC_TYPE_NO_FORMAT(...)
    MTC_ELEMENT_TYPES(MTC_TYPE_FORMAT, MTC_TYPE_NO_FORMAT)
#undef MTC_TYPE_FORMAT
#undef MTC_TYPE_NO_FORMAT
  default:
    break;
  }
  return format;
}

/* Returns whether values of the type are computed in f32 and rounded when they are stored. Types of
 * 8 bits are not among them: their values need a scale. */
static inline int mtc_is_narrow_float(uint32_t type) {
  const int bits = mtc_float_format(type).bits;
  return bits >= 16 && bits < 32;
}

/* Returns whether the exponents of the float type end where f32's go on, so that training in it
 * scales the loss. */
static inline int mtc_has_small_range(uint32_t type) {
  const int bits = mtc_float_format(type).exponent_bits;
  return bits > 0 && bits < 8;
}

/* Returns the type of sums of elements of the type. */
static inline uint32_t mtc_sum_type(uint32_t type) {
  const int bits = mtc_float_format(type).bits;
  return bits > 0 && bits < 32 ? (uint32_t)MTC_F32 : type;
}

#endif /* MTC_RUNTIME_ABI_ELEMENT_TYPES_H */

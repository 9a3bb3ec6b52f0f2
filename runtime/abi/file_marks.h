/* How files say that mtc or one of its programs wrote them, so that a later run may replace them.
 * The mark is inside the file and goes where the file goes: an entry of the metadata of safetensors
 * and ONNX files, the first entry of JSON. Texts of the compiler start with a comment of
 * MTC_TEXT_MARK, and programs are ELF files with a note (runtime/abi/program.h). */
#ifndef MTC_RUNTIME_ABI_FILE_MARKS_H
#define MTC_RUNTIME_ABI_FILE_MARKS_H

#define MTC_WRITER_KEY "written_by"
#define MTC_WRITER "mtc"
#define MTC_TEXT_MARK " written by mtc"

#endif /* MTC_RUNTIME_ABI_FILE_MARKS_H */

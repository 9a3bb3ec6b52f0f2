/* Marks in files that mtc or one of its programs wrote, so that a later run may overwrite them. The
 * mark is part of the file's contents: an entry of the metadata of safetensors and ONNX files, the
 * first key of JSON. Text files of the compiler start with a comment that contains MTC_TEXT_MARK;
 * programs are ELF files with a note (runtime/abi/program.h). */
#ifndef MTC_RUNTIME_ABI_FILE_MARKS_H
#define MTC_RUNTIME_ABI_FILE_MARKS_H

#define MTC_WRITER_KEY "written_by"
#define MTC_WRITER "mtc"
#define MTC_TEXT_MARK " written by mtc"

#endif /* MTC_RUNTIME_ABI_FILE_MARKS_H */

// The names of the classes of tables.
#ifndef MTC_RUNTIME_DATA_CLASS_NAMES_H
#define MTC_RUNTIME_DATA_CLASS_NAMES_H

#include <string>
#include <vector>

namespace mtc::runtime {

/// Sets `classes` to the names of the classes of labels that `python -m mtc.data` has written to
/// FOLDER/train or FOLDER/validation: those in FOLDER/classes.json. Labels of other files have no
/// names. Throws a user error if other classes are known, such as those of the training data.
/// `flag` is the user's argument, for messages.
void nameTableClasses(const std::string &file, const std::string &labels, const std::string &flag,
                      std::vector<std::string> &classes);

} // namespace mtc::runtime

#endif // MTC_RUNTIME_DATA_CLASS_NAMES_H

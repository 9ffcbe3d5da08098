// Which files are meant. In: paths as the user gave them. Out: the files to read, in a fixed order, and what was
// missing. A file that is named is read whatever it is called; in folders only `*.py` and `*.pyi` are.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace graphmend {

struct FileProblem {
  std::string path;
  // One line, without the path.
  std::string reason;
};

struct FoundFiles {
  // In the order of the arguments; within a folder by name, files before folders. No file twice. `-` is kept as it is.
  std::vector<std::string> paths;
  std::vector<FileProblem> problems;
};

// Folders are walked down. Left out on the way (but never when named as an argument): folders whose name begins with a
// dot, those of `is_skipped_folder`, virtual environments (folders with a `pyvenv.cfg`), and links to folders, so that
// a loop of links ends.
FoundFiles find_files(const std::vector<std::string>& arguments);

// Folders of generated and installed code: __pycache__, __pypackages__, _build, buck-out, build, dist, node_modules,
// site-packages, venv, and every hidden folder.
bool is_skipped_folder(std::string_view name);

}  // namespace graphmend

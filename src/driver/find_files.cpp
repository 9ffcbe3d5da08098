// Which files are meant. In: paths as the user gave them. Out: the files to read, in a fixed order.
// Bytes decide the order of names, so that every machine and locale reports in the same order.
#include "driver/find_files.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <functional>
#include <iterator>
#include <system_error>
#include <unordered_set>
#include <utility>

#include "driver/system_reason.h"

namespace graphmend {
namespace {

namespace fs = std::filesystem;

constexpr std::array<std::string_view, 9> kSkippedFolders = {
    "__pycache__", "__pypackages__", "_build", "buck-out", "build", "dist", "node_modules", "site-packages", "venv",
};

bool is_python_name(std::string_view name) { return name.ends_with(".py") || name.ends_with(".pyi"); }

class Finder {
 public:
  void add_argument(const std::string& argument) {
    if (argument == "-") return add_file(argument);
    std::error_code error;
    const fs::file_status status = fs::status(argument, error);
    if (!fs::exists(status)) return add_problem(argument, error ? system_reason(error) : "no such file or directory");
    if (!fs::is_directory(status)) return add_file(argument);
    walk(argument);
  }

  FoundFiles take() { return std::move(found_); }

 private:
  void add_problem(const std::string& path, std::string reason) {
    found_.problems.push_back({path, std::move(reason)});
  }

  void add_file(const std::string& path) {
    if (seen_.insert(fs::path(path).lexically_normal().native()).second) found_.paths.push_back(path);
  }

  // A stack of its own: the depth of a folder tree is the user's, not ours.
  void walk(const std::string& top) {
    std::vector<std::string> pending{top};
    while (!pending.empty()) {
      const std::string folder = std::move(pending.back());
      pending.pop_back();
      list_folder(folder, folder == top, pending);
    }
  }

  void list_folder(const std::string& folder, bool named, std::vector<std::string>& pending) {
    std::vector<std::string> files;
    std::vector<std::string> folders;
    std::error_code error;
    fs::directory_iterator entries(folder, error);
    for (; !error && entries != fs::directory_iterator(); entries.increment(error)) {
      const fs::directory_entry& entry = *entries;
      const std::string name = entry.path().filename().native();
      // An environment that was named is meant; one that lies on the way is not.
      if (name == "pyvenv.cfg" && !named) return;
      // Asked this way, the answers come from the listing itself, without a further call to the system.
      std::error_code ignored;
      if (!entry.is_symlink(ignored) && entry.is_directory(ignored)) {
        if (!is_skipped_folder(name)) folders.push_back(entry.path().native());
      } else if (is_python_name(name) && entry.is_regular_file(ignored)) {
        files.push_back(entry.path().native());
      }
    }
    if (error) add_problem(folder, system_reason(error));
    std::sort(files.begin(), files.end());
    std::sort(folders.begin(), folders.end(), std::greater<>());
    for (const std::string& file : files) add_file(file);
    std::move(folders.begin(), folders.end(), std::back_inserter(pending));
  }

  FoundFiles found_;
  std::unordered_set<std::string> seen_;
};

}  // namespace

bool is_skipped_folder(std::string_view name) {
  return name.starts_with('.') ||
         std::find(kSkippedFolders.begin(), kSkippedFolders.end(), name) != kSkippedFolders.end();
}

FoundFiles find_files(const std::vector<std::string>& arguments) {
  Finder finder;
  for (const std::string& argument : arguments) finder.add_argument(argument);
  return finder.take();
}

}  // namespace graphmend

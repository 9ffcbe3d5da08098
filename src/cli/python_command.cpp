// graphmend run, explain, verify. In: the words of the command line. Out: never back; this process becomes Python.
// Python does these commands itself (python/graphmend/_running/run.py) and does not come back here.
#include <unistd.h>

#include <array>
#include <cerrno>
#include <climits>
#include <csignal>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include "cli/commands.h"
#include "driver/system_reason.h"

namespace graphmend {
namespace {

constexpr std::array<std::string_view, 2> kPythonNames = {"python3", "python"};

// Not `-m graphmend`: Python would look for its own modules in the current folder, whose files are the program's.
constexpr const char* kStart =
    "import sys\n"
    "if sys.path[:1] == ['']: del sys.path[0]\n"
    "from graphmend.__main__ import main\n"
    "sys.exit(main())";

std::string variable(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? std::string() : std::string(value);
}

// The folder that this program is in, links followed; empty if nobody knows.
std::string own_folder() {
  std::array<char, PATH_MAX> path{};
  const ssize_t length = readlink("/proc/self/exe", path.data(), path.size());
  if (length <= 0 || length == static_cast<ssize_t>(path.size())) return {};
  const std::string_view text(path.data(), static_cast<size_t>(length));
  return std::string(text.substr(0, text.rfind('/')));
}

std::string python_in(const std::string& folder) {
  if (folder.empty()) return {};
  for (const std::string_view name : kPythonNames) {
    std::string path = folder + "/" + std::string(name);
    if (access(path.c_str(), X_OK) == 0) return path;
  }
  return {};
}

// The Python of the environment that this program is installed in, else of the active one, else the first on PATH.
std::string find_python() {
  if (std::string chosen = variable("GRAPHMEND_PYTHON"); !chosen.empty()) return chosen;
  if (std::string beside = python_in(own_folder()); !beside.empty()) return beside;
  const std::string active = variable("VIRTUAL_ENV");
  if (std::string inside = python_in(active.empty() ? active : active + "/bin"); !inside.empty()) return inside;
  return std::string(kPythonNames[0]);
}

}  // namespace

int run_python(const PythonRequest& request, Output& out, Output& err) {
  std::vector<std::string> words = {find_python(), "-c", kStart};
  words.insert(words.end(), request.words.begin(), request.words.end());
  std::vector<char*> arguments;
  arguments.reserve(words.size() + 1);
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);

  out.flush();
  err.flush();
  // Python decides for itself what a pipe that nobody reads means.
  std::signal(SIGPIPE, SIG_DFL);
  execvp(arguments[0], arguments.data());
  const int error = errno;
  std::signal(SIGPIPE, SIG_IGN);
  complain(out, err,
           "cannot run " + words[0] + ": " + system_reason(error) + "; GRAPHMEND_PYTHON can name another Python");
  return kExitTrouble;
}

}  // namespace graphmend

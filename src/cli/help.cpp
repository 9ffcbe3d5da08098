// The words of `--help`. In: the name of a command. Out: its page.
// Written by hand: a page teaches by examples, which no generator knows.
#include "cli/help.h"

namespace graphmend {
namespace {

constexpr std::string_view kOverview =
    R"(graphmend mends what breaks the graphs of torch.compile, without a change to the program or to what it does.

Usage: graphmend COMMAND [OPTIONS] ...

Commands:
  run SCRIPT [ARGUMENTS]      run a program with its own calls of torch.compile mended
  explain SCRIPT [ARGUMENTS]  run it, and show every place that broke: why, and what was done or what to do
  verify SCRIPT [ARGUMENTS]   run it as it was written and mended, and compare what it prints and how it ends
  parse PATH...               report the syntax errors of files and folders
  dump KIND FILE              print what graphmend makes of one file: its tokens, tree, scopes, flow, …
  help [COMMAND]              explain a command

Options:
  -h, --help      print this page; after a command, the page of that command
  -V, --version   print the version

Examples:
  graphmend run train.py --epochs 3      # instead of: python train.py --epochs 3
  graphmend run --report out.html -m mypackage.train
  graphmend explain train.py
  graphmend parse src tests              # every *.py and *.pyi below two folders
  graphmend parse --target-version 3.9 setup.py
  graphmend dump ast model.py            # what CPython's ast.dump prints
  git show HEAD:model.py | graphmend parse -

Exit status: of run and explain, that of the program; of the others, 0 all is well, 1 syntax errors were found or the
runs differ, 2 a bad command line, a bad setting or a file that cannot be read.
)";

constexpr std::string_view kParse =
    R"(graphmend parse reports the syntax errors of files and folders.

Usage: graphmend parse [OPTIONS] PATH...

Arguments:
  PATH...   files, folders, or - for standard input. A file is read whatever its name; in a folder, all *.py and *.pyi
            files, folders below it included. Left out on the way: hidden folders, __pycache__, __pypackages__, _build,
            buck-out, build, dist, node_modules, site-packages, venv, virtual environments, and links to folders.

Options:
  -t, --target-version VERSION   the Python whose syntax is accepted, 3.8 to 3.15; the default accepts all of it
      --output-format FORMAT     text     each error with its line and carets below the place (default)
                                 concise  one line for each error: PATH:LINE:COLUMN: error: MESSAGE
                                 json     a list of objects: code, filename, location, end_location, message
  -j, --jobs N                   threads to use; the default is one for each processor
  -q, --quiet                    print errors, and no summary
  -h, --help                     print this page

Lines and columns count from 1; columns count characters, a tab is one.
Colours are used on a terminal only; NO_COLOR turns them off, FORCE_COLOR turns them on.

Examples:
  graphmend parse .
  graphmend parse --target-version 3.8 --quiet src/
  graphmend parse --output-format json src/ | jq '.[].message'
  graphmend parse -- -odd-name.py

Exit status: 0 everything parses, 1 syntax errors were found, 2 a bad command line or a file that cannot be read (the
others are read all the same).
)";

constexpr std::string_view kDump =
    R"(graphmend dump prints what graphmend makes of one file.

Usage: graphmend dump [OPTIONS] tokens|tree|ast|scopes|flow|liveness|effects FILE

Arguments:
  tokens    the tokens, one on a line, comments included
  tree      the syntax tree, one node on a line, with its range
  ast       exactly what CPython 3.13 prints for ast.dump(ast.parse(...), include_attributes=True)
  scopes    the scopes and their names, as CPython 3.13's symtable has them, and where each name is bound
  flow      blocks of each function, what they read and from which assignments, where control goes, exceptions included
  liveness  for each statement: the variables live before and after it, those it reads, needs, may and must assign
  effects   for each statement: whether it may raise, reads or writes state, talks to the outside, draws random numbers
  FILE      a file, or - for standard input

Options:
  -t, --target-version VERSION   the Python whose syntax is accepted, 3.8 to 3.15; the default accepts all of it
  -h, --help                     print this page

Syntax errors go to standard error. `tokens` and `tree` still print what there is; the others then print nothing.

Examples:
  graphmend dump tree model.py
  echo 'print(f"{x!r}")' | graphmend dump tokens -
  graphmend dump ast model.py | head

Exit status: 0 all is well, 1 syntax errors were found, 2 a bad command line or a file that cannot be read.
)";

constexpr std::string_view kHelp =
    R"(graphmend help explains a command.

Usage: graphmend help [COMMAND]

Examples:
  graphmend help
  graphmend help run
)";

}  // namespace

std::string_view help_page(std::string_view command) {
  if (command.empty()) return kOverview;
  if (command == "parse") return kParse;
  if (command == "dump") return kDump;
  if (command == "help") return kHelp;
  return {};
}

}  // namespace graphmend

// Substitute: which calls become which text, and which are left alone.
#include "mend/substitute.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "lex/lexer.h"
#include "mend/mend.h"
#include "parse/parser.h"

namespace graphmend {
namespace {

// The mended text of one line, with the sites' names, which are hashes, made readable.
std::string substituted(const std::string& text, uint32_t line, std::vector<std::string> names) {
  const LexResult lexed = lex(text);
  const ParseResult parsed = parse(text, lexed.tokens);
  MendRequest request;
  request.file_name = "f.py";
  request.lines = {line};
  request.substitutes = std::move(names);
  const Mended mended = mend(text, lexed.tokens, parsed.tree, request);
  std::string result = mended.text;
  for (const Mend& one : mended.mends) {
    EXPECT_EQ(one.kind, MendKind::Substitute);
    for (size_t at = result.find(one.site); at != std::string::npos; at = result.find(one.site)) {
      result.replace(at, one.site.size(), "S");
    }
  }
  return result;
}

void expect_as_it_was(const std::string& text, uint32_t line, std::vector<std::string> names) {
  EXPECT_EQ(substituted(text, line, std::move(names)), text);
}

TEST(Substitute, MethodsAndFunctions) {
  EXPECT_EQ(substituted("y = x.go(1, *a, k=2)\n", 1, {"go"}),
            "y = (x.go(1, *a, k=2) if not __graphmend__.tracing() else __graphmend__.method('S', 'go', (x), 1, *a, "
            "k=2))\n");
  EXPECT_EQ(substituted("go()\n", 1, {"go"}),
            "(go() if not __graphmend__.tracing() else __graphmend__.function('S', 'go', (go), ))\n");
  expect_as_it_was("y = x.stay(1)\n", 1, {"go"});
  expect_as_it_was("y = x.go\n", 1, {"go"});
}

TEST(Substitute, CallsInsideOfEachOther) {
  EXPECT_EQ(substituted("go(x.go())\n", 1, {"go"}).find("__graphmend__.method('S', 'go', (x), )") == std::string::npos,
            false);
}

TEST(Substitute, WhatRunsAtAnotherTimeIsLeft) {
  expect_as_it_was("y = lambda: go(1)\n", 1, {"go"});
  expect_as_it_was("y = [go(1) for _ in x]\n", 1, {"go"});
  expect_as_it_was("y = f'{go(1)}'\n", 1, {"go"});
  expect_as_it_was("y = go(a for a in x)\n", 1, {"go"});
  expect_as_it_was("y = go(a := 3)\n", 1, {"go"});
  expect_as_it_was("y = (x.go)(3)\n", 1, {"go"});
}

TEST(Substitute, OnlyWhatIsEntered) {
  const std::string text = "with closing(x) as y:\n    pass\n";
  EXPECT_NE(substituted(text, 1, {"with closing"}), text);
  expect_as_it_was("y = closing(x)\n", 1, {"with closing"});
  expect_as_it_was("with go(closing(x)) as y:\n    pass\n", 1, {"with closing"});
}

TEST(Substitute, AttributesThatAreRead) {
  EXPECT_EQ(substituted("y = x.kind + 1\n", 1, {".kind"}),
            "y = (x.kind if not __graphmend__.tracing() else __graphmend__.attribute('S', 'kind', (x))) + 1\n");
  expect_as_it_was("x.kind = 3\n", 1, {".kind"});
  expect_as_it_was("x.kind, y = 3, 4\n", 1, {".kind"});
  expect_as_it_was("x.kind += 3\n", 1, {".kind"});
  expect_as_it_was("del x.kind\n", 1, {".kind"});
  expect_as_it_was("x.kind()\n", 1, {".kind"});
}

TEST(Substitute, AttributesThatAreSet) {
  EXPECT_EQ(substituted("x.on = True\n", 1, {".on ="}),
            "(x if not __graphmend__.tracing() else __graphmend__.target('S', 'on', x, True)).on = True\n");
  expect_as_it_was("x.on = y\n", 1, {".on ="});
}

TEST(Substitute, AttributesThatAreSetToAnything) {
  EXPECT_EQ(substituted("x.on = y\n", 1, {".on = value"}),
            "(x if not __graphmend__.tracing() else __graphmend__.target('S', 'on', x)).on = y\n");
  expect_as_it_was("x.on += y\n", 1, {".on = value"});
}

TEST(Substitute, OutputsThatAreGiven) {
  EXPECT_EQ(substituted("t.go(x, out=y)\n", 1, {"out="}),
            "(t.go(x, out=y) if not __graphmend__.tracing() else __graphmend__.into('S', 'go', (t.go), x, out=y))\n");
  EXPECT_EQ(substituted("z = t.go(x, out=y)\n", 1, {"out="}),
            "z = (t.go(x, out=y) if not __graphmend__.tracing() else __graphmend__.function('S', 'go', (t.go), x, "
            "out=y))\n");
  expect_as_it_was("t.go(x, into=y)\n", 1, {"out="});
  expect_as_it_was("t.go(x, **out)\n", 1, {"out="});
}

TEST(Substitute, WhatAComprehensionGoesThroughFirst) {
  EXPECT_EQ(substituted("y = [a for a in x.go() for b in x.go()]\n", 1, {"go"}),
            "y = [a for a in (x.go() if not __graphmend__.tracing() else __graphmend__.method('S', 'go', (x), )) for b "
            "in x.go()]\n");
}

TEST(Substitute, WhatIsGoneThrough) {
  EXPECT_EQ(substituted("for a in x.y:\n    pass\n", 1, {"for"}),
            "for a in (__graphmend__.iterated('S', (x.y))):\n    pass\n");
  EXPECT_EQ(substituted("y = {a for a in b for c in d}\n", 1, {"for"}),
            "y = {a for a in (__graphmend__.iterated('S', (b))) for c in d}\n");
  expect_as_it_was("async def f():\n    async for a in x:\n        pass\n", 2, {"for"});
  expect_as_it_was("for a in (b := x):\n    pass\n", 1, {"for"});
}

std::string tried(const std::string& import, const std::string& handler) {
  return "try:\n    " + import + "\n" + handler + "\n    f()\n";
}

TEST(Substitute, ImportsWhoseFailureIsDealtWith) {
  for (const std::string import : {"import a", "import a.b as c", "from a import b", "from a.b import *"}) {
    for (const std::string handler : {"except ImportError:", "except:", "except (KeyError, ModuleNotFoundError):"}) {
      EXPECT_EQ(substituted(tried(import, handler), 2, {"import"}),
                tried("__graphmend__.imports('S', 'a'); " + import, handler));
    }
  }
}

TEST(Substitute, ImportsWhoseFailureMayBeLookedAt) {
  expect_as_it_was("import a\n", 1, {"import"});
  expect_as_it_was(tried("import a, b", "except ImportError:"), 2, {"import"});
  expect_as_it_was(tried("from . import a", "except ImportError:"), 2, {"import"});
  expect_as_it_was(tried("from .a import b", "except ImportError:"), 2, {"import"});
  expect_as_it_was(tried("import a", "except ImportError as e:"), 2, {"import"});
  expect_as_it_was(tried("import a", "except ImportError:\n    raise"), 2, {"import"});
  expect_as_it_was(tried("import a", "except ImportError:\n    sys.exc_info()"), 2, {"import"});
  expect_as_it_was(tried("import a", "except KeyError:\n    pass\nexcept ImportError:"), 2, {"import"});
  expect_as_it_was(tried("import a", "finally:"), 2, {"import"});
  expect_as_it_was(tried("f()", "except ImportError:\n    import a"), 4, {"import"});
}

}  // namespace
}  // namespace graphmend

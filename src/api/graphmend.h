/* The C API of graphmend: bytes and a request in, one result with flat arrays out.
 *
 *   graphmend_options options = {sizeof options, GRAPHMEND_WANT_ERRORS | GRAPHMEND_WANT_AST_DUMP, 0, 0};
 *   const graphmend_result *result = NULL;
 *   if (graphmend_read(bytes, length, &options, &result) == GRAPHMEND_OK) {
 *     ... result->error_count, result->ast_dump ...
 *   }
 *   graphmend_result_free(result);
 *
 * Rules of the house:
 * - Syntax errors are part of the result; a status other than GRAPHMEND_OK means that there is no result at all.
 * - There is no global state: every function may be called from any thread at any time. A result is never changed after
 *   it was made, so threads may share it; the last one frees it.
 * - Everything a result points to belongs to it and lives until `graphmend_result_free`. Texts are UTF-8 with their
 *   length, and a NUL behind the last byte. Arrays that were not asked for are NULL with a count of 0.
 * - Offsets are bytes into `text`. Lines count from 1. Columns count characters from 1.
 * - Nothing is printed, nothing throws, nothing aborts. The calling thread needs a stack of 1 MiB for the deepest
 *   nesting that is accepted.
 */
#ifndef GRAPHMEND_API_GRAPHMEND_H
#define GRAPHMEND_API_GRAPHMEND_H

#include <stdint.h>

#if defined(__GNUC__)
#define GRAPHMEND_API __attribute__((visibility("default")))
#else
#define GRAPHMEND_API
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* Names as C programmers write them.
 * NOLINTBEGIN(readability-identifier-naming,modernize-use-using,modernize-redundant-void-arg) */

/* Changes whenever a struct or a function below changes its meaning. Compare it with `graphmend_api_version()` before
 * anything else: header and library may come from different places. */
#define GRAPHMEND_API_VERSION 2

/* What `graphmend_read` returns. */
enum {
  GRAPHMEND_OK = 0,
  /* A NULL where none may be, an unknown size of the options, a version or a bit that does not exist. */
  GRAPHMEND_BAD_REQUEST = 1,
  GRAPHMEND_OUT_OF_MEMORY = 2,
  /* More than 2,147,483,647 bytes. */
  GRAPHMEND_TOO_LARGE = 3,
  /* A mistake in graphmend itself. */
  GRAPHMEND_INTERNAL_ERROR = 4
};

/* Bits of `graphmend_options.wanted`. */
enum {
  /* `errors` and `messages`. */
  GRAPHMEND_WANT_ERRORS = 1,
  /* `text`, `line_starts`. */
  GRAPHMEND_WANT_TEXT = 2,
  /* `tokens`. */
  GRAPHMEND_WANT_TOKENS = 4,
  /* `nodes` and `parents`; their token numbers go into `tokens`. */
  GRAPHMEND_WANT_TREE = 8,
  /* `tokens_dump`, `tree_dump`, `ast_dump`: the same text as `graphmend dump`. No `ast_dump` if there are errors. */
  GRAPHMEND_WANT_TOKENS_DUMP = 16,
  GRAPHMEND_WANT_TREE_DUMP = 32,
  GRAPHMEND_WANT_AST_DUMP = 64,
  /* `scopes_dump`, likewise; none if there are errors. */
  GRAPHMEND_WANT_SCOPES_DUMP = 128
};

/* Bits of `graphmend_options.flags`. */
enum {
  /* The bytes are text in UTF-8 already: a coding cookie means nothing, as in CPython's compile(str). */
  GRAPHMEND_IS_TEXT = 1
};

typedef struct graphmend_options {
  /* sizeof(graphmend_options); lets the struct grow. */
  uint32_t struct_size;
  uint32_t wanted;
  /* The minor number of the Python whose syntax is accepted, 8 to 15; 0 for all. */
  uint32_t target_minor;
  uint32_t flags;
} graphmend_options;

/* 32 bytes. */
typedef struct graphmend_error {
  uint32_t start;
  uint32_t end;
  uint32_t line;
  uint32_t column;
  uint32_t end_line;
  /* Just after the last character. */
  uint32_t end_column;
  /* The bytes of `messages` that are this error's. */
  uint32_t message_start;
  uint32_t message_length;
} graphmend_error;

/* 12 bytes. Tokens lie in the order of the text and do not overlap; what is between them is white space. */
typedef struct graphmend_token {
  uint32_t start;
  uint32_t end;
  /* See `graphmend_token_kind`. */
  uint8_t kind;
  uint8_t flags;
  uint8_t prefix_length;
  uint8_t unused;
} graphmend_token;

/* 16 bytes. Parents stand before their children: the subtree of node n is n ... n + size - 1, its first child is n + 1
 * (if size > 1), and the next sibling of a child c is c + size of c. Node 0 is the root. */
typedef struct graphmend_node {
  /* See `graphmend_node_kind`. */
  uint8_t kind;
  uint8_t op;
  uint8_t flags;
  uint8_t optional;
  uint32_t first_token;
  uint32_t last_token;
  uint32_t size;
} graphmend_node;

typedef struct graphmend_result {
  const char* text;
  uint64_t text_length;
  /* The name of the encoding the bytes were in. Always there. */
  const char* encoding;
  uint64_t encoding_length;
  /* Offsets of the first byte of each line. */
  const uint32_t* line_starts;
  uint64_t line_count;
  /* How many errors there are, asked for or not. */
  uint64_t error_count;
  /* Sorted by place. */
  const graphmend_error* errors;
  const char* messages;
  uint64_t messages_length;
  const graphmend_token* tokens;
  uint64_t token_count;
  const graphmend_node* nodes;
  /* One for each node; 0xFFFFFFFF for the root. */
  const uint32_t* parents;
  uint64_t node_count;
  const char* tokens_dump;
  uint64_t tokens_dump_length;
  const char* tree_dump;
  uint64_t tree_dump_length;
  const char* ast_dump;
  uint64_t ast_dump_length;
  const char* scopes_dump;
  uint64_t scopes_dump_length;
} graphmend_result;

/* GRAPHMEND_API_VERSION of the library. */
GRAPHMEND_API uint32_t graphmend_api_version(void);

/* The release, such as "0.1.0". */
GRAPHMEND_API const char* graphmend_release(void);

/* Reads Python source. `bytes` may be NULL when `length` is 0. On GRAPHMEND_OK `*result` is a result to be freed with
 * `graphmend_result_free`, on anything else it is NULL. The bytes are not needed after the call. */
GRAPHMEND_API int32_t graphmend_read(const char* bytes, uint64_t length, const graphmend_options* options,
                                     const graphmend_result** result);

/* NULL is allowed. */
GRAPHMEND_API void graphmend_result_free(const graphmend_result* result);

/* One clear phrase for what `graphmend_read` returned. Never NULL. */
GRAPHMEND_API const char* graphmend_status_text(int32_t status);

/* What to mend, and where. Lists of texts are joined by NUL bytes, with one behind the last. */
typedef struct graphmend_mend_request {
  /* sizeof(graphmend_mend_request). */
  uint32_t struct_size;
  uint32_t line_count;
  /* Lines at which a graph broke. */
  const uint32_t* lines;
  const char* file_name;
  uint64_t file_name_length;
  /* Dotted names of what only talks to the outside in this file: "print", "logger.*". */
  const char* talkers;
  uint64_t talkers_length;
  /* First lines of functions that are to be mended wherever they may break. */
  const uint32_t* functions;
  uint64_t function_count;
  /* 1: what is like a place that broke, in the same function, is mended before it breaks. */
  uint64_t ahead;
  /* 1: values that Python needs may be predicted. */
  uint64_t speculates;
  /* Names of what is traced as something else, each followed by a NUL byte; see `MendRequest` in src/mend/mend.h. */
  const char* substitutes;
  uint64_t substitutes_length;
} graphmend_mend_request;

/* One run of bytes: numbers are 32 bits, little-endian; a text is its length and then its bytes; a list is its count
 * and then its items. result:   status (0, or 1 when the source has syntax errors: then nothing follows), mended text,
 * pieces, mends, declined piece:    start, end, start and end in the original, 1 if copied and 0 if added mend: kind (0
 * postpone, 1 check, 2 select, 3 speculate, 4 substitute), line, start and end of the statement, site, text of the
 * outlined function, its pieces, name of the class around it, line of the place that broke if this one is only like it
 * and else 0; declined: line, reason */
typedef struct graphmend_flat {
  const char* data;
  uint64_t length;
} graphmend_flat;

/* Mends Python source at the given lines. As `graphmend_read`, but the result is freed with `graphmend_flat_free`. */
GRAPHMEND_API int32_t graphmend_mend(const char* bytes, uint64_t length, const graphmend_mend_request* request,
                                     const graphmend_flat** result);

/* NULL is allowed. */
GRAPHMEND_API void graphmend_flat_free(const graphmend_flat* result);

/* The names of the kinds, 0, 1, ... without a gap: "Name", "LeftParen"; "FunctionDef", "Call". NULL beyond the last, so
 * that a caller can read the whole list. */
GRAPHMEND_API const char* graphmend_token_kind(uint32_t kind);
GRAPHMEND_API const char* graphmend_node_kind(uint32_t kind);

/* NOLINTEND(readability-identifier-naming,modernize-use-using,modernize-redundant-void-arg) */

#ifdef __cplusplus
}
#endif

#endif

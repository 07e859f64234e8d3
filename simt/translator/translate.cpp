// SPDX-License-Identifier: MIT
#include "translate.h"

#include "edits.h"
#include "rewrite.h"
#include "scopes.h"

namespace simtcc {
namespace {

// Hints to nvcc's optimiser and diagnostics. Host compilers unroll as they see fit.
void remove_pragmas(const Tokens& tokens, Edits& edits) {
  for (const auto& line : tokens.pragmas()) {
    std::string text = tokens.source().substr(line.begin, line.end - line.begin);
    text.erase(0, text.find_first_not_of(" \t", sizeof("#pragma") - 1));
    for (const char* word : {"unroll", "nounroll", "nv_", "diag_", "hd_warning_disable"}) {
      if (text.rfind(word, 0) == 0) edits.replace_line(line, "");
    }
  }
}

}  // namespace

std::string translate(const std::string& preprocessed, const Options& options) {
  const Tokens tokens(preprocessed);
  const Scopes scopes(tokens);
  Edits edits(tokens);
  const Unit unit{tokens, scopes, edits, options};
  refuse_libraries(unit);
  refuse_host_code(unit);
  remove_pragmas(tokens, edits);
  rewrite_declarations(unit);
  register_variables(unit);
  rewrite_shared(unit);
  rewrite_launches(unit);
  rewrite_device_code(unit);
  rewrite_heap(unit);
  if (options.checked && !options.traced) {
    compare_subscripts(unit);
    spare_host_loops(unit);
  }
  if (options.traced) mark_for_traces(unit);
  if (options.mutants) make_mutants(unit);
  rewrite_words(unit);  // last: of two changes to a token the first counts
  return edits.apply();
}

}  // namespace simtcc

// SPDX-License-Identifier: MIT
//
// The marks that traced builds get around loops and at branches, and where they must not stand.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "translator/translate.h"

namespace {

// The body of a kernel, translated, without blanks and line markers.
std::string marked(const std::string& body) {
  const std::string start = "# 1 \"f.cu\"\n__global__ void k(int* p, int n) { BEGIN; ";
  simtcc::Options options;
  options.traced = true;
  const std::string text = simtcc::translate(start + body + " END; }\n", options);
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\n' && text.compare(i + 1, 2, "# ") == 0) i = text.find('\n', i + 1);
    if (text[i] != ' ' && text[i] != '\n') out += text[i];
  }
  const std::size_t from = out.find("BEGIN;") + 6;
  return out.substr(from, out.find("END;") - from);
}

std::string branch(const std::string& condition) {
  return "::simt::trace_branch(static_cast<bool>(" + condition + "))";
}
std::string choice(const std::string& condition) {
  return "::simt::trace_choice(static_cast<bool>(" + condition + "))";
}
std::string loop(int id, const std::string& head, const std::string& body, const std::string& tail = "") {
  const std::string name = "simt_loop" + std::to_string(id);
  return "{::simt::TraceLoop" + name + "(" + std::to_string(id) + ");" + head + "{" + name + ".next();" +
         body + "}" + tail + "}";
}

struct Case {
  const char* name;
  const char* body;
  std::string expected;
};
std::string name_of(const testing::TestParamInfo<Case>& info) {
  return info.param.name;
}

class TraceMarks : public testing::TestWithParam<Case> {};
TEST_P(TraceMarks, Stand) {
  EXPECT_EQ(marked(GetParam().body), GetParam().expected);
}

const Case kMarks[] = {
    {"if_else", "if (n) f(); else g();", "if(" + branch("n") + ")f();elseg();"},
    {"if_with_initialiser", "if (int i = n; i < 3) f();", "if(inti=n;" + branch("i<3") + ")f();"},
    {"condition_that_declares", "if (int* q = p) f();", "if(int*q=p)f();"},
    {"condition_that_assigns", "if ((p = q)) f();", "if(" + branch("(p=q)") + ")f();"},
    {"if_constexpr", "if constexpr (2 > 1) f();", "ifconstexpr(2>1)f();"},
    {"for", "for (int i = 0; i < n; ++i) f(i);", loop(1, "for(inti=0;" + branch("i<n") + ";++i)", "f(i);")},
    {"for_over_range", "for (int x : xs) { f(x); }", loop(1, "for(intx:xs)", "{f(x);}")},
    {"for_ever", "for (;;) { if (n) break; }",
     loop(1, "for(;;::simt::tick())", "{if(" + branch("n") + ")break;}")},
    {"while", "while (n > 0) --n;", loop(1, "for(;" + branch("n>0") + ";::simt::tick())", "--n;")},
    {"do_while", "do { --n; } while (n);",
     loop(1, "do", "{--n;}", "while(::simt::tick()&&(" + branch("n") + "));")},
    {"nested_without_braces", "for (auto a : b) for (auto c : d) f();",
     loop(1, "for(autoa:b)", loop(2, "for(autoc:d)", "f();"))},
    {"loop_in_else", "if (n) ; else for (auto a : b) f();",
     "if(" + branch("n") + ");else" + loop(1, "for(autoa:b)", "f();")},
    {"choice", "int a = n ? 1 : p ? 2 : 3;", "inta=" + choice("n") + "?1:" + choice("p") + "?2:3;"},
    {"choice_of_comparison", "f(p, a + b < c && d ? 1 : 2);", "f(p," + choice("a+b<c&&d") + "?1:2);"},
    {"choice_returned", "return *p == 3 ? 1 : 2;", "return" + choice("*p==3") + "?1:2;"},
    {"choice_after_block", "{ g(); } n ? f() : g();", "{g();}" + choice("n") + "?f():g();"},
    {"choice_after_shift", "n >>= p ? 1 : 2;", "n>>=" + choice("p") + "?1:2;"},
    {"choice_with_templates", "f<int, 3>(n) ? 1 : 2;", choice("f<int,3>(n)") + "?1:2;"},
    {"choice_as_argument_of_template", "f<n ? 1 : 2>();", "f<" + choice("n") + "?1:2>();"},
    {"case_into_loop", "switch (n) { case 0: do { g(); case 1: f(); } while (n); }",
     "switch(n){case0:do{g();case1:f();}while(::simt::tick()&&(" + branch("n") + "));}"},
    {"switch_in_loop", "for (auto a : b) switch (n) { case 0: break; }",
     loop(1, "for(autoa:b)", "switch(n){case0:break;}")},
    {"goto_into_loop", "goto in; for (auto a : b) { in: f(); }",
     "{::simt::tick();gotoin;}for(autoa:b){in:f();}"},
    {"goto_out_of_loop", "for (auto a : b) { goto out; } out: f();",
     loop(1, "for(autoa:b)", "{{::simt::tick();gotoout;}}") + "out:f();"},
};
INSTANTIATE_TEST_SUITE_P(Code, TraceMarks, testing::ValuesIn(kMarks), name_of);

TEST(TraceMarks, OnlyInDeviceCodeOfTracedBuilds) {
  const std::string host = "# 1 \"f.cu\"\nvoid h(int n) { for (int i = 0; i < n; ++i) n ? f() : g(); }\n";
  const std::string device =
      "# 1 \"f.cu\"\n__device__ void d(int n) { for (int i = 0; i < n; ++i) n ? f() : g(); }\n";
  simtcc::Options traced;
  traced.traced = true;
  EXPECT_EQ(simtcc::translate(host, traced).find("trace"), std::string::npos);
  EXPECT_EQ(simtcc::translate(device).find("trace"), std::string::npos);
  EXPECT_NE(simtcc::translate(device, traced).find("trace"), std::string::npos);
}

TEST(TraceMarks, KeepLines) {
  simtcc::Options traced;
  traced.traced = true;
  const std::string text = simtcc::translate(
      "# 1 \"f.cu\"\n__device__ void d(int n) {\n  while (n)\n    --n;\n  wrong;\n}\n", traced);
  const std::size_t at = text.find("  wrong;");
  ASSERT_NE(at, std::string::npos);
  std::size_t line = 0, from = text.rfind("\n# ", at);
  from = from == std::string::npos ? 0 : from + 1;
  line = std::stoul(text.substr(from + 2)) - 1;
  for (std::size_t i = text.find('\n', from); i < at; ++i) line += text[i] == '\n';
  EXPECT_EQ(line, 4u);
}

}  // namespace

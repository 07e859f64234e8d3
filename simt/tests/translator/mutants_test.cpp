// SPDX-License-Identifier: MIT
//
// The mutants that device code gets, where it gets none, and which lines are spared when a compiler refuses
// one.
#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <set>
#include <string>
#include <vector>

#include "translator/mutants.h"
#include "translator/translate.h"

namespace {

std::string translated(const std::string& source, simtcc::Mutants* mutants) {
  simtcc::Options options;
  options.mutants = mutants;
  return simtcc::translate("# 1 \"f.cu\"\n" + source, options);
}

// The body of a kernel with mutants: no blanks, no line markers, # for each mutant's number.
std::string mutated(const std::string& body, simtcc::Mutants* mutants) {
  const std::string text =
      translated("__global__ void k(int* p, int n) { BEGIN; " + body + " END; }\n", mutants);
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\n' && text.compare(i + 1, 2, "# ") == 0) i = text.find('\n', i + 1);
    if (text[i] != ' ' && text[i] != '\n') out += text[i];
  }
  const std::size_t from = out.find("BEGIN;") + 6;
  out = out.substr(from, out.find("END;") - from);
  for (const simtcc::Mutant& m : mutants->made) {
    const std::string id = std::to_string(m.id) + "u";
    for (std::size_t at; (at = out.find(id)) != std::string::npos;) out.replace(at, id.size(), "#");
  }
  return out;
}

struct Case {
  const char* name;
  const char* body;
  const char* expected;
  std::vector<std::string> edits;
};
std::string name_of(const testing::TestParamInfo<Case>& info) {
  return info.param.name;
}

class MutantsOf : public testing::TestWithParam<Case> {};
TEST_P(MutantsOf, Code) {
  simtcc::Mutants mutants;
  EXPECT_EQ(mutated(GetParam().body, &mutants), GetParam().expected);
  std::vector<std::string> edits;
  for (const simtcc::Mutant& m : mutants.made) edits.push_back(m.edit);
  EXPECT_EQ(edits, GetParam().edits);
}

#define M "::simt::mutant(#)"
const Case kMutants[] = {
    {"less", "bool b = n < *p;", "boolb=n<::simt::Less(#)>*p;", {"< becomes <="}},
    {"less_without_blanks",
     "for(;n<f;)g=n;",
     "for(;n<::simt::Less(#)>f;::simt::tick())g=n;",
     {"< becomes <="}},
    {"greater_equal", "b = n >= f;", "b=n>=::simt::GreaterEqual(#)<f;", {">= becomes >"}},
    {"equal", "b = n == f;", "b=n==::simt::Equal(#)==f;", {"== becomes !="}},
    {"and", "b = n && f || g;", "b=n&&(" M "||f)||(!" M "&&g);", {"&& f is left out", "|| g is left out"}},
    {"index", "g = p[n];", "g=p[" M "+(n)];", {"[n] becomes the next element"}},
    {"index_that_is_a_number", "g = p[2];", "g=p[(2+" M ")];", {"2 becomes 2 + 1"}},
    {"step", "g = n - 1;", "g=n-(1-" M ");", {"1 becomes 0"}},
    {"mask", "g = n & 0x1f;", "g=n&(0x1f^" M ");", {"0x1f becomes 0x1f ^ 1"}},
    {"real", "g = 0.5f;", "g=(0.5f+" M ");", {"0.5f becomes 0.5f + 1"}},
    {"guard_that_leaves", "if (n) return;", "if(!" M "&&(n))return;", {"if (n) never"}},
    {"guard", "if (n) { g = f; }", "if(" M "||(n)){g=f;}", {"if (n) always"}},
    {"guard_with_initialiser", "if (int i = n; i) g = f;", "if(inti=n;" M "||(i))g=f;", {"if (i) always"}},
    {"accumulation", "*p += n;", "(" M "?void():static_cast<void>(*p+=n));", {"*p += n is left out"}},
    {"barrier",
     "__syncthreads();",
     "(" M "?void():static_cast<void>(__syncthreads()));",
     {"__syncthreads() is left out"}},
    {"call_of_member",
     "for (auto a : b) a.f<T>(n);",
     "for(autoa:b)(" M "?void():static_cast<void>(a.f<T>(n)));",
     {"a.f<T>(n) is left out"}},
    {"inside_of_another",
     "if (p[n]) return;",
     "if(!" M "&&(p[" M "+(n)]))return;",
     {"if (p[n]) never", "[n] becomes the next element"}},
    {"index_that_ends_with_another",
     "g = p[n + 1];",
     "g=p[" M "+(n+(1-" M "))];",
     {"[n + 1] becomes the next element", "1 becomes 0"}},
    {"operand_that_ends_with_others",
     "if (n && f != 0) return;",
     "if(!" M "&&(n&&(" M "||f!=::simt::NotEqual(#)!=(0+" M "))))return;",
     {"if (n && f != 0) never", "&& f != 0 is left out", "!= becomes ==", "0 becomes 0 + 1"}},
    {"accumulation_that_ends_with_another",
     "*p += 2;",
     "(" M "?void():static_cast<void>(*p+=(2+" M ")));",
     {"*p += 2 is left out", "2 becomes 2 + 1"}},
    {"template_arguments", "g = f<3, n <= 4>(n) + a<b>::c;", "g=f<3,n<=4>(n)+a<b>::c;", {}},
    {"constants",
     "constexpr int c = 3; static_assert(3 > 2); const int kA = 2 * kB; using T = A<3>;",
     "constexprintc=3;static_assert(3>2);constintkA=2*kB;usingT=A<3>;",
     {}},
    {"if_constexpr", "if constexpr (n == 3) g = f;", "ifconstexpr(n==3)g=f;", {}},
    {"labels", "switch (n) { case 3: g = f; }", "switch(n){case3:g=f;}", {}},
    {"extents",
     "float a[3], b[4]; T* c[5]; A<T> d[6]; g = new int[n];",
     "floata[3],b[4];T*c[5];A<T>d[6];g=new(::simt::kHeap)int[n];",
     {}},
    {"sizes", "g = sizeof(int[3]);", "g=sizeof(int[3]);", {}},
    {"declarations",
     "Type variable(n); auto&& r = f; f(n), g(n); return g(n);",
     "Typevariable(n);auto&&r=f;f(n),g(n);returng(n);",
     {}},
    {"shifts", "n >>= f; g = n >> f; g = n << f;", "n>>=f;g=n>>f;g=n<<f;", {}},
    {"what_nobody_sees", "printf(\"x\"); __nanosleep(n);", "printf(\"x\");__nanosleep(n);", {}},
    {"lambda", "auto f = [=](int i) { return g; };", "autof=[=](inti){returng;};", {}},
};
INSTANTIATE_TEST_SUITE_P(Kernels, MutantsOf, testing::ValuesIn(kMutants), name_of);

constexpr char kDevice[] = "__device__ bool d(int n) {\n  return n < 3;\n}\n";

TEST(Mutants, HavePlaces) {
  simtcc::Mutants mutants;
  translated(kDevice, &mutants);
  ASSERT_EQ(mutants.made.size(), 2u);
  EXPECT_EQ(mutants.made[1].file, "f.cu");
  EXPECT_EQ(mutants.made[1].line, 2);
  EXPECT_EQ(mutants.made[1].column, 14);
  EXPECT_EQ(mutants.list(), std::to_string(mutants.made[0].id) + "\tf.cu\t2\t12\t< becomes <=\n" +
                                std::to_string(mutants.made[1].id) + "\tf.cu\t2\t14\t3 becomes 3 + 1\n");
}

// A header's mutant is the same in each file that includes it; two of one line are two.
TEST(Mutants, NumbersSayPlaceAndEdit) {
  simtcc::Mutants one, other;
  translated(kDevice, &one);
  translated(std::string("int before;\n# 1 \"f.cu\" 1\n") + kDevice, &other);
  ASSERT_EQ(other.made.size(), 2u);
  EXPECT_EQ(one.made[0].id, other.made[0].id);
  EXPECT_NE(one.made[0].id, one.made[1].id);
  simtcc::Mutants twice;
  translated("__device__ int d(int n) { return n * 3 + n * 3; }\n", &twice);
  ASSERT_EQ(twice.made.size(), 2u);
  EXPECT_NE(twice.made[0].id, twice.made[1].id);
}

TEST(Mutants, OnlyInDeviceCodeOfTheirBuilds) {
  simtcc::Mutants mutants;
  EXPECT_EQ(translated("bool h(int n) { return n < 3; }\n", &mutants),
            "# 1 \"f.cu\"\nbool h(int n) { return n < 3; }\n");
  EXPECT_TRUE(mutants.made.empty());
  EXPECT_EQ(translated(kDevice, nullptr).find("simt"), std::string::npos);
}

TEST(Mutants, SpareLinesThatACompilerRefuses) {
  simtcc::Mutants mutants;
  translated(kDevice, &mutants);
  EXPECT_FALSE(mutants.spare("g.cu:2:3: error: another file\nf.cu:1:1: error: a line without mutants\n"));
  EXPECT_TRUE(mutants.spare("f.cu: In function 'bool d(int)':\nf.cu:2:14: error: no constant\n"));
  EXPECT_NE(translated(kDevice, &mutants).find("return n < 3;"), std::string::npos);
  EXPECT_TRUE(mutants.made.empty());
}

TEST(Mutants, SpareWhatANoteNamesWhereTheErrorIsElsewhere) {
  simtcc::Mutants mutants;
  translated(kDevice, &mutants);
  EXPECT_TRUE(mutants.spare("/usr/h.h:9:1: error: no match\nf.cu:2:10:   required from here\n"));
}

}  // namespace

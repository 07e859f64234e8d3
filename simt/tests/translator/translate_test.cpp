// SPDX-License-Identifier: MIT
//
// The translator on its own: what becomes of each of CUDA's words, what it refuses, and where things stay.
#include "translator/translate.h"

#include <gtest/gtest.h>

#include <cctype>
#include <sstream>
#include <string>
#include <vector>

namespace {

using simtcc::Error;

// As a preprocessor would hand it over: a system header first, whose text must stay as it is.
const char kSystemHeader[] =
    "# 0 \"f.cu\"\n# 0 \"<built-in>\"\n# 1 \"/usr/include/s.h\" 1 3 4\n"
    "__device__ void of_the_system();\n# 1 \"f.cu\" 2\n";

std::string translate(const std::string& code) {
  return simtcc::translate(kSystemHeader + code + "\n");
}

bool in_word(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) || c == '_';
}

// Without blanks, but for those between words: the translator pads to keep columns.
std::string squeezed(const std::string& text) {
  std::string out;
  bool blank = false;
  for (const char c : text) {
    if (std::isspace(static_cast<unsigned char>(c))) {
      blank = true;
      continue;
    }
    if (blank && !out.empty() && in_word(out.back()) && in_word(c)) out += ' ';
    blank = false;
    out += c;
  }
  return out;
}

// The user's part, squeezed and without line markers.
std::string flat(const std::string& text) {
  std::istringstream lines(text.substr(text.find("of_the_system();") + 16));
  std::string out, line;
  while (std::getline(lines, line)) {
    if (line.compare(0, 2, "# ") != 0) out += line + "\n";
  }
  return squeezed(out);
}

bool has(const std::string& text, const std::string& part) {
  return text.find(squeezed(part)) != std::string::npos;
}

struct Case {
  const char* name;
  const char* input;
  std::vector<std::string> expected;  // all of these must occur
  std::vector<std::string> absent = {};
};

class Translate : public testing::TestWithParam<Case> {};

TEST_P(Translate, Gives) {
  const Case& c = GetParam();
  const std::string out = flat(translate(c.input));
  for (const std::string& e : c.expected) EXPECT_TRUE(has(out, e)) << squeezed(e) << "\nis not in\n" << out;
  for (const std::string& a : c.absent) EXPECT_FALSE(has(out, a)) << squeezed(a) << "\nis in\n" << out;
}

std::string name_of(const testing::TestParamInfo<Case>& info) {
  return info.param.name;
}

const Case kKernels[] = {
    {"kernel",
     "__global__ void k(float* a, int n) { a[n] = 1; }",
     {"void k([[maybe_unused]] float* a, [[maybe_unused]] int n) { ::simt::launch(\"k\", [=]() mutable { "
      "a[n] = 1; "
      "}); }"},
     {"__global__", "static"}},
    {"no_parameters",
     "__global__ void k(void) { }",
     {"void k(void) { ::simt::launch(\"k\", [=]() mutable { }); }"}},
    {"templates_are_of_their_file",
     "template <class T, int n = 2> __global__ void k(T* a) { }",
     {"template <class T, int n = 2> static __attribute__((unused)) void k(", "launch(\"k\""}},
    {"declared_for_another_file", "template <class T> __global__ void k(T*);", {"> void k(T*);"}, {"static"}},
    {"instantiated_explicitly",
     "template <class T> __global__ void k(T*) { } template __global__ void k<float>(float*);",
     {"template void k<float>(float*);"},
     {"static"}},
    {"specialised",
     "template <class T> __global__ void k(T*) { } template <> __global__ void k<int>(int*) { }",
     {"template <> void k<int>([[maybe_unused]] int*) { ::simt::launch(\"k\""}},
    {"launch_bounds",
     "__global__ void __launch_bounds__(256, 2) k() { }",
     {"void k() {", "}, ::simt::KernelBounds{.max_threads = int(256)}); }"},
     {"__launch_bounds__"}},
    {"launch_bounds_first", "__launch_bounds__(64) __global__ void k() { }", {"max_threads = int(64)"}},
    {"cluster",
     "__global__ void __cluster_dims__(2, 1, 1) k() { }",
     {"KernelBounds{.cluster = dim3(2, 1, 1)}"},
     {"__cluster_dims__"}},
    {"trailing_requires",
     "template <class T> __global__ void k(T) requires (requires(T t) { t + t; }) && Small<T> { f(); }",
     {"&& Small<T> { ::simt::launch(\"k\", [=]() mutable { f(); }); }"}},
    {"requires_before",
     "template <class T> requires Half<T> || ns::B<T, 3>::value __global__ void k(T) { f(); }",
     {"::value static __attribute__((unused)) void k(", "mutable { f(); }); }"}},
    {"static_member",
     "struct S { static __global__ void k(int) { } };",
     {"static void k([[maybe_unused]] int) { ::simt::launch(\"k\""}},
    {"extern_c", "extern \"C\" __global__ void k() { }", {"extern \"C\" void k() { ::simt::launch"}},
    {"grid_constant",
     "__global__ void k(const __grid_constant__ Map m, std::pair<int, int> p) { }",
     {"[[maybe_unused]] const Map m, [[maybe_unused]] std::pair<int, int> p"},
     {"__grid_constant__"}},
    {"in_a_raw_string",
     "const char* s = R\"(__global__ k<<<1, 2>>>())\";",
     {"R\"(__global__ k<<<1, 2>>>())\""}},
};
INSTANTIATE_TEST_SUITE_P(Kernels, Translate, testing::ValuesIn(kKernels), name_of);

const Case kDeclarations[] = {
    {"device_function",
     "__device__ float f(float x) { return x; }",
     {"static __attribute__((unused)) float f("}},
    {"declared_and_defined",
     "__device__ int f(); __device__ int f() { return 1; }",
     {"static __attribute__((unused)) int f(); static __attribute__((unused)) int f() {"}},
    {"declared_only", "__device__ int f();", {"int f();"}, {"static"}},
    {"for_host_and_device", "__host__ __device__ int f() { return 1; }", {"int f() {"}, {"static"}},
    {"member",
     "struct S { __device__ int f() const; }; __device__ int S::f() const { return 1; }",
     {},
     {"static"}},
    {"friend_first",
     "struct S { friend __device__ int f(S); }; __device__ int f(S) { return 1; }",
     {"int f(S) {"},
     {"static"}},
    {"argument_with_namespace",
     "__device__ int f(cg::group g) { return 1; }",
     {"static", "int f(cg::group g) {"}},
    {"variables",
     "__device__ int a = 5; __constant__ float b[4]; __device__ __managed__ int c;",
     {"static __attribute__((unused)) int a = 5;", "static __attribute__((unused)) float b[4];",
      "static __attribute__((unused)) int c;"}},
    {"extern_variable",
     "extern __constant__ int a[2]; __constant__ int a[2] = {1, 2};",
     {"extern int a[2]; int a[2] = {1, 2}; "
      "[[maybe_unused]] static const ::simt::DeviceVariable simt_variable1{__builtin_addressof(a), "
      "sizeof(a), "
      "\"a\", ::simt::VariableKind::constant, false};"},
     {"static int", "simt_variable2"}},
    {"variables_of_one_type",
     "__device__ float a, *b = &a, c[2][3] = {{1, 2}}; void f() { g(c, s.a); cudaMemcpyToSymbol(b, p, 8); }",
     {"{__builtin_addressof(a), sizeof(a), \"a\", ::simt::VariableKind::device, false};",
      "{__builtin_addressof(b), sizeof(b), \"b\", ::simt::VariableKind::device, false};",
      "{__builtin_addressof(c), sizeof(c), \"c\", ::simt::VariableKind::device, true};"},
     {}},
    {"no_variables",
     "template <class T> __device__ T a; struct S { static __device__ int b; }; __device__ int c(); "
     "constexpr __device__ int d = 1; __device__ float (*e)(int);",
     {"sizeof(e)"},
     {"sizeof(a)", "sizeof(b)", "sizeof(c)", "sizeof(d)"}},
    {"extern_c_function",
     "extern \"C\" __device__ int f() { return 1; }",
     {"extern \"C\" int f() {"},
     {"static"}},
    {"function_pointers",
     "__device__ float (*table[2])(float) = {f, g};",
     {"static __attribute__((unused)) float (*table[2])(float) = {f, g};"}},
    {"forceinline",
     "static __device__ __forceinline__ int f() { return 1; } inline __device__ __forceinline__ int g() { "
     "return 1; }",
     {"static inline __attribute__((always_inline)) int f()", " __attribute__((always_inline)) int g()"},
     {"inline inline", "inline static __attribute__((unused)) inline"}},
    {"noinline", "__device__ __noinline__ int f() { return 1; }", {"__attribute__((noinline)) int f()"}},
    {"align", "struct __align__(16) S { int x; };", {"struct __attribute__((aligned(16))) S {"}},
    {"constructor",
     "struct S { __device__ S() : a{1}, b(2) { while (f()) ; } int a, b; };",
     {"S() : a{1}, b(2) { for (; f(); ::simt::tick()) ; }"}},
    {"operators",
     "struct S { __device__ int operator()(int i) { while (i) ; return 1; } __device__ bool operator<(S) "
     "const; };",
     {"for (; i; ::simt::tick()) ;"}},
    {"pragmas",
     "#pragma unroll\n#pragma unroll (N / 2)\n#pragma nv_diag_suppress 177\n#pragma omp parallel\nint x;",
     {"#pragma omp parallel int x;"},
     {"unroll", "nv_diag"}},
};
INSTANTIATE_TEST_SUITE_P(Declarations, Translate, testing::ValuesIn(kDeclarations), name_of);

const Case kLaunches[] = {
    {"plain", "void f() { k<<<g, 256>>>(a, b); }", {"(::simt::push_config( g, 256), k (a, b));"}},
    {"four_arguments",
     "void f() { k<<<g, b, n * sizeof(T), s>>>(); }",
     {"push_config( g, b, n * sizeof(T), s), k ())"}},
    {"apart",
     "void f() { k << < g, b >> > (x); k< < <g, A<B<int>>::n> > >(x); }",
     {"(::simt::push_config( g, b), k (x));", "(::simt::push_config( g, A<B<int>>::n), k (x));"}},
    {"without_braces",
     "void f() { if (x) k<<<1, 2>>>(); else j<<<1, 2>>>(); }",
     {"if (x) (::simt::push_config( 1, 2), k ()); else (::simt::push_config( 1, 2), j ());"}},
    {"template_and_namespace",
     "void f() { return ::a::b<int>::template k<A<B<3>>, (4 > 3)><<<1, 2>>>(x); }",
     {"return (::simt::push_config( 1, 2), ::a::b<int>::template k<A<B<3>>, (4 > 3)> (x));"}},
    {"closing_brackets",
     "void f() { k<A<B<int>>><<<1, C<A<B<int>>>::n>>>(x); }",
     {"(::simt::push_config( 1, C<A<B<int>>>::n), k<A<B<int>>> (x));"}},
    {"comparison_and_shift",
     "void f() { k<<<n < m ? 1 : n >> 5, 2>>>(x); }",
     {"(::simt::push_config( n < m ? 1 : n >> 5, 2), k (x));"}},
    {"comparison_alone",
     "void f() { k<<<a < b ? a : b, 32>>>(x); j<<<1, a<b>>>(y), i<<<2, n<m && m<o && o<p, c>>>(); }",
     {"push_config( a < b ? a : b, 32), k (x));", "push_config( 1, a<b), j (y)), (::simt::push_config",
      "push_config( 2, n<m && m<o && o<p, c), i ());"}},
    {"comparisons_around_a_comma",
     "void f() { k<<<a < b ? 1 : 2, c > d ? 32 : 64>>>(x); }",
     {"push_config( a < b ? 1 : 2, c > d ? 32 : 64), k (x));"}},
    {"template_call_in_the_configuration",
     "void f() { k<<<g<A<B<int>>>(x), 32>>>(y); }",
     {"push_config( g<A<B<int>>>(x), 32), k (y));"}},
    {"pointers",
     "void f() { p[i]<<<1, 2>>>(); (*p)<<<1, 2>>>(); s.p->k<<<1, 2>>>(); get(1)<<<1, 2>>>(); }",
     {", p[i] ());", ", (*p) ());", ", s.p->k ());", ", get(1) ());"}},
    {"in_a_lambda", "auto f = [&](auto c) { k<decltype(c)><<<1, 2>>>(c); };", {"), k<decltype(c)> (c));"}},
    {"kernel_casts",
     "void f() { cudaLaunchKernel((void*)k<int>, g, b, a, 0, 0); cudaFuncSetAttribute((const void *)k, x, y);"
     "cudaFuncGetAttributes(&a, reinterpret_cast<const void*>(&k)); g((void*)k); }",
     {"cudaLaunchKernel( k<int>, g", "cudaFuncSetAttribute( k, x", "cudaFuncGetAttributes(&a, (&k))",
      "g((void*)k)"}},
    {"kernels_as_void_pointers",
     "template <class T> __global__ void k(T); int x; void f() { void* a = (void*)k<int>; b.func = (const "
     "void "
     "*)&n::k<A<B>>; void* c[] = {reinterpret_cast<void*>(::k<int>), (void*)(k<int>)}; "
     "cudaLaunchKernel((void*)k<int>, "
     "g, b, 0); void* d = (void*)x; void* e = (void*)k<int>(1); void** f = (void**)k; }",
     {"= (void*) ::simt::kernel_pointer( k<int> );", "(const void *) ::simt::kernel_pointer( &n::k<A<B>> );",
      "reinterpret_cast<void*>( ::simt::kernel_pointer( ::k<int> ))",
      "(void*)( ::simt::kernel_pointer( k<int> ))", "cudaLaunchKernel( k<int>,", "(void*)x;",
      "(void*)k<int>(1);", "(void**)k;"}},
};
INSTANTIATE_TEST_SUITE_P(Launches, Translate, testing::ValuesIn(kLaunches), name_of);

const Case kShared[] = {
    {"array",
     "__global__ void k() { __shared__ float s[4][5]; s[0][0] = 1; }",
     {"[[maybe_unused]] typedef float simt_T0_s [4][5]; struct simt_S0_s { simt_T0_s value; }; "
      "[[maybe_unused]] "
      "simt_T0_s& s = ::simt::shared_variable<simt_S0_s>(\"s\").value; s[0][0] = 1;"}},
    {"several",
     "template <class T> __device__ void f() { static __shared__ T a[2], *b, c; }",
     {"typedef T simt_T0_a [2], * simt_T0_b , simt_T0_c ;", "simt_T0_b& b = ", "simt_T0_c& c = "},
     {"__shared__"}},
    {"aligned",
     "__global__ void k() { __shared__ alignas(64) S s; __align__(16) __shared__ char c[8]; }",
     {"typedef S simt_T0_s ;", "{ alignas(64) simt_T0_s value; }", "{ alignas(16) simt_T1_c value; }"}},
    {"dependent_type",
     "template <class T> __global__ void k() { __shared__ typename X<T, 2>::Storage s; }",
     {"typedef typename X<T, 2>::Storage simt_T0_s ;"}},
    {"class_in_place",
     "__global__ void k() { __shared__ struct __align__(8) P { int a; } p[2]; }",
     {"typedef struct __attribute__((aligned(8))) P { int a; } simt_T0_p [2];"}},
    {"pointer_to_array",
     "__global__ void k() { __shared__ float (*row)[4]; }",
     {"typedef float (* simt_T0_row )[4];"}},
    {"dynamic",
     "__global__ void k() { extern __shared__ __align__(128) float d[]; }",
     {"typedef float simt_T0_d [];", "simt_T0_d& d = *static_cast<simt_T0_d*>(::simt::dynamic_shared("}},
    {"at_namespace_scope",
     "__shared__ int s[4]; __device__ int f(int i) { return s[i]; } int g(int s) { return s; }",
     {"struct simt_S0_s { simt_T0_s value; };",
      "f(int i) { [[maybe_unused]] simt_T0_s& s = ::simt::shared_variable<simt_S0_s>(\"s\").value; { return "
      "s[i]; } }",
      "g(int s) { return s; }"}},
    {"at_namespace_scope_in_a_kernel",
     "extern __shared__ int s[]; __global__ void k() { s[0] = 1; }",
     {"mutable { [[maybe_unused]] simt_T0_s& s = ", "{ s[0] = 1; } }); }"}},
    {"in_lambdas",
     "__global__ void k() { __shared__ int s[4]; auto v = [=] { return s[0]; }; auto r = [&] { return s[0]; "
     "}; }",
     {"[=] { [[maybe_unused]] simt_T0_s& s = ::simt::shared_variable<simt_S0_s>(\"s\").value; { return s[0]; "
      "} };",
      "[&] { return s[0]; };"}},
};
INSTANTIATE_TEST_SUITE_P(Shared, Translate, testing::ValuesIn(kShared), name_of);

const Case kDeviceCode[] = {
    {"while_loop",
     "__device__ void f() { while (int x = g()) h(x); }",
     {"for (; int x = g(); ::simt::tick()) h(x);"}},
    {"do_loop",
     "__device__ void f() { do { while (a) ; } while (b); do if (x) y(); else z(); while (c); }",
     {"for (; a; ::simt::tick()) ; } while (::simt::tick() && (b));", "while (::simt::tick() && (c));"}},
    {"endless_for",
     "__device__ void f() { for (;;) { } for (int i = 0; i < 3;) { } }",
     {"for (;; ::simt::tick())", "for (int i = 0; i < 3; ::simt::tick())"}},
    {"waiting_for",
     "__device__ void f() { for (int v = *p; v != 1; v = *p) { } for (int i = 0; !*p; ++i) { } }",
     {"v != 1; v = *p, ::simt::tick())", "!*p; ++i, ::simt::tick())"}},
    {"counted_for",
     "__device__ void f() { for (int i = n; i > 0; i /= 2) { } for (int i = 0; i < n; ++i) { } for (auto& x "
     ": v) { } }",
     {"i /= 2)", "++i)", "x : v)"},
     {"tick"}},
    {"host_loops", "void f() { while (a) ; do { } while (b); for (;;) ; }", {}, {"tick"}},
    {"constant_functions", "__device__ constexpr int f(int n) { while (n) --n; return n; }", {}, {"tick"}},
    {"goto_loop", "__device__ void f() { again: if (x) goto again; }", {"{ ::simt::tick(); goto again; }"}},
    {"device_lambdas",
     "void f() { run([=] __device__ (int i) { while (i) ; }); run([=](int i) { while (i) ; }); }",
     {"[=] (int i) { for (; i; ::simt::tick()) ; }", "[=](int i) { while (i) ; }"}},
    {"functors",
     "void f() { struct S { __device__ void g() { while (a) ; } }; while (b) ; }",
     {"for (; a; ::simt::tick())", "while (b) ;"}},
    {"ptx",
     "__device__ void f() { asm volatile(\"add %0, %1;\" \"\\n\" : \"=r\"(x), \"+f\"(y[1]) : \"r\"(z) : "
     "\"memory\"); }",
     {"::simt::ptx(\"add %0, %1;\" \"\\n\" , { {\"=r\", (x)}, {\"+f\", (y[1])} }, { {\"r\", (z)} });"}},
    {"ptx_without_outputs",
     "__device__ void f() { asm(\"bar %0;\" :: \"r\"(z)); asm volatile(\"exit;\"); }",
     {"::simt::ptx(\"bar %0;\" , {}, { {\"r\", (z)}});", "::simt::ptx(\"exit;\", {}, {});"}},
    {"ptx_without_comma",
     "__device__ void f() { asm(\"x\" :: \"r\"(a) \"l\"(b)); }",
     {"::simt::ptx(\"x\", {}, {{\"r\", (a)}, {\"l\", (b)}});"}},
    {"clocks",
     "__device__ long f() { return clock() - ::clock() + std::clock() + s.clock() + clock(1); } long g() { "
     "return "
     "clock(); }",
     {"return ::simt::device_clock() - ::simt::device_clock() + std::clock() + s.clock() + clock(1);",
      "g() { return clock(); }"}},
    {"empty_asm",
     "__device__ void f() { asm volatile(\"\" ::: \"memory\"); }",
     {"asm volatile(\"\" ::: \"memory\");"}},
    {"host_asm", "void f() { asm volatile(\"nop\"); }", {"asm volatile(\"nop\");"}},
};
INSTANTIATE_TEST_SUITE_P(DeviceCode, Translate, testing::ValuesIn(kDeviceCode), name_of);

TEST(Translation, LeavesPlainCodeAndSystemHeadersAlone) {
  const std::string text =
      std::string(kSystemHeader) + "int main() {\n  int x[3] = {1, 2, 3};\n  return x[1] >> 1;\n}\n";
  EXPECT_EQ(simtcc::translate(text), text);
}

TEST(Translation, MakesAKernelOneFunction) {
  const std::string code =
      std::string(kSystemHeader) +
      "__device__ __noinline__ int f() { return 1; }\n__global__ void k(int* p) { *p = f(); }\n";
  simtcc::Options inlined;
  inlined.inlined = true;
  const std::string out = flat(simtcc::translate(code, inlined));
  EXPECT_TRUE(has(out, "[=]() mutable __attribute__((flatten)) {")) << out;
  EXPECT_FALSE(has(out, "noinline")) << out;
  EXPECT_FALSE(has(flat(simtcc::translate(code)), "flatten"));
}

TEST(Translation, ComparesIndicesOfReferencesInCheckedBuilds) {
  const auto checked = [](const std::string& code) {
    simtcc::Options options;
    options.checked = true;
    return flat(simtcc::translate(kSystemHeader + code + "\n", options));
  };
  const auto unchanged = [&](const std::string& code) {
    const std::string out = checked(code);
    EXPECT_FALSE(has(out, "_index") || has(out, "AddressOnly")) << out;
  };
  for (const char* head : {"__device__ T& f(int i)", "__device__ const T& A<T>::f(int i) const",
                           "__device__ auto f(int i) -> T&", "__device__ T& operator[](int i)"}) {
    const std::string out = checked(head + std::string(" { return this->a.b[i]; }"));
    EXPECT_TRUE(has(out, "return this->a.b[::simt::element_index<decltype((this->a.b))>( i)];")) << out;
  }
  EXPECT_TRUE(has(checked("__device__ void f() { auto& x = a[1][i]; }"), "a[1][::simt::element_index<"));
  EXPECT_TRUE(has(checked("__device__ void f() { g(&a[n], 1); }"), "g( (::simt::AddressOnly(), &a[n]), 1)"));
  EXPECT_TRUE(has(checked("__device__ void f() { a.b[i] = x; }"),
                  "a.b[::simt::object_index<decltype((a.b))>( i)] = x;"));
  EXPECT_TRUE(has(checked("__device__ void f() { if (y) a[i] = x; }"), "a[::simt::object_index<"));
  EXPECT_TRUE(has(checked("__device__ void f() { T x = a[0][i]; }"), "= a[0][::simt::object_index<"));
  unchanged("void f() { a[i] = x; }");
  unchanged("__device__ void f() { T a[4] = {}; T* b[4] = {}; auto [x] = y; }");
  unchanged("__device__ void f() { a[i] += x; a[i].b = x; x = a[i] + 1; x == a[i]; }");
  unchanged("T& f(int i) { return a[i]; }");
  unchanged("__device__ T f(int i) { return a[i]; } __device__ T* g(int i) { return a[i]; }");
  unchanged("__device__ T& f(int i) { return a[i].x; } __device__ T& g(int i) { return *a[i]; }");
  unchanged("__device__ T& f(int i) { return a[{1, 2}]; } __device__ T& g() { return f(1)[2]; }");
  unchanged("__device__ void f() { x = y & a[i]; g<&a[0]>(); &a[i](1); (T)&a[i]; }");
}

// g++ marks what a system header's macro expanded to as system text, in the midst of the user's line.
std::string checked_host_code(const std::string& code) {
  simtcc::Options options;
  options.checked = true;
  return flat(simtcc::translate(kSystemHeader + code + "\n", options));
}

TEST(Translation, WritesLoopsOfHostMemoryTwice) {
  const std::string out = checked_host_code(
      "bool f(const float* a, std::vector<int>& v, M m, int n) { float sum = 0; for (int i = 0; i < n; ++i) "
      "{ "
      "if (a[i] < 0) return false; sum += a[i] * m.data[v[i]]; } return true; }");
  EXPECT_TRUE(
      has(out,
          "{ if (!(true && ::simt::host_loop::stays_home<1>(a) && "
          "::simt::host_loop::stays_home<1>(m.data) && ::simt::host_loop::stays_home<0>(n) && "
          "::simt::host_loop::stays_home<0>(sum) && ::simt::host_loop::stays_home<1>(v))) { "
          "for (int i = 0; i < n; ++i) { if (a[i] < 0) return false; sum += a[i] * m.data[v[i]]; } } else {"))
      << out;
  EXPECT_TRUE(
      has(out, "if (simt_0_0i[i] < 0) return 1; simt_0_4i += simt_0_0i[i] * simt_0_1i[simt_0_2i[i]]; }"))
      << out;
  EXPECT_TRUE(has(out, "give_back(sum, simt_0_4); if (simt_left == 1) return false; } }")) << out;
  for (const char* loop :
       {"for (float& x : v) x = 1;", "while (n > 0) { --n; p[n] = std::fabs(p[n]); }",
        "for (int i = 0, j = n; i < j; ++i, --j) { const float* row = p + i * n; sum += row[j]; }",
        "for (unsigned i = 0; i < v.size(); ++i) { float acc[4] = {}; acc[i % 4] = v[i]; sum += acc[0]; }",
        "for (int i = 0; i < n; ++i) { printf(\"%g\", p[i]); sum += half_of(p[i]); switch (i) { case 1: "
        "break; } }"}) {
    const std::string text = checked_host_code(
        "float half_of(float x) { return x / 2; } void f(std::vector<float>& v, float* p, int n) { float sum "
        "= 0; " +
        std::string(loop) + " }");
    EXPECT_TRUE(has(text, "stays_home")) << text;
  }
}

// Where something else may be touched, or the language forbids it.
TEST(Translation, LeavesOtherLoopsOfTheHostAsTheyAre) {
  for (const char* loop : {"for (int i = 0; i < n; ++i) *p++ = 1;",
                           "for (int i = 0; i < n; ++i) s->x[i] = 1;",
                           "for (int i = 0; i < n; ++i) p[i] = unknown(i);",
                           "for (int i = 0; i < n; ++i) p[i] = pick(p);",
                           "for (int i = 0; i < n; ++i) { p = q; p[i] = 1; }",
                           "for (int i = 0; i < n; ++i) { p += 4; p[i] = 1; }",
                           "for (int i = 0; i < n; ++i) { float* r = q[i]; r[0] = 1; }",
                           "for (auto x : v) sum += x.data[0];",
                           "for (int i = 0; i < n; ++i) k<<<1, 32>>>(p);",
                           "for (int i = 0; i < n; ++i) sum += w[i].data[0];",
                           "for (int i = 0; i < n; ++i) { auto g = [&] { return p[i]; }; sum += g(); }",
                           "for (int i = 0; i < n; ++i) sum += *(p + i);",
                           "for (int i = 0; i < n; ++i) sum += (&p[0])[i];",
                           "for (int i = 0; i < n; ++i) sum += ((float*)q)[i];",
                           "for (;;) { if (p[0] > 0) return; }",
                           "for (int i = 0; i < n; ++i) { Rows<float> rows(n); rows[i] = 1; }",
                           "for (int i = 0; i < n; ++i) v.push_back(p[i]);",
                           "for (int i = 0; i < n; ++i) if (p[i] > 0) return sum;",
                           "\n#pragma omp parallel for\nfor (int i = 0; i < n; ++i) p[i] = 1;",
                           "auto [a, b] = pair(); for (int i = 0; i < n; ++i) p[i] = a;",
                           "float x[n]; for (int i = 0; i < n; ++i) x[i] = 1;"}) {
    const std::string code =
        "float pick(float* p) { return p[0]; } float f(std::vector<M>& v, M* w, float* p, S* s, float** q, "
        "int n) { "
        "float sum = 0; " +
        std::string(loop) + " }";
    const std::string text = checked_host_code(code);
    EXPECT_FALSE(has(text, "stays_home")) << text;
  }
  EXPECT_FALSE(
      has(checked_host_code("struct A { float* p; void f() { for (int i = 0; i < 4; ++i) p[i] = 1; } };"),
          "stays_home"));
  EXPECT_FALSE(has(checked_host_code("__device__ void f(float* p) { for (int i = 0; i < 4; ++i) p[i] = 1; }"),
                   "stays_home"));
  EXPECT_FALSE(has(translate("void f(float* p) { for (int i = 0; i < 4; ++i) p[i] = 1; }"), "stays_home"));
}

TEST(Translation, ReadsWhatSystemMacrosExpandedTo) {
  const std::string out = flat(translate(
      "__device__ void f() {\n  g(\n# 2 \"f.cu\" 3 4\n   __null)\n# 2 \"f.cu\"\n  ; while (a) ; }"));
  EXPECT_TRUE(has(out, "__null); for (; a; ::simt::tick())")) << out;
}

// Every word that stays must keep its line and column: find it again by counting as a compiler does.
std::string place_of(const std::string& text, const std::string& word) {
  std::istringstream lines(text);
  std::string line, file;
  long number = 0;
  for (; std::getline(lines, line); ++number) {
    if (line.size() > 2 && line[0] == '#' && line[1] == ' ') {
      number = std::stol(line.substr(2)) - 1;
      continue;
    }
    const auto column = line.find(word);
    if (column != std::string::npos) return std::to_string(number) + ":" + std::to_string(column);
  }
  return "nowhere";
}

TEST(Translation, KeepsLinesAndColumns) {
  const std::string code =
      "__global__ void k(int* first,\n                  int n) {\n  __shared__ float s[4],\n      t[5]; "
      "here_1();\n"
      "  while (cond) { here_2(); }\n}\n"
      "int main() {\n  k<<<here_3(),\n      here_4,\n      0>>>(here_5,\n           1); here_6();\n"
      "  if (x) k<<<1, here_7>>>(here_8);\n  return here_9;\n}\n";
  const std::string before = kSystemHeader + code, after = simtcc::translate(before);
  for (const char* word : {"first", "n) {", "here_1", "cond", "here_2", "here_3", "here_4", "here_5",
                           "here_6", "here_7", "here_8", "here_9"}) {
    EXPECT_EQ(place_of(after, word), place_of(before, word)) << word << " in\n" << after;
  }
}

struct Refusal {
  const char* code;
  const char* message;
};
class Refuses : public testing::TestWithParam<Refusal> {};

TEST_P(Refuses, WithThePlace) {
  try {
    translate(std::string("\n") + GetParam().code);
    FAIL() << "was translated";
  } catch (const Error& e) {
    EXPECT_EQ(std::string(e.what()), std::string("f.cu:2: error: ") + GetParam().message);
  }
}
const Refusal kRefusals[] = {
    {"void f() { k<<<1>>>(2); }",
     "a launch needs <<<grid, block>>>, then perhaps the bytes of shared memory and a stream"},
    {"void f() { k<<<1, 2>>>; }", "cannot read this launch: expected kernel<<<grid, block>>>(arguments)"},
    {"void f() { = <<<1, 2>>>(3); }", "cannot find the kernel of this launch"},
    {"__global__ void k() { __shared__ int x = 3; }", "a __shared__ variable cannot have an initialiser"},
    {"__global__ void k() { __shared__ int x{3}; }", "a __shared__ variable cannot have an initialiser"},
    {"void f() { __shared__ int x[3]; }",
     "__shared__ in a function that is neither __global__ nor __device__"},
    {"struct S { __global__ void k() { } };", "a kernel that is a member of a class must be static"},
    {"__global__ __device__ void k() { }", "a function cannot be both __global__ and __device__"},
    {"__device__ void f() { asm(\"x\" : [a] \"=r\"(x)); }", "inline PTX has no named operands"},
    {"int f() { g(1; }", "'(' is never closed"},
    {"int f( { }", "'(' is never closed"},
    {"int f() { ] }", "']' without its '['"},
};
INSTANTIATE_TEST_SUITE_P(Translation, Refuses, testing::ValuesIn(kRefusals));

}  // namespace

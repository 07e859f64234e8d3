// SPDX-License-Identifier: MIT
//
// What a failed kernel prints: the error and its slug, the source line, kernel, block and thread.
#pragma once

#include <cstdarg>
#include <string>

#include "scheduler.h"

namespace simt {

/// "file.cu:17" of the code before a return address, "?" where it has no line information.
std::string place(const void* return_address);

/// As fail(), for a place that is not the caller.
[[noreturn]] void fail_at(const void* return_address, const char* slug, const char* format, ...)
    __attribute__((format(printf, 3, 4)));
/// Prints a report for the current thread (or the host program) without ending anything. `place` may be
/// empty.
void print_report(const char* slug, const std::string& place, const std::string& message);
void report_deadlock(Worker* w);
void check_time_limit();
void begin_time_limit();
std::string format_text(const char* format, va_list arguments);

void install_fault_handlers();  // once a process
void use_fault_stack();         // once an OS thread

}  // namespace simt

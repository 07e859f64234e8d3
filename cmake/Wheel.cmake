# SPDX-License-Identifier: MIT
# What `pip install .` builds (pyproject.toml): the package gpudays, whose operators of PyTorch are those that days declare in their
# op.py. Of each such day its shared library (common/library.h), and one library of all operators, gpudays/ops.cpp.

set(DAYS_WHEEL_DAYS "" CACHE STRING "The days whose operators are in the package, such as 01;14 (default: all that have an op.py)")
add_custom_target(gpudays)

# What add_day_library() makes, as a part of the package.
function(add_wheel_day folder)
  cmake_path(GET folder FILENAME name)
  string(REGEX MATCH "^day[0-9]+" day "${name}")
  add_day_library("${folder}")
  add_dependencies(gpudays lib${day})
  install(TARGETS lib${day} LIBRARY DESTINATION gpudays)
  install(FILES "${folder}/op.py" DESTINATION gpudays/days RENAME ${day}.py)
endfunction()

# PyTorch's headers and libraries, of the Python that builds the wheel.
execute_process(COMMAND "${Python3_EXECUTABLE}" -c "import torch; print(torch.__path__[0], end='')"
  OUTPUT_VARIABLE torch ERROR_VARIABLE said RESULT_VARIABLE failed)
if(failed)
  message(FATAL_ERROR "${Python3_EXECUTABLE} has no PyTorch, whose headers the operators need: pip install torch")
endif()
set(header "${torch}/include/torch/csrc/stable/library.h")
if(NOT EXISTS "${header}")
  message(FATAL_ERROR "The PyTorch in ${torch} is too old: its stable ABI for operators begins with version 2.10")
endif()
add_library(gpudays_ops SHARED "${DAYS_ROOT}/gpudays/ops.cpp")
target_link_libraries(gpudays_ops PRIVATE days_settings ${CMAKE_DL_LIBS})
target_include_directories(gpudays_ops SYSTEM PRIVATE "${torch}/include")
target_compile_definitions(gpudays_ops PRIVATE TORCH_TARGET_VERSION=0x020a000000000000)  # 2.10 and later
target_link_directories(gpudays_ops PRIVATE "${torch}/lib")
target_link_libraries(gpudays_ops PRIVATE torch_cpu c10)
# The process has these loaded by the time it loads this one; where they lie is PyTorch's matter.
set_target_properties(gpudays_ops PROPERTIES SKIP_BUILD_RPATH ON INSTALL_RPATH "")
add_dependencies(gpudays gpudays_ops)
install(TARGETS gpudays_ops LIBRARY DESTINATION gpudays)

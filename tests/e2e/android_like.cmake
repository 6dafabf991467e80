# A toolchain file in the form of the NDK's, for machines without one: it sets what that sets and makes of it what Debian's
# cross compiler takes. With an NDK, its own build/cmake/android.toolchain.cmake stands here.
if(NOT ANDROID_ABI STREQUAL "arm64-v8a")
  message(FATAL_ERROR "ANDROID_ABI is '${ANDROID_ABI}'; allowed: arm64-v8a")
endif()
set(ANDROID TRUE)
set(CMAKE_ANDROID_ARCH_ABI "${ANDROID_ABI}")
list(APPEND CMAKE_TRY_COMPILE_PLATFORM_VARIABLES ANDROID_ABI ANDROID_PLATFORM)
include("${CMAKE_CURRENT_LIST_DIR}/../../runtime/cmake/aarch64-linux-gnu.cmake")
set(CMAKE_POSITION_INDEPENDENT_CODE TRUE)
# As the NDK has them: hardened, stripped of what nobody calls, for pages of 4 to 16 KiB.
set(CMAKE_C_FLAGS_INIT "-fstack-protector-strong -ffunction-sections -fdata-sections -D_FORTIFY_SOURCE=2 -Wformat")
set(CMAKE_CXX_FLAGS_INIT "${CMAKE_C_FLAGS_INIT}")
set(CMAKE_SHARED_LINKER_FLAGS_INIT "-Wl,--build-id=sha1 -Wl,-z,noexecstack -Wl,-z,relro -Wl,-z,now -Wl,-z,max-page-size=16384")

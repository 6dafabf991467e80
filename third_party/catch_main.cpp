// The main function of every Catch2 test, compiled once.
#define CATCH_CONFIG_MAIN
#include "catch2/catch.hpp"

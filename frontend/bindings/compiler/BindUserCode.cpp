//===- BindUserCode.cpp - The user's line and module in Python ------------===//

#include "frontend/bindings/compiler/Bindings.h"
#include "frontend/bindings/compiler/UserCode.h"

namespace ferrule::frontend::python {

void bindUserCode(py::module_ &module) {
  module.def(
      "set_internal_code", [](const py::object &isInternal) { setInternalCode(isInternal.ptr()); },
      py::arg("is_internal"), "A callable that says whether the frames of a code object are not the user's.");
  module.def(
      "user_location",
      [] { return py::reinterpret_borrow<py::object>(getUserLine().text); },
      "``\"file.py:12\"`` of the innermost frame that is the user's, ``\"\"`` when there is none.");
  module.def("push_module", pushModule, py::arg("name"), "Enters the call of the module ``name``.");
  module.def("pop_module", popModule, "Leaves the innermost module call.");
  module.def("module_path", getModulePath,
             "The modules being called, outermost first, as ``\"net.block1.conv\"``; ``\"\"`` outside any.");
}

} // namespace ferrule::frontend::python

//===- Diagnostics.h - What MLIR says, as text for an error ---------------===//
#ifndef FERRULE_FRONTEND_CORE_DIAGNOSTICS_H
#define FERRULE_FRONTEND_CORE_DIAGNOSTICS_H

#include "mlir/IR/Diagnostics.h"

#include <string>

namespace ferrule::frontend {

/// While it lives, errors go into `text` and nothing reaches the terminal.
class DiagnosticText {
public:
  explicit DiagnosticText(mlir::MLIRContext *context)
      : location(mlir::UnknownLoc::get(context)), handler(context, [this](mlir::Diagnostic &diagnostic) {
          if (text.empty())
            location = diagnostic.getLocation();
          else
            text += "; ";
          text += diagnostic.str();
          return mlir::success();
        }) {}

  std::string text;
  mlir::Location location; ///< Of the first error.

private:
  mlir::ScopedDiagnosticHandler handler;
};

} // namespace ferrule::frontend

#endif // FERRULE_FRONTEND_CORE_DIAGNOSTICS_H

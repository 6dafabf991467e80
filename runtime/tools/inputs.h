// The inputs of an entry: out of files, or made up.
#ifndef FERRULE_RUNTIME_TOOLS_INPUTS_H_
#define FERRULE_RUNTIME_TOOLS_INPUTS_H_

#include <list>
#include <string>
#include <vector>

#include "runtime/api/ferrule.hpp"
#include "runtime/tools/options.h"
#include "runtime/tools/tensor_files.h"

namespace ferrule::tools {

class Inputs {
 public:
  // Those that --inputs and --input name. Empty when every input has its values, else a sentence.
  std::string read(const Program& program, uint32_t entry, const Options& options);
  // The same, but what no file gives is made up: of the sizes that --size DIM=N says (a dim's least otherwise), seeded
  // numbers in [-1, 1) for float32 and float64, zeros for the rest.
  std::string read_or_make(const Program& program, uint32_t entry, const Options& options);

  // In the entry's order, as long as this object lives.
  const std::vector<TensorView>& views() const { return views_; }

 private:
  std::string read_files(const Program& program, uint32_t entry, const Options& options);
  std::string read_single(const Program& program, uint32_t entry, const std::string& argument);

  std::list<TensorFile> files_;  // a list, because opened files do not move
  std::vector<const FileTensor*> tensors_;
  std::list<Tensor> made_;
  std::vector<TensorView> views_;
};

}  // namespace ferrule::tools

#endif  // FERRULE_RUNTIME_TOOLS_INPUTS_H_

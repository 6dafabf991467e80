#include <array>
#include <optional>

#include "frontend/bindings/runtime/Arrays.h"
#include "frontend/bindings/runtime/Classes.h"
#include "frontend/bindings/runtime/Errors.h"
#include "serialize/dump/dump.h"
#include "serialize/slice/slice.h"

#include <pybind11/stl.h>

namespace py = pybind11;

namespace ferrule::python {
namespace {

using Sha256 = std::array<uint8_t, 32>;

int hexDigit(char letter) {
  if (letter >= '0' && letter <= '9')
    return letter - '0';
  if (letter >= 'a' && letter <= 'f')
    return letter - 'a' + 10;
  if (letter >= 'A' && letter <= 'F')
    return letter - 'A' + 10;
  return -1;
}

// 32 bytes, or 64 hex digits.
Sha256 parseSha256(const py::object &value) {
  Sha256 hash{};
  if (py::isinstance<py::bytes>(value)) {
    const std::string bytes = value.cast<std::string>();
    if (bytes.size() != hash.size())
      throw py::value_error("expected_sha256 must have 32 bytes or 64 hex digits");
    std::copy(bytes.begin(), bytes.end(), hash.begin());
    return hash;
  }
  const std::string text = value.cast<std::string>();
  bool ok = text.size() == 2 * hash.size();
  for (size_t i = 0; ok && i < hash.size(); ++i) {
    const int high = hexDigit(text[2 * i]), low = hexDigit(text[2 * i + 1]);
    ok = high >= 0 && low >= 0;
    hash[i] = static_cast<uint8_t>(high * 16 + low);
  }
  if (!ok)
    throw py::value_error("expected_sha256 must have 32 bytes or 64 hex digits");
  return hash;
}

std::string toHex(const uint8_t *bytes, size_t count) {
  static constexpr char digits[] = "0123456789abcdef";
  std::string text;
  for (size_t i = 0; i < count; ++i)
    text += {digits[bytes[i] >> 4], digits[bytes[i] & 15]};
  return text;
}

Program open(const py::object &source, const std::string &verify, const py::object &expectedSha256,
             const py::iterable &kernels, const std::optional<py::function> &decrypt) {
  if (verify != "structure" && verify != "all")
    throw py::value_error("verify is '" + verify + "'; allowed are 'structure' and 'all'");
  Program::Options options;
  options.kernels = kernelTable(kernels);
  options.verify = verify == "all" ? kFerruleVerifyAll : kFerruleVerifyStructure;
  Sha256 hash;
  if (!expectedSha256.is_none()) {
    hash = parseSha256(expectedSha256);
    options.expected_sha256 = hash.data();
  }
  Decryption decryption;
  if (decrypt) {
    decryption.function = *decrypt;
    options.decrypt = Decryption::call;
    options.decrypt_context = &decryption;
  }
  Result<Program> program = [&] {
    if (py::isinstance<py::bytes>(source)) {
      const auto bytes = source.cast<std::string_view>();
      return Program::open_bytes(bytes.data(), bytes.size(), options);
    }
    const std::string path = py::module_::import("os").attr("fsdecode")(source).cast<std::string>();
    return Program::open(path, options);
  }();
  if (decryption.raised)
    std::rethrow_exception(decryption.raised);
  check(program.status(), Action::File);
  return std::move(*program);
}

py::dict tensorDict(const FerruleTensorInfo &tensor) {
  py::dict result;
  result["name"] = tensor.name;
  result["dtype"] = dtypeName(tensor.dtype);
  result["shape"] = shapeTuple(tensor.shape, tensor.rank);
  result["shape_text"] = tensor.shape_text;
  return result;
}

py::dict dimDict(const FerruleDimInfo &dim) {
  py::dict result;
  result["name"] = dim.name;
  result["min"] = dim.min;
  result["max"] = dim.max == INT64_MAX ? py::object(py::none()) : py::object(py::int_(dim.max));
  result["multiple_of"] = dim.multiple_of;
  return result;
}

py::dict entryDict(const Program &program, uint32_t index) {
  const FerruleEntryInfo entry = program.entry(index);
  py::list inputs, outputs, dims;
  for (uint32_t i = 0; i < entry.input_count; ++i)
    inputs.append(tensorDict(program.input(index, i)));
  for (uint32_t i = 0; i < entry.output_count; ++i)
    outputs.append(tensorDict(program.output(index, i)));
  for (uint32_t i = 0; i < entry.dim_count; ++i)
    dims.append(dimDict(program.dim(index, i)));
  py::dict result;
  result["name"] = entry.name;
  result["signature"] = entry.signature;
  result["inputs"] = inputs;
  result["outputs"] = outputs;
  result["dims"] = dims;
  result["assigned_count"] = entry.assigned_count;
  result["peak_bytes"] = entry.peak_bytes;
  result["lower_bound_bytes"] = entry.lower_bound_bytes;
  result["naive_bytes"] = entry.naive_bytes;
  return result;
}

py::dict variableDict(const FerruleVariableInfo &variable) {
  py::list aliases;
  for (uint32_t i = 0; i < variable.alias_count; ++i)
    aliases.append(variable.aliases[i]);
  py::dict result;
  result["name"] = variable.name;
  result["role"] = variable.role;
  result["dtype"] = dtypeName(variable.dtype);
  result["shape"] = shapeTuple(variable.shape, variable.rank);
  result["byte_size"] = variable.byte_size;
  result["trainable"] = variable.trainable != 0;
  result["assigned"] = variable.assigned != 0;
  result["aliases"] = aliases;
  return result;
}

py::dict infoDict(const Program &program) {
  const FerruleProgramInfo info = program.info();
  py::list targets;
  for (uint32_t t = 0; t < info.target_count; ++t) {
    const FerruleTargetInfo target = program.target(t);
    py::dict item;
    item["name"] = target.name;
    item["code_bytes"] = target.code_bytes;
    item["supported"] = target.supported != 0;
    targets.append(item);
  }
  py::dict result;
  result["producer"] = info.producer;
  result["root_sha256"] = toHex(info.root_sha256, sizeof(info.root_sha256));
  result["arena_bytes"] = info.arena_bytes;
  result["scratch_bytes"] = info.scratch_bytes;
  result["file_bytes"] = info.file_bytes;
  result["weight_bytes"] = info.weight_bytes;
  result["code_bytes"] = info.code_bytes;
  result["weights_key_name"] = info.weights_key_name == nullptr ? py::object(py::none()) : py::str(info.weights_key_name);
  result["targets"] = targets;
  return result;
}

py::bytes slice(const py::bytes &artifact, std::vector<std::string> targets, std::vector<std::string> entries,
                bool debug) {
  const auto bytes = artifact.cast<std::string_view>();
  std::vector<uint8_t> sliced;
  std::string error;
  if (!serialize::slice_artifact(reinterpret_cast<const uint8_t *>(bytes.data()), bytes.size(),
                                 {std::move(targets), std::move(entries), debug}, &sliced, &error))
    raise("ArtifactError", error);
  return py::bytes(reinterpret_cast<const char *>(sliced.data()), sliced.size());
}

std::string dump(const py::bytes &artifact, bool memory, bool instructions) {
  const auto bytes = artifact.cast<std::string_view>();
  serialize::ArtifactContents contents;
  std::string error;
  if (!serialize::read_artifact(reinterpret_cast<const uint8_t *>(bytes.data()), bytes.size(), &contents, &error))
    raise("ArtifactError", error);
  serialize::DumpOptions options;
  options.memory = memory;
  options.instructions = instructions;
  return serialize::dump_json(contents, options);
}

py::tuple checkRuntime(const py::bytes &artifact, uint32_t version) {
  const auto bytes = artifact.cast<std::string_view>();
  serialize::ArtifactContents contents;
  std::string error;
  if (!serialize::read_artifact(reinterpret_cast<const uint8_t *>(bytes.data()), bytes.size(), &contents, &error))
    raise("ArtifactError", error);
  bool runs = false;
  const std::string sentence = serialize::check_runtime(contents, version, &runs);
  return py::make_tuple(runs, sentence);
}

} // namespace

void bindProgram(py::module_ &module) {
  module.def("slice_artifact", &slice, py::arg("artifact"), py::arg("targets"), py::arg("entries"), py::arg("debug"),
             "The artifact's bytes without other targets, other entries (empty lists keep all), or the debug segment.");
  module.def("check_runtime", &checkRuntime, py::arg("artifact"), py::arg("version"),
             "Whether the artifact's bytes run on a runtime that reads format versions up to `version`, and a sentence that "
             "says what it lacks.");
  module.attr("FORMAT_VERSION") = ferrule_format_version();
  module.def("dump_artifact", &dump, py::arg("artifact"), py::arg("memory") = false, py::arg("instructions") = false,
             "What the artifact's bytes hold as JSON text; docs/format.md lists the keys.");
  py::class_<Program>(module, "Program",
                      "An opened artifact: Program(path or bytes, verify, expected_sha256, kernels, decrypt).")
      .def(py::init(&open), py::arg("source"), py::arg("verify") = "structure", py::arg("expected_sha256") = py::none(),
           py::arg("kernels") = py::tuple(), py::arg("decrypt") = py::none(), py::keep_alive<1, 5>())
      .def("info", &infoDict, "Sizes in bytes, the targets, the producer and the root hash.")
      .def("entries",
           [](const Program &program) {
             py::list result;
             for (uint32_t e = 0; e < program.info().entry_count; ++e)
               result.append(entryDict(program, e));
             return result;
           })
      .def("variables", [](const Program &program) {
        py::list result;
        for (uint32_t v = 0; v < program.info().variable_count; ++v)
          result.append(variableDict(program.variable(v)));
        return result;
      });
}

} // namespace ferrule::python

#include <memory>
#include <mutex>
#include <vector>

#include "frontend/bindings/runtime/arrays.h"
#include "frontend/bindings/runtime/classes.h"
#include "frontend/bindings/runtime/errors.h"

namespace py = pybind11;

namespace ferrule::python {
namespace {

// A session is used by one thread at a time; Python's threads meet at the mutex while the interpreter's lock is released.
class PySession {
 public:
  PySession(const Program& program, uint32_t threads, const py::object& target, const PySession* share)
      : program_(program) {
    Session::Options options;
    const std::string name = target.is_none() ? "" : target.cast<std::string>();
    options.thread_count = threads;
    options.target = target.is_none() ? nullptr : name.c_str();
    options.share = share == nullptr ? nullptr : &*share->session_;
    Result<Session> session = Session::create(program, options);
    check(session.status(), Action::kRun);
    session_.emplace(std::move(*session));
  }

  py::list run(const std::string& entry, const py::object& inputs) {
    const std::vector<py::array> arrays = input_arrays(entry, inputs);
    std::vector<FerruleTensor> in;
    for (const py::array& array : arrays) in.push_back(tensor_of(array));
    const auto locked = lock();
    std::vector<FerruleTensor> out(output_count(entry));
    for (FerruleTensor& tensor : out) tensor.struct_size = sizeof(tensor);
    check(Status(ferrule_session_output_shapes(session_->c(), entry.c_str(), in.data(), size(in), out.data(), size(out))),
          Action::kRun);
    py::list results;
    for (FerruleTensor& tensor : out) {
      py::array array(to_numpy(tensor.dtype), std::vector<py::ssize_t>(tensor.shape, tensor.shape + tensor.rank));
      tensor.data = array.mutable_data();
      results.append(std::move(array));
    }
    Status status;
    {
      const py::gil_scoped_release release;
      status = Status(ferrule_session_run(session_->c(), entry.c_str(), in.data(), size(in), out.data(), size(out)));
    }
    check(status, Action::kRun);
    return results;
  }

  py::array get_variable(const std::string& name) {
    const FerruleVariableInfo info = variable(name);
    py::array array(to_numpy(info.dtype), std::vector<py::ssize_t>(info.shape, info.shape + info.rank));
    const auto locked = lock();
    check(session_->get_variable(name, array.mutable_data(), info.byte_size), Action::kRun);
    return array;
  }

  void set_variable(const std::string& name, const py::object& value) {
    const FerruleVariableInfo info = variable(name);
    const py::array array = contiguous(value);
    const FerruleTensor tensor = tensor_of(array);
    const py::tuple wanted = shape_tuple(info.shape, info.rank), given = shape_tuple(tensor.shape, tensor.rank);
    if (tensor.dtype.code != info.dtype.code || tensor.dtype.bits != info.dtype.bits || !wanted.equal(given))
      raise("ExecutionError", "variable '" + name + "' is " + dtype_name(info.dtype) + py::str(wanted).cast<std::string>() +
                                  ", but the value is " + py::str(array.dtype()).cast<std::string>() +
                                  py::str(given).cast<std::string>());
    const auto locked = lock();
    check(session_->set_variable(name, tensor.data, tensor.byte_size), Action::kRun);
  }

  void save_checkpoint(const py::object& path, const py::object& position) {
    FerruleTrainingPosition c{};
    if (!position.is_none()) {
      const py::dict given = position.cast<py::dict>();
      for (const auto& [key, value] : given) *field(c, key.cast<std::string>()) = value.cast<uint64_t>();
    }
    const std::string name = file_name(path);
    const auto locked = lock();
    Status status;
    {
      const py::gil_scoped_release release;
      status = session_->save_checkpoint(name, c);
    }
    check(status, Action::kRun);
  }

  py::dict load_checkpoint(const py::object& path) {
    FerruleTrainingPosition position{};
    const std::string name = file_name(path);
    const auto locked = lock();
    Status status;
    {
      const py::gil_scoped_release release;
      status = session_->load_checkpoint(name, &position);
    }
    check(status, Action::kFile);
    py::dict result;
    result["seed"] = position.seed;
    result["epoch"] = position.epoch;
    result["sample"] = position.sample;
    result["step"] = position.step;
    return result;
  }

  void reset() {
    const auto locked = lock();
    check(session_->reset(), Action::kRun);
  }

  void cancel() { session_->cancel(); }

  py::dict info() const {
    const FerruleSessionInfo info = session_->info();
    py::dict result;
    result["target"] = info.target;
    result["threads"] = info.thread_count;
    result["arena_bytes"] = info.arena_bytes;
    result["scratch_bytes"] = info.scratch_bytes;
    result["variable_bytes"] = info.variable_bytes;
    result["state_complete"] = info.state_complete != 0;
    return result;
  }

 private:
  static uint32_t size(const std::vector<FerruleTensor>& tensors) { return static_cast<uint32_t>(tensors.size()); }

  static std::string file_name(const py::object& path) {
    return py::module_::import("os").attr("fsdecode")(path).cast<std::string>();
  }

  static uint64_t* field(FerruleTrainingPosition& position, const std::string& name) {
    if (name == "seed") return &position.seed;
    if (name == "epoch") return &position.epoch;
    if (name == "sample") return &position.sample;
    if (name == "step") return &position.step;
    throw py::value_error("a position has no '" + name + "'; it has seed, epoch, sample, step");
  }

  // Never waits for the mutex with the interpreter's lock in hand: the thread that has the mutex may need it.
  std::unique_lock<std::mutex> lock() {
    std::unique_lock<std::mutex> result(mutex_, std::try_to_lock);
    if (!result.owns_lock()) {
      const py::gil_scoped_release release;
      result.lock();
    }
    return result;
  }

  uint32_t entry_index(const std::string& entry) const {
    const Result<uint32_t> index = program_.find_entry(entry);
    check(index.status(), Action::kRun);
    return *index;
  }

  uint32_t output_count(const std::string& entry) const { return program_.entry(entry_index(entry)).output_count; }

  FerruleVariableInfo variable(const std::string& name) const {
    const Result<uint32_t> index = program_.find_variable(name);
    check(index.status(), Action::kRun);
    return program_.variable(*index);
  }

  // A sequence in the entry's order, or a dict by name with exactly the entry's inputs.
  std::vector<py::array> input_arrays(const std::string& entry, const py::object& inputs) const {
    std::vector<py::array> arrays;
    if (!py::isinstance<py::dict>(inputs)) {
      for (const py::handle value : inputs) arrays.push_back(contiguous(value));
      return arrays;
    }
    const auto given = inputs.cast<py::dict>();
    const uint32_t index = entry_index(entry);
    std::string names;
    for (uint32_t i = 0; i < program_.entry(index).input_count; ++i) {
      const char* name = program_.input(index, i).name;
      names += (names.empty() ? "" : ", ") + std::string(name);
      if (given.contains(name)) arrays.push_back(contiguous(given[name]));
    }
    if (arrays.size() != program_.entry(index).input_count || given.size() != arrays.size())
      raise("ExecutionError", "entry '" + entry + "' takes the inputs " + names + ", but was given " +
                                  py::str(", ").attr("join")(given).cast<std::string>());
    return arrays;
  }

  const Program& program_;  // kept alive by Python (keep_alive below)
  std::optional<Session> session_;
  std::mutex mutex_;
};

}  // namespace

void bind_session(py::module_& module) {
  py::class_<PySession>(module, "Session", "A program bound to memory and threads, with its own variables.")
      .def(py::init<const Program&, uint32_t, const py::object&, const PySession*>(), py::arg("program"),
           py::arg("threads") = 0, py::arg("target") = py::none(), py::arg("share") = py::none(), py::keep_alive<1, 2>())
      .def("run", &PySession::run, py::arg("entry"), py::arg("inputs"),
           "Runs an entry on a list of arrays in order, or a dict by name; returns its outputs as new arrays.")
      .def("get_variable", &PySession::get_variable, py::arg("name"))
      .def("set_variable", &PySession::set_variable, py::arg("name"), py::arg("value"))
      .def("save_checkpoint", &PySession::save_checkpoint, py::arg("path"), py::arg("position") = py::none())
      .def("load_checkpoint", &PySession::load_checkpoint, py::arg("path"))
      .def("reset", &PySession::reset)
      .def("cancel", &PySession::cancel, "Ends the run in progress, from another thread.")
      .def("info", &PySession::info);
}

}  // namespace ferrule::python

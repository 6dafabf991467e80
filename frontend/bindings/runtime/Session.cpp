#include <algorithm>
#include <memory>
#include <mutex>
#include <vector>

#include <pybind11/stl.h>

#include "frontend/bindings/runtime/Arrays.h"
#include "frontend/bindings/runtime/Classes.h"
#include "frontend/bindings/runtime/Errors.h"

namespace py = pybind11;

namespace ferrule::python {
namespace {

// Keeps sessions' memory; they hold on to it by themselves.
class PyArena {
public:
  PyArena() {
    Result<Arena> created = Arena::create();
    check(created.status(), Action::Run);
    arena.emplace(std::move(*created));
  }
  const Arena &get() const { return *arena; }

  py::dict info() const {
    const FerruleArenaInfo info = arena->info();
    py::dict result;
    result["arena_bytes"] = info.arena_bytes;
    result["scratch_bytes"] = info.scratch_bytes;
    return result;
  }

private:
  std::optional<Arena> arena;
};

// A session is used by one thread at a time; Python's threads meet at the mutex while the interpreter's lock is
// released.
class PySession {
public:
  // With `swapFile` the variables and, without `arena`, the arena lie in that file; 0 for no limit. Grows, up to
  // `arenaLimit`, unless there is a limit of what is in memory.
  PySession(const Program &program, uint32_t threads, const py::object &target, const PySession *share,
            const PyArena *arena, const py::object &swapFile, uint64_t swapLimit, uint64_t residentBytes,
            uint64_t arenaLimit)
      : program(program) {
    Session::Options options;
    const std::string name = target.is_none() ? "" : target.cast<std::string>();
    options.thread_count = threads;
    options.target = target.is_none() ? nullptr : name.c_str();
    options.share = share == nullptr ? nullptr : &*share->session;
    options.arena = arena == nullptr ? nullptr : &arena->get();
    if (share != nullptr)
      swaps = share->swaps; // The variables may lie there.
    if (!swapFile.is_none())
      useSwap(fileName(swapFile), swapLimit, options);
    Result<Session> created = Session::create(program, options);
    if (!created.ok() && swap() != nullptr)
      checkSwap(swap()->refusal());
    check(created.status(), Action::Run);
    session.emplace(std::move(*created));
    check(residentBytes != 0 ? session->limit_arena(*swap(), residentBytes) : session->allow_growth(arenaLimit),
          Action::Run);
  }

  py::list run(const std::string &entry, const py::object &inputs) {
    const std::vector<py::array> arrays = inputArrays(entry, inputs);
    std::vector<FerruleTensor> in;
    for (const py::array &array : arrays)
      in.push_back(tensorOf(array));
    const auto locked = lock();
    std::vector<FerruleTensor> out(outputCount(entry));
    for (FerruleTensor &tensor : out)
      tensor.struct_size = sizeof(tensor);
    check(
        Status(ferrule_session_output_shapes(session->c(), entry.c_str(), in.data(), size(in), out.data(), size(out))),
        Action::Run);
    py::list results;
    for (FerruleTensor &tensor : out) {
      py::array array(toNumpy(tensor.dtype), std::vector<py::ssize_t>(tensor.shape, tensor.shape + tensor.rank));
      tensor.data = array.mutable_data();
      results.append(std::move(array));
    }
    Status status;
    {
      const py::gil_scoped_release release;
      status = Status(ferrule_session_run(session->c(), entry.c_str(), in.data(), size(in), out.data(), size(out)));
    }
    check(status, Action::Run);
    // An array was made as large as it could have to be; a size that the entry found out may be smaller.
    for (size_t i = 0; i < out.size(); ++i) {
      const auto array = results[i].cast<py::array>();
      if (!std::equal(out[i].shape, out[i].shape + out[i].rank, array.shape()))
        array.attr("resize")(shapeTuple(out[i].shape, out[i].rank), py::arg("refcheck") = false);
    }
    return results;
  }

  py::array getVariable(const std::string &name) {
    const FerruleVariableInfo info = variable(name);
    py::array array(toNumpy(info.dtype), std::vector<py::ssize_t>(info.shape, info.shape + info.rank));
    const auto locked = lock();
    check(session->get_variable(name, array.mutable_data(), info.byte_size), Action::Run);
    return array;
  }

  void setVariable(const std::string &name, const py::object &value) {
    const FerruleVariableInfo info = variable(name);
    const py::array array = contiguous(value);
    const FerruleTensor tensor = tensorOf(array);
    const py::tuple wanted = shapeTuple(info.shape, info.rank), given = shapeTuple(tensor.shape, tensor.rank);
    if (tensor.dtype.code != info.dtype.code || tensor.dtype.bits != info.dtype.bits || !wanted.equal(given))
      raise("ExecutionError", "variable '" + name + "' is " + dtypeName(info.dtype) +
                                  py::str(wanted).cast<std::string>() + ", but the value is " +
                                  py::str(array.dtype()).cast<std::string>() + py::str(given).cast<std::string>());
    const auto locked = lock();
    check(session->set_variable(name, tensor.data, tensor.byte_size), Action::Run);
  }

  /// `delta`: only what differs from the program's initial values.
  void saveCheckpoint(const py::object &path, const py::object &position, bool delta) {
    FerruleTrainingPosition c{};
    if (!position.is_none()) {
      const py::dict given = position.cast<py::dict>();
      for (const auto &[key, value] : given)
        *field(c, key.cast<std::string>()) = value.cast<uint64_t>();
    }
    const std::string name = fileName(path);
    check(alone([&] { return delta ? session->save_delta(name, c) : session->save_checkpoint(name, c); }), Action::Run);
  }

  py::dict loadCheckpoint(const py::object &path) {
    FerruleTrainingPosition position{};
    const std::string name = fileName(path);
    check(alone([&] { return session->load_checkpoint(name, &position); }), Action::File);
    py::dict result;
    result["seed"] = position.seed;
    result["epoch"] = position.epoch;
    result["sample"] = position.sample;
    result["step"] = position.step;
    return result;
  }

  void saveVariables(const py::object &path, const std::vector<std::string> &names) {
    const std::string name = fileName(path);
    check(alone([&] { return session->save_variables(name, names); }), Action::Run);
  }

  uint32_t loadVariables(const py::object &path) {
    const std::string name = fileName(path);
    uint32_t count = 0;
    check(alone([&] { return Status(ferrule_session_load_variables(session->c(), name.c_str(), &count)); }), Action::File);
    return count;
  }

  void reset() {
    const auto locked = lock();
    check(session->reset(), Action::Run);
  }

  void cancel() { session->cancel(); }

  void startProfile(uint64_t capacity) {
    const auto locked = lock();
    check(session->start_profile(capacity), Action::Run);
  }

  /// Ends the profile: (events, how many found no room).
  py::tuple stopProfile() {
    const auto locked = lock();
    session->stop_profile();
    const FerruleProfileInfo info = session->profile_info();
    py::list events;
    for (uint64_t i = 0; i < info.event_count; ++i) {
      const FerruleProfileEvent event = session->profile_event(i);
      py::dict fields;
      fields["entry"] = event.entry;
      fields["kernel"] = event.kernel;
      fields["location"] = event.location;
      fields["begin_ns"] = event.begin_ns;
      fields["end_ns"] = event.end_ns;
      fields["bytes"] = event.byte_size;
      fields["threads"] = event.thread_count;
      fields["flops"] = optional(event.flops);
      fields["read_bytes"] = optional(event.read_bytes);
      fields["written_bytes"] = optional(event.written_bytes);
      events.append(fields);
    }
    return py::make_tuple(events, info.dropped_count);
  }

  void checkNumerics(bool enabled) {
    const auto locked = lock();
    session->check_numerics(enabled);
  }

  py::dict info() const {
    const FerruleSessionInfo info = session->info();
    py::dict result;
    result["target"] = info.target;
    result["threads"] = info.thread_count;
    result["arena_bytes"] = info.arena_bytes;
    result["scratch_bytes"] = info.scratch_bytes;
    result["variable_bytes"] = info.variable_bytes;
    result["state_complete"] = info.state_complete != 0;
    if (swap() != nullptr) {
      const FerrulePagingInfo paging = session->paging_info();
      result["swap_bytes"] = swap()->byte_size();
      result["resident_bytes"] = paging.resident_bytes;
      result["written_bytes"] = paging.written_bytes;
      result["forgotten_bytes"] = paging.forgotten_bytes;
      result["paging_seconds"] = static_cast<double>(paging.nanoseconds) * 1e-9;
    }
    return result;
  }

private:
  const Swap *swap() const { return ownsSwap ? swaps.back().get() : nullptr; }

  /// No file that is read or written as one: what a device lacks to run.
  static void checkSwap(const Status &status) {
    if (status.code() == kFerruleIoError)
      raise("ExecutionError", status.message());
    check(status, Action::Run);
  }

  void useSwap(const std::string &path, uint64_t limit, Session::Options &options) {
    Result<Swap> made = Swap::create(path, limit);
    checkSwap(made.status());
    swaps.push_back(std::make_shared<Swap>(std::move(*made)));
    ownsSwap = true;
    options.allocator = swap()->allocator();
    if (options.arena != nullptr)
      return;
    Result<Arena> arena = Arena::create(options.allocator);
    if (!arena.ok())
      checkSwap(swap()->refusal());
    check(arena.status(), Action::Run);
    ownArena.emplace(std::move(*arena));
    options.arena = &*ownArena;
  }

  /// None for what the artifact does not say.
  static py::object optional(int64_t value) { return value < 0 ? py::object(py::none()) : py::object(py::int_(value)); }
  static uint32_t size(const std::vector<FerruleTensor> &tensors) { return static_cast<uint32_t>(tensors.size()); }

  static std::string fileName(const py::object &path) {
    return py::module_::import("os").attr("fsdecode")(path).cast<std::string>();
  }

  static uint64_t *field(FerruleTrainingPosition &position, const std::string &name) {
    if (name == "seed")
      return &position.seed;
    if (name == "epoch")
      return &position.epoch;
    if (name == "sample")
      return &position.sample;
    if (name == "step")
      return &position.step;
    throw py::value_error("a position has no '" + name + "'; it has seed, epoch, sample, step");
  }

  // What `use` says of the session, with the mutex and without the interpreter's lock.
  template <typename Use> Status alone(const Use &use) {
    const auto locked = lock();
    const py::gil_scoped_release release;
    return use();
  }

  // Never waits for the mutex with the interpreter's lock in hand: the thread that has the mutex may need it.
  std::unique_lock<std::mutex> lock() {
    std::unique_lock<std::mutex> result(mutex, std::try_to_lock);
    if (!result.owns_lock()) {
      const py::gil_scoped_release release;
      result.lock();
    }
    return result;
  }

  uint32_t entryIndex(const std::string &entry) const {
    const Result<uint32_t> index = program.find_entry(entry);
    check(index.status(), Action::Run);
    return *index;
  }

  uint32_t outputCount(const std::string &entry) const { return program.entry(entryIndex(entry)).output_count; }

  FerruleVariableInfo variable(const std::string &name) const {
    const Result<uint32_t> index = program.find_variable(name);
    check(index.status(), Action::Run);
    return program.variable(*index);
  }

  // A sequence in the entry's order, or a dict by name with exactly the entry's inputs.
  std::vector<py::array> inputArrays(const std::string &entry, const py::object &inputs) const {
    std::vector<py::array> arrays;
    if (!py::isinstance<py::dict>(inputs)) {
      for (const py::handle value : inputs)
        arrays.push_back(contiguous(value));
      return arrays;
    }
    const auto given = inputs.cast<py::dict>();
    const uint32_t index = entryIndex(entry);
    std::string names;
    for (uint32_t i = 0; i < program.entry(index).input_count; ++i) {
      const char *name = program.input(index, i).name;
      names += (names.empty() ? "" : ", ") + std::string(name);
      if (given.contains(name))
        arrays.push_back(contiguous(given[name]));
    }
    if (arrays.size() != program.entry(index).input_count || given.size() != arrays.size())
      raise("ExecutionError", "entry '" + entry + "' takes the inputs " + names + ", but was given " +
                                  py::str(", ").attr("join")(given).cast<std::string>());
    return arrays;
  }

  const Program &program; // kept alive by Python (keep_alive below)
  // What the session's memory lies in is released behind it. The last one is its own, if any; the others are those of the
  // sessions whose variables it shares.
  std::vector<std::shared_ptr<Swap>> swaps;
  bool ownsSwap = false;
  std::optional<Arena> ownArena;
  std::optional<Session> session;
  std::mutex mutex;
};

} // namespace

void bindSession(py::module_ &module) {
  py::class_<PyArena>(module, "Arena", "Memory that sessions run in, one at a time.")
      .def(py::init<>())
      .def("info", &PyArena::info);
  py::class_<PySession>(module, "Session", "A program bound to memory and threads, with its own variables.")
      .def(py::init<const Program &, uint32_t, const py::object &, const PySession *, const PyArena *,
                    const py::object &, uint64_t, uint64_t, uint64_t>(),
           py::arg("program"), py::arg("threads") = 0, py::arg("target") = py::none(), py::arg("share") = py::none(),
           py::arg("arena") = py::none(), py::arg("swap_file") = py::none(), py::arg("swap_limit") = 0,
           py::arg("resident_bytes") = 0, py::arg("arena_limit") = 0,
           py::keep_alive<1, 2>())
      .def("run", &PySession::run, py::arg("entry"), py::arg("inputs"),
           "Runs an entry on a list of arrays in order, or a dict by name; returns its outputs as new arrays.")
      .def("get_variable", &PySession::getVariable, py::arg("name"))
      .def("set_variable", &PySession::setVariable, py::arg("name"), py::arg("value"))
      .def("save_checkpoint", &PySession::saveCheckpoint, py::arg("path"), py::arg("position") = py::none(),
           py::arg("delta") = false)
      .def("load_checkpoint", &PySession::loadCheckpoint, py::arg("path"))
      .def("save_variables", &PySession::saveVariables, py::arg("path"), py::arg("names"))
      .def("load_variables", &PySession::loadVariables, py::arg("path"))
      .def("reset", &PySession::reset)
      .def("cancel", &PySession::cancel, "Ends the run in progress, from another thread.")
      .def("start_profile", &PySession::startProfile, py::arg("capacity"))
      .def("stop_profile", &PySession::stopProfile)
      .def("check_numerics", &PySession::checkNumerics, py::arg("enabled"))
      .def("info", &PySession::info);
}

} // namespace ferrule::python

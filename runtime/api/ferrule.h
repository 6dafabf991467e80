// The C API of the Ferrule runtime: open a compiled program (.fer), bind it to memory and threads as a session, run
// its entries for training and inference, read and write its variables, save and load checkpoints.
//
// Conventions
// - A function that can fail returns a FerruleStatus*: null is success, anything else carries a code and a sentence
// that
//   names the entry, tensor, dim, value and what is allowed; the caller releases it with ferrule_status_release.
//   On failure no out-parameter is changed, except where said. Nothing aborts, throws or prints.
// - Public structs begin with `struct_size`, which the caller sets to sizeof the struct. Fields are only ever
//   appended; a library newer than its caller leaves the fields that the caller does not know at their defaults.
//   The stride of an array of such structs is the first element's `struct_size`.
// - Ownership: what `*_open` and `*_create` return is released with the matching `*_release` (null is allowed).
//   A session keeps its program alive; a session that shares another's state keeps that state alive. Pointers in the
//   `*Info` structs belong to the program and live as long as it does.
// - Threads: a program may be used by any number of threads. A session is used by one thread at a time (except
//   ferrule_session_cancel); sessions that share state may run at the same time, and wait for one another when one
//   of the entries assigns variables. A session with one thread starts none; the threads of the others sleep between
//   runs.
// - Fork: a program works in a forked child, a session of the parent does not run there (kFerruleFailedPrecondition);
//   create one in the child. Its variables can still be read and saved, unless another thread was using them when the
//   process was forked.
// - Names are UTF-8. Sizes are bytes, offsets and counts are 64-bit. Tensors are dense and row-major.
#ifndef FERRULE_RUNTIME_API_FERRULE_H_
#define FERRULE_RUNTIME_API_FERRULE_H_

#include <stddef.h>
#include <stdint.h>

// Counts what was added to this header: a product that was compiled against one version runs with a library of the same or a
// later one (ferrule_api_version). Nothing of a version is taken away, renumbered or moved.
#define FERRULE_API_VERSION 1

#if defined(__GNUC__)
#define FERRULE_API __attribute__((visibility("default")))
#else
#define FERRULE_API
#endif

#ifdef __cplusplus
extern "C" {
#endif

// ---- Status ---------------------------------------------------------------------------------------------------------

typedef enum FerruleStatusCode {
  kFerruleOk = 0,
  kFerruleInvalidArgument = 1,  // a wrong name, rank, shape, dtype, dim, count or option
  kFerruleNotFound = 2,         // no file, entry, variable or target of that name; the sentence lists what there is
  kFerruleOutOfMemory = 3,
  kFerruleIoError = 4,             // the operating system refused a read or a write; the sentence holds its reason
  kFerruleInvalidArtifact = 5,     // the artifact or checkpoint is truncated, edited or foreign
  kFerruleVersionMismatch = 6,     // the artifact is of another format version; both are named
  kFerruleUnsupported = 7,         // no target that this machine supports
  kFerruleFailedPrecondition = 8,  // an earlier run failed after it had begun to change variables: load or reset
  kFerruleCancelled = 9,
  kFerruleKernelError = 10,  // a kernel refused a value, e.g. an index out of range
  kFerruleInternal = 11      // a bug in Ferrule
} FerruleStatusCode;

typedef struct FerruleStatus FerruleStatus;

// kFerruleOk for null.
FERRULE_API FerruleStatusCode ferrule_status_code(const FerruleStatus* status);
// The sentence, without a trailing newline; "ok" for null. Valid until the status is released.
FERRULE_API const char* ferrule_status_message(const FerruleStatus* status);
FERRULE_API void ferrule_status_release(FerruleStatus* status);

// ---- Data -----------------------------------------------------------------------------------------------------------

// As in DLPack: code 0 int, 1 unsigned int, 2 float, 4 bfloat, 6 bool. `lanes` is 1.
typedef struct FerruleDataType {
  uint8_t code;
  uint8_t bits;
  uint16_t lanes;
} FerruleDataType;

// A dense row-major array. As an input of a run: `data`, `dtype`, `rank` and `shape` are the caller's and are only
// read. As an output of a run: either `data` is a buffer of the caller with room for `byte_size` bytes, or `data` is
// null, and the run points it to memory of the session that stays valid until the session's next run. The run then sets
// dtype, rank, shape and byte_size; `shape` stays valid until the session's next run. Some sizes an entry finds out
// while it runs (how many elements a mask selects): a buffer of the caller then needs room for the most that they can
// be, which ferrule_session_output_shapes tells, and the run sets what they came to.
typedef struct FerruleTensor {
  size_t struct_size;
  void* data;
  uint64_t byte_size;
  FerruleDataType dtype;
  uint32_t rank;
  const int64_t* shape;
} FerruleTensor;

// What the caller may put in place of malloc: `allocate` returns `alignment`-aligned memory (a power of two) or null.
// Used for arenas, scratch and variables; small tables use malloc. Must outlive the session.
typedef struct FerruleAllocator {
  size_t struct_size;
  void* context;
  void* (*allocate)(void* context, uint64_t byte_size, uint64_t alignment);
  void (*release)(void* context, void* memory, uint64_t byte_size);
} FerruleAllocator;

// A thread pool of the caller. parallel_for calls body(body_context, i) once for every i in [0, count), in any order
// and on any threads, and returns when all have returned. `count` is at most thread_count. Results do not depend on
// either.
typedef struct FerruleThreadPool {
  size_t struct_size;
  void* context;
  uint32_t thread_count;  // at least 1
  void (*parallel_for)(void* context, uint32_t count, void (*body)(void* body_context, uint32_t index),
                       void* body_context);
} FerruleThreadPool;

typedef enum FerruleLogLevel { kFerruleLogInfo = 1, kFerruleLogError = 2 } FerruleLogLevel;

// Is told what was opened, created, saved and loaded, and the sentence of every error of what it was given to; nothing
// is told of a run that succeeds. `log` is called by the thread that uses the object, with a sentence that is valid
// during the call, and must not use the object itself. The struct is copied; the context must outlive the object.
typedef struct FerruleLogger {
  size_t struct_size;
  void* context;
  void (*log)(void* context, FerruleLogLevel level, const char* sentence);
} FerruleLogger;

// Where a profile's times come from: nanoseconds that never go back.
typedef struct FerruleClock {
  size_t struct_size;
  void* context;
  uint64_t (*now_ns)(void* context);
} FerruleClock;

struct FerruleKernelArgs;  // kernels/base/kernel_args.h

// A kernel that the product brings: what the artifact calls `name` runs `function` on every thread that has a part of
// the tiles, with the arguments of a compiled kernel. It returns 0, or a FerruleKernelErrorCode with its details in
// args->error, or any other number; those end the run with kFerruleKernelError. Operands are the memory of the session
// or, for inputs and outputs of the entry, of the caller; it writes only those that the artifact says it writes.
typedef struct FerruleExternalKernel {
  size_t struct_size;
  const char* name;
  void* context;  // must outlive the program
  int32_t (*function)(void* context, const struct FerruleKernelArgs* args);
} FerruleExternalKernel;

// ---- Program --------------------------------------------------------------------------------------------------------

typedef struct FerruleProgram FerruleProgram;

typedef enum FerruleVerify {
  kFerruleVerifyStructure = 0,  // everything but the contents of the weights: always done
  kFerruleVerifyAll = 1         // the weights are hashed too: reads the whole file
} FerruleVerify;

// Encrypted weights of an artifact, AES-256-GCM: `byte_size` bytes, to be decrypted where they are once the tag was found
// to be right. Pointers are valid during the call.
typedef struct FerruleEncryptedWeights {
  size_t struct_size;
  const char* key_name;  // as it was given when they were encrypted
  uint8_t* data;
  uint64_t byte_size;
  const uint8_t* tag;         // 16 bytes
  const uint8_t* nonce;       // 12 bytes
  const uint8_t* associated;  // what else the tag vouches for: what the other segments of the artifact are
  uint64_t associated_byte_size;
} FerruleEncryptedWeights;

typedef struct FerruleProgramOptions {
  size_t struct_size;
  FerruleVerify verify;
  // Null, or the 32 bytes that the artifact's root hash must equal before anything of it becomes executable.
  const uint8_t* expected_sha256;
  // Null, or asked before anything of the artifact becomes executable: 0 refuses it. The place to check a signature of
  // the root hash. The root hash vouches for the weights only together with kFerruleVerifyAll.
  int32_t (*accept)(void* context, const uint8_t root_sha256[32]);
  void* accept_context;
  // The product's kernels. An artifact that calls one that is not among them is refused, and all that lack are named.
  const FerruleExternalKernel* kernels;
  uint32_t kernel_count;
  const FerruleLogger* logger;  // null: nobody is told
  // Of an artifact in memory: 1 leaves the weights where they are (an artifact in read-only memory, say) if that is a
  // multiple of 64. The bytes must then not change as long as the program or a session of it lives. 0: all is copied.
  int32_t in_place;
  // Null, or opens encrypted weights, which then lie in memory of the program instead of mapped pages. Returns kFerruleOk;
  // kFerruleNotFound without a key of that name; anything else if the tag is wrong, and the artifact is refused.
  // runtime/encryption/ferrule_encryption.h has one. With null, sessions of such an artifact are refused; the program can be
  // looked at.
  FerruleStatusCode (*decrypt)(void* context, const FerruleEncryptedWeights* weights);
  void* decrypt_context;
} FerruleProgramOptions;

// `options` may be null. The file stays mapped: do not change it in place while the program lives.
FERRULE_API FerruleStatus* ferrule_program_open(const char* path, const FerruleProgramOptions* options,
                                                FerruleProgram** out_program);
// The same for an artifact in memory. The bytes are copied, but for what options->in_place says.
FERRULE_API FerruleStatus* ferrule_program_open_bytes(const void* data, uint64_t byte_size,
                                                      const FerruleProgramOptions* options,
                                                      FerruleProgram** out_program);
FERRULE_API void ferrule_program_release(FerruleProgram* program);

typedef struct FerruleProgramInfo {
  size_t struct_size;
  const char* producer;  // name and version of the compiler
  uint8_t root_sha256[32];
  uint32_t entry_count;
  uint32_t variable_count;
  uint32_t target_count;
  uint64_t arena_bytes;    // one arena a session, shared by all entries
  uint64_t scratch_bytes;  // per thread
  uint64_t file_bytes;     // the artifact
  uint64_t weight_bytes;   // its weights: initial values and constants
  uint64_t code_bytes;     // its code, all targets together
  const char* weights_key_name;  // of the key that its weights are encrypted with; null: they are plain
} FerruleProgramInfo;
FERRULE_API FerruleStatus* ferrule_program_info(const FerruleProgram* program, FerruleProgramInfo* out_info);

// Targets are numbered worst first; a session takes the last one that the machine supports unless told otherwise.
typedef struct FerruleTargetInfo {
  size_t struct_size;
  const char* name;
  uint64_t code_bytes;
  int32_t supported;  // 1: this machine has all CPU features that the target needs
} FerruleTargetInfo;
FERRULE_API FerruleStatus* ferrule_program_target(const FerruleProgram* program, uint32_t index,
                                                  FerruleTargetInfo* out_info);

typedef struct FerruleEntryInfo {
  size_t struct_size;
  const char* name;
  const char* signature;  // JSON: the tree of the arguments and results
  uint32_t input_count;
  uint32_t output_count;
  uint32_t dim_count;          // dims that the shapes of the inputs give their values
  uint32_t assigned_count;     // how many variables the entry assigns: 0 for pure inference
  uint64_t peak_bytes;         // of the planned arena
  uint64_t lower_bound_bytes;  // no order of the entry's instructions can do with less
  uint64_t naive_bytes;        // every buffer apart
} FerruleEntryInfo;
FERRULE_API FerruleStatus* ferrule_program_entry(const FerruleProgram* program, uint32_t index,
                                                 FerruleEntryInfo* out_info);
// kFerruleNotFound lists the entries that there are.
FERRULE_API FerruleStatus* ferrule_program_find_entry(const FerruleProgram* program, const char* name,
                                                      uint32_t* out_index);

typedef struct FerruleDimInfo {
  size_t struct_size;
  const char* name;
  int64_t min;
  int64_t max;  // INT64_MAX: unbounded
  int64_t multiple_of;
} FerruleDimInfo;
FERRULE_API FerruleStatus* ferrule_program_dim(const FerruleProgram* program, uint32_t entry, uint32_t index,
                                               FerruleDimInfo* out_info);

typedef struct FerruleTensorInfo {
  size_t struct_size;
  const char* name;  // its path, e.g. "image", "batch.image", "out.0"
  FerruleDataType dtype;
  uint32_t rank;
  const int64_t* shape;    // -1 where the size depends on the call's dims
  const char* shape_text;  // e.g. "[batch, 1, 8, 8]"
} FerruleTensorInfo;
FERRULE_API FerruleStatus* ferrule_program_input(const FerruleProgram* program, uint32_t entry, uint32_t index,
                                                 FerruleTensorInfo* out_info);
FERRULE_API FerruleStatus* ferrule_program_output(const FerruleProgram* program, uint32_t entry, uint32_t index,
                                                  FerruleTensorInfo* out_info);

typedef struct FerruleVariableInfo {
  size_t struct_size;
  const char* name;
  const char* role;  // open: parameter, buffer, gradient, optimizer_state, schedule, random_state
  FerruleDataType dtype;
  uint32_t rank;
  const int64_t* shape;  // logical
  uint64_t byte_size;    // of the logical row-major values
  int32_t trainable;
  int32_t assigned;  // 1: some entry assigns it, so each session has its own copy
  uint32_t alias_count;
  const char* const* aliases;  // other names by which it may be asked for
} FerruleVariableInfo;
FERRULE_API FerruleStatus* ferrule_program_variable(const FerruleProgram* program, uint32_t index,
                                                    FerruleVariableInfo* out_info);
// By name or alias.
FERRULE_API FerruleStatus* ferrule_program_find_variable(const FerruleProgram* program, const char* name,
                                                         uint32_t* out_index);

// The newest format version that this runtime reads. It reads all older ones from 1 on, and newer ones that say that it
// understands them.
FERRULE_API uint32_t ferrule_format_version(void);
// The FERRULE_API_VERSION of the header that the library was compiled with.
FERRULE_API uint32_t ferrule_api_version(void);

// ---- Arena ----------------------------------------------------------------------------------------------------------

// Memory that sessions run in: activations, gradients, workspace and scratch, of which a run leaves nothing behind. A
// session has its own, unless its options name one that it shares with others, of any programs. One run at a time: a run
// that begins while another session runs in the same arena is refused with kFerruleFailedPrecondition. Each session that
// is created with it makes it as large as that session needs; it never shrinks. Sessions keep its memory alive.
typedef struct FerruleArena FerruleArena;

// Empty. `allocator`: null: the C library's; else it must outlive the arena and the sessions that share it, and theirs
// serves for their variables only.
FERRULE_API FerruleStatus* ferrule_arena_create(const FerruleAllocator* allocator, FerruleArena** out_arena);
FERRULE_API void ferrule_arena_release(FerruleArena* arena);

typedef struct FerruleArenaInfo {
  size_t struct_size;
  uint64_t arena_bytes;    // allocated: what the largest of its sessions needs
  uint64_t scratch_bytes;  // too, all threads together
} FerruleArenaInfo;
FERRULE_API FerruleStatus* ferrule_arena_info(const FerruleArena* arena, FerruleArenaInfo* out_info);

// ---- Swap -----------------------------------------------------------------------------------------------------------

// A file in which sessions keep what they would else keep in memory, for devices that have less of that, and no swap
// space. The system writes pages of it to the file and takes the memory when it is short of it; what is used again it
// reads again. Results have the same bits. Not in builds without files (FERRULE_BARE_METAL).
typedef struct FerruleSwap FerruleSwap;

// Makes the file `path`, which must not exist, and removes its name at once: the space returns when the swap is released,
// or when the process ends, however. It takes no more than `byte_limit` bytes of the device; 0: what its sessions need.
// kFerruleIoError where the system refuses.
FERRULE_API FerruleStatus* ferrule_swap_create(const char* path, uint64_t byte_limit, FerruleSwap** out_swap);
// After all sessions and arenas that use its allocator.
FERRULE_API void ferrule_swap_release(FerruleSwap* swap);
// Memory of the file: for a session's options, so that its variables lie there, and for ferrule_arena_create. Each block
// has its room on the device from the start, so that writing it cannot fail for want of that.
FERRULE_API const FerruleAllocator* ferrule_swap_allocator(const FerruleSwap* swap);
// Why the allocator gave nothing when it last did, e.g. that the device is full, where the session tells that memory is
// missing; null if it never did.
FERRULE_API FerruleStatus* ferrule_swap_refusal(const FerruleSwap* swap);

typedef struct FerruleSwapInfo {
  size_t struct_size;
  uint64_t byte_size;  // what the file takes of the device
} FerruleSwapInfo;
FERRULE_API FerruleStatus* ferrule_swap_info(const FerruleSwap* swap, FerruleSwapInfo* out_info);

// ---- Session --------------------------------------------------------------------------------------------------------

typedef struct FerruleSession FerruleSession;

typedef struct FerruleSessionOptions {
  size_t struct_size;
  // 0: as many as the CPUs that this process may use; 1: the calling thread only, no other thread is ever started.
  // Ignored when a thread pool is given.
  uint32_t thread_count;
  const char* target;                    // null: the best that this machine supports
  FerruleSession* share;                 // null, or a session of the same program whose variables this one uses
  const FerruleAllocator* allocator;     // null: the C library's
  const FerruleThreadPool* thread_pool;  // null: the library's own, one for all sessions of the process
  FerruleArena* arena;                   // null: of its own
  const FerruleLogger* logger;           // null: nobody is told
  const FerruleClock* clock;             // null: CLOCK_MONOTONIC
} FerruleSessionOptions;

// Allocates everything that running needs: the arena, threads x scratch, private copies of assigned variables.
// `options` may be null.
FERRULE_API FerruleStatus* ferrule_session_create(FerruleProgram* program, const FerruleSessionOptions* options,
                                                  FerruleSession** out_session);
FERRULE_API void ferrule_session_release(FerruleSession* session);

typedef struct FerruleSessionInfo {
  size_t struct_size;
  const char* target;  // the one chosen
  uint32_t thread_count;
  uint64_t arena_bytes;     // allocated
  uint64_t scratch_bytes;   // allocated, all threads together
  uint64_t variable_bytes;  // private copies of variables
  int32_t state_complete;   // 0: runs are refused until load_checkpoint or reset
} FerruleSessionInfo;
FERRULE_API FerruleStatus* ferrule_session_info(const FerruleSession* session, FerruleSessionInfo* out_info);

// Runs an entry. Inputs and outputs stand in the entry's order. Binds the dims from the inputs' shapes, checks rank,
// dtype, bounds and recorded equalities, then executes. Variables that the entry assigns are changed in the session.
// Allocates nothing (an output without a buffer of the caller: at most once for each larger size; a session that may grow:
// when it does).
// A failure after the first change of a variable, also a cancelled run, leaves the state incomplete.
FERRULE_API FerruleStatus* ferrule_session_run(FerruleSession* session, const char* entry, const FerruleTensor* inputs,
                                               uint32_t input_count, FerruleTensor* outputs, uint32_t output_count);
// Checks the inputs as a run does, and sets dtype, rank, shape and byte_size of the outputs; `data` is not touched.
// A size that the entry finds out while it runs is the most that it can be for these inputs. Shapes stay valid until
// the next call for this session.
FERRULE_API FerruleStatus* ferrule_session_output_shapes(FerruleSession* session, const char* entry,
                                                         const FerruleTensor* inputs, uint32_t input_count,
                                                         FerruleTensor* outputs, uint32_t output_count);
// May be called from any thread: the run in progress, if any, ends before its next instruction with kFerruleCancelled.
FERRULE_API void ferrule_session_cancel(FerruleSession* session);

// Called by the session's background thread when a run has ended; `status` is the callee's to release.
typedef void (*FerruleDone)(void* context, FerruleStatus* status);

// Starts the run on a background thread that the session starts with its first such call, and returns. An unknown entry
// and a wrong count are refused at once, everything else is told to `done`. Until `done` is called the arrays `inputs`
// and `outputs`, and all that they point to, belong to the run. `done` may start the session's next run, and must not
// release the session. While a run is in progress other calls that run the session are refused with
// kFerruleFailedPrecondition; but for cancel and wait, leave the session alone. Releasing it cancels the run, and waits.
FERRULE_API FerruleStatus* ferrule_session_run_async(FerruleSession* session, const char* entry,
                                                     const FerruleTensor* inputs, uint32_t input_count,
                                                     FerruleTensor* outputs, uint32_t output_count, FerruleDone done,
                                                     void* done_context);
// Returns when no run is in progress and the last `done` has returned.
FERRULE_API void ferrule_session_wait(FerruleSession* session);

// ---- Profile --------------------------------------------------------------------------------------------------------

// One kernel call or copy of a profiled run. The texts stay valid as long as the program.
typedef struct FerruleProfileEvent {
  size_t struct_size;
  const char* entry;
  const char* kernel;    // "copy" for a copy
  const char* location;  // in the model's source, "" if the artifact does not hold it
  uint64_t begin_ns;     // nanoseconds since the profile's start
  uint64_t end_ns;
  uint64_t byte_size;     // of the buffers that it reads or writes
  uint32_t thread_count;  // how many threads shared it
  int64_t flops;          // arithmetic operations on elements, a fused multiply-add being two; -1: not known
  int64_t read_bytes;     // that it must read, each once; -1: not known
  int64_t written_bytes;
} FerruleProfileEvent;

typedef struct FerruleProfileInfo {
  size_t struct_size;
  uint64_t event_count;
  uint64_t dropped_count;  // events that found no room
} FerruleProfileInfo;

// From now on runs of the session add an event for each kernel call and copy, as far as `capacity` events go; earlier
// events are dropped. Each costs about 0.1 microseconds.
FERRULE_API FerruleStatus* ferrule_session_start_profile(FerruleSession* session, uint64_t capacity);
// The events stay until the next start.
FERRULE_API void ferrule_session_stop_profile(FerruleSession* session);
FERRULE_API FerruleStatus* ferrule_session_profile_info(const FerruleSession* session, FerruleProfileInfo* out_info);
FERRULE_API FerruleStatus* ferrule_session_profile_event(const FerruleSession* session, uint64_t index,
                                                         FerruleProfileEvent* out_event);

// While it is on (not 0), a run fails at the first element that is nan or infinite: of an input, of a variable, or of what
// a kernel wrote, with the entry, the kernel and the line of the model in the message. Every result is read once more.
FERRULE_API void ferrule_session_check_numerics(FerruleSession* session, int32_t enabled);

// From now on the session grows. A dim without a max may then be larger than the size at which its memory was planned
// (`plan_at`), where such a call is refused otherwise: the buffers of the entry are placed anew, and the arena is replaced by
// a larger one from its allocator; both exist for a moment. Variables stay where they are. What has grown stays, so smaller
// sizes, and the same ones again, allocate nothing. `arena_byte_limit`: the most that the arena may take; 0: what the
// allocator gives. A call beyond it, or that the allocator refuses, ends with kFerruleOutOfMemory, names the dims, and has
// changed nothing. ferrule_session_output_shapes grows the session as a run does. A later call sets another limit.
// kFerruleFailedPrecondition for a session of ferrule_session_limit_arena.
FERRULE_API FerruleStatus* ferrule_session_allow_growth(FerruleSession* session, uint64_t arena_byte_limit);

// From now on runs keep no more than `resident_bytes` of the arena, which must lie in `swap`, in memory: what is idle for
// longest is written to the file behind its last reader, and read again before the next; what is dead is given up
// unwritten. Planned once, here. kFerruleInvalidArgument if some instruction of an entry needs more by itself; the sentence
// says how much. A later call replaces this one, 0 ends it. `swap` must outlive the session. kFerruleFailedPrecondition for
// a session that grows.
FERRULE_API FerruleStatus* ferrule_session_limit_arena(FerruleSession* session, FerruleSwap* swap,
                                                       uint64_t resident_bytes);

typedef struct FerrulePagingInfo {
  size_t struct_size;
  uint64_t resident_bytes;   // of the arena, the most that is planned to be in memory at once, in any entry
  uint64_t written_bytes;    // to the file, since the limit was set
  uint64_t forgotten_bytes;  // given up unwritten
  uint64_t nanoseconds;      // that runs spent on writing and asking for pages; waiting for what is read is in the kernels' times
} FerrulePagingInfo;
// All 0 without a limit.
FERRULE_API FerruleStatus* ferrule_session_paging_info(const FerruleSession* session, FerrulePagingInfo* out_info);

// ---- State ----------------------------------------------------------------------------------------------------------

// Copies the logical row-major values of a variable out of or into the session, whatever its layout. `byte_size` must
// equal the variable's. Setting a variable that no entry assigns gives the session (and those that share its state) its
// own copy.
FERRULE_API FerruleStatus* ferrule_session_get_variable(FerruleSession* session, const char* name, void* data,
                                                        uint64_t byte_size);
FERRULE_API FerruleStatus* ferrule_session_set_variable(FerruleSession* session, const char* name, const void* data,
                                                        uint64_t byte_size);

// Where a training stands; stored in checkpoints, used by nobody else.
typedef struct FerruleTrainingPosition {
  size_t struct_size;
  uint64_t seed;    // of the shuffle
  uint64_t epoch;   // epochs that are finished
  uint64_t sample;  // samples of the current epoch that are done
  uint64_t step;    // runs of the training entry since the start
} FerruleTrainingPosition;

// Writes every variable by name and the position (may be null) to a new file beside `path`, syncs it, and renames it to
// `path`: after a crash, a full disk or a kill at any byte, `path` is the old checkpoint or the new one. The file is a
// safetensors file; the position stands in its metadata.
FERRULE_API FerruleStatus* ferrule_session_save_checkpoint(FerruleSession* session, const char* path,
                                                           const FerruleTrainingPosition* position);
// Replaces every variable, and makes an incomplete state complete. A checkpoint of another model is refused with its
// missing and unexpected names, and changes nothing. `out_position` may be null.
FERRULE_API FerruleStatus* ferrule_session_load_checkpoint(FerruleSession* session, const char* path,
                                                           FerruleTrainingPosition* out_position);
// As ferrule_session_save_checkpoint, but only variables that differ from the artifact's initial values: what a training
// on top of given weights has changed. Such a file loads like any checkpoint, into a program with the same weights
// (their hash stands in it); others refuse it.
FERRULE_API FerruleStatus* ferrule_session_save_delta(FerruleSession* session, const char* path,
                                                      const FerruleTrainingPosition* position);
// A safetensors file of the named variables (names or aliases), or of all if `names` is null, replaced as a checkpoint
// is.
FERRULE_API FerruleStatus* ferrule_session_save_variables(FerruleSession* session, const char* path,
                                                          const char* const* names, uint32_t name_count);
// Sets every variable that a safetensors file holds, or none: a tensor that is no variable, or has another dtype or
// shape, is refused by name. The other variables keep their values. `out_count` (may be null): how many were set.
FERRULE_API FerruleStatus* ferrule_session_load_variables(FerruleSession* session, const char* path,
                                                          uint32_t* out_count);
// Back to the initial values in the artifact; makes an incomplete state complete.
FERRULE_API FerruleStatus* ferrule_session_reset(FerruleSession* session);

#ifdef __cplusplus
}  // extern "C"
#endif

#endif  // FERRULE_RUNTIME_API_FERRULE_H_

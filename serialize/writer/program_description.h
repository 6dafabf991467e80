// What the writer is given: the program as plain data, one struct a table of serialize/schema/program.fbs, which
// documents the fields. Depends on the standard library only.
#ifndef FERRULE_SERIALIZE_WRITER_PROGRAM_DESCRIPTION_H_
#define FERRULE_SERIALIZE_WRITER_PROGRAM_DESCRIPTION_H_

#include <array>
#include <cstdint>
#include <functional>
#include <limits>
#include <string>
#include <vector>

namespace ferrule::serialize {

struct DataTypeDescription {
  uint8_t code = 2;
  uint8_t bits = 32;
  uint16_t lanes = 1;
};

enum class ExpressionKind : uint32_t {
  kConstant,
  kDim,
  kAdd,
  kSubtract,
  kMultiply,
  kFloorDivide,
  kModulo,
  kMinimum,
  kMaximum
};

struct ExpressionDescription {
  ExpressionKind kind = ExpressionKind::kConstant;
  uint32_t left = 0, right = 0;
  int64_t value = 0;
};

enum class DimSource : uint8_t { kInput, kIteration, kInstruction };

struct DimDescription {
  std::string name;
  int64_t min = 1, max = std::numeric_limits<int64_t>::max(), multiple_of = 1;
  DimSource source = DimSource::kInput;
  uint32_t limit = 0;  // expression; of a dim of source kInstruction
};

struct EqualityDescription {
  uint32_t left = 0, right = 0, location = 0;
};

struct TensorDescription {
  std::string name;
  DataTypeDescription dtype;
  std::vector<uint32_t> shape;  // expressions
};

struct LayoutDescription {
  std::string kind = "row_major";
  std::vector<uint32_t> n_axes, k_axes;
  uint32_t groups = 1, panel = 16;
};

// Bytes of the weights segment that are made where they will lie in the file, so that a program of hundreds of megabytes
// is never held twice.
struct GeneratedBytes {
  uint64_t size = 0;
  // Equal for equal contents and, as far as 128 bits of hash can tell, only for these: they are stored once.
  std::array<uint64_t, 2> identity = {};
  // Writes `size` bytes to memory of unknown contents.
  std::function<void(uint8_t*)> write;
};

struct VariableDescription {
  std::string name;
  std::vector<std::string> aliases;
  DataTypeDescription dtype;
  std::vector<int64_t> shape;
  uint32_t layout = 0;
  std::string role = "parameter";
  bool trainable = true;
  // Physical bytes, packed and padded as `layout` says: one of the two.
  std::vector<uint8_t> initial_value;
  GeneratedBytes generated_value = {};
};

struct ConstantDescription {  // one of the two
  std::vector<uint8_t> bytes;
  GeneratedBytes generated = {};
};

struct ArenaDescription {
  uint32_t device = 0;
  uint64_t byte_size = 0, alignment = 64;
};

enum class Storage : uint8_t { kArena, kVariable, kConstant, kInput, kOutput };

enum class BufferKind : uint8_t {
  kUnspecified,
  kActivation,
  kResidual,
  kRecomputed,
  kGradient,
  kState,
  kWorkspace
};

struct BufferDescription {
  Storage storage = Storage::kArena;
  uint32_t index = 0;
  uint64_t offset = 0;
  uint32_t size = 0;  // expression
  uint64_t planned_size = 0;
  uint32_t begin = 0, end = 0, alias_group = 0;
  std::string debug_name;
  uint32_t block = 0;
  BufferKind kind = BufferKind::kUnspecified;
  DataTypeDescription dtype = {};
};

struct OperandDescription {
  uint32_t buffer = 0;
  uint32_t offset = 0;  // expression
};

struct InstructionDescription {
  enum class Kind : uint8_t { kKernelCall, kCopy, kIf, kWhile, kLoop, kBindDim } kind = Kind::kKernelCall;
  // Kernel call: operands[0 .. output_count) written, the rest read.
  // Copy: operands[0] is the target, operands[1] the source, `byte_size` an expression.
  // If: operands[0] is the condition, blocks {then, else}.
  // While: operands[0] is the condition, blocks {condition, body}.
  // Loop: `count` an expression, `dim`, blocks {body}.
  // BindDim: operands[0] is the value, `dim`.
  uint32_t kernel = 0;
  std::vector<OperandDescription> operands;
  uint32_t output_count = 0;
  std::vector<uint32_t> dims;  // expressions
  uint32_t tiles = 0;          // expression
  uint32_t byte_size = 0;      // expression
  uint32_t device = 0;
  std::vector<uint8_t> params;
  std::vector<uint32_t> blocks;  // numbers of blocks of the entry
  uint32_t count = 0;            // expression
  uint32_t dim = 0;              // number of a dim of the entry
  uint32_t location = 0;         // 1 + index into ProgramDescription::locations; 0: none
  // Of a kernel call: 1 + an expression; 0: not known.
  uint32_t flops = 0, read_bytes = 0, written_bytes = 0;
  // Of a kernel call: expressions, one an output; empty: each is a whole buffer.
  std::vector<uint32_t> output_sizes;
};

struct BlockDescription {
  std::vector<InstructionDescription> instructions;
};

struct EntryDescription {
  std::string name;
  std::vector<TensorDescription> inputs, outputs;
  std::vector<DimDescription> dims;
  std::vector<ExpressionDescription> expressions;
  std::vector<EqualityDescription> equalities;
  std::vector<BufferDescription> buffers;
  std::vector<BlockDescription> blocks;
  std::vector<uint32_t> assigned_variables;
  uint64_t peak_bytes = 0, lower_bound_bytes = 0, naive_bytes = 0;
  std::string signature;
};

struct KernelDescription {
  std::string name;
  uint32_t operand_count = 0, output_count = 0, dim_count = 0;
  std::vector<uint64_t> offsets;  // one a target, into that target's code image
  uint64_t scratch_bytes = 0;
  std::string symbol;  // not empty: a function that the product registers under this name; there are no offsets
};

struct TargetDescription {
  std::string name;
  std::vector<std::string> features;
  std::vector<uint8_t> code;  // position-independent image without imports or relocations; starts on a page
};

struct ProgramDescription {
  std::string producer;
  std::vector<TargetDescription> targets;  // worst first
  std::vector<std::string> devices{"cpu"};
  std::vector<LayoutDescription> layouts{{}};  // layout 0 is row_major
  std::vector<VariableDescription> variables;
  std::vector<ConstantDescription> constants;
  std::vector<ArenaDescription> arenas;
  std::vector<KernelDescription> kernels;
  std::vector<EntryDescription> entries;
  uint64_t scratch_bytes = 0;
  std::vector<std::string> locations;  // "file.py:12" ..., the debug segment
  std::string weights_key_name;        // not empty: the weights are encrypted, with the key of this name
  uint8_t weights_cipher = 0;          // by which: schema::WeightsCipher
};

}  // namespace ferrule::serialize

#endif  // FERRULE_SERIALIZE_WRITER_PROGRAM_DESCRIPTION_H_

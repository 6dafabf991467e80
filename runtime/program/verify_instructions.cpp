// The instructions of an entry, in the order in which they run: indices, counts, where operands may be used, and that
// nothing is read before it was written, whichever way the run goes.
#include "runtime/program/entry_checks.h"

namespace ferrule::runtime {
namespace {

class InstructionVerifier : public EntryChecks {
 public:
  InstructionVerifier(const schema::Program& program, const schema::Entry& entry, const EntryMap& map,
                      const VerifyContext& context)
      : EntryChecks(program, entry, map, context) {}

  Status verify() {
    const Allocator& allocator = *context_.allocator;
    const uint32_t buffers = entry_.buffers()->size(), blocks = entry_.blocks()->size();
    FERRULE_RETURN_IF_ERROR(written_.allocate_zeroed(allocator, buffers, "the list of buffers"));
    FERRULE_RETURN_IF_ERROR(in_both_.allocate_zeroed(allocator, buffers, "the list of buffers"));
    FERRULE_RETURN_IF_ERROR(log_.allocate(allocator, buffers, "the list of buffers"));
    FERRULE_RETURN_IF_ERROR(part_of_.allocate_zeroed(allocator, buffers, "the list of buffers"));
    FERRULE_RETURN_IF_ERROR(position_in_.allocate(allocator, blocks, "the list of blocks"));
    for (uint32_t b = 0; b < blocks; ++b) position_in_[b] = kOutside;
    return verify_block(0);
  }

 private:
  static constexpr uint32_t kOutside = UINT32_MAX;

  // "instruction 3" or "instruction 3 of block 2".
  Status instruction_error(StatusCode code, uint32_t instruction) const {
    Status status =
        Status::error(code, "%s: entry '%s': instruction %u", context_.name, entry_.name()->c_str(), instruction);
    if (block_ != 0) status.append(" of block %u", block_);
    return status;
  }

  Status check_value(const char* what, uint32_t expression, uint32_t instruction) const {
    FERRULE_RETURN_IF_ERROR(check_expression(what, expression, instruction));
    const uint32_t now = map_.time(map_.instruction(block_, instruction)).begin;
    return map_.scope(expression).contains(now) ? Status() : no_value(what, expression, instruction);
  }

  Status verify_operand(const schema::Operand& operand, uint32_t instruction, bool is_written) {
    FERRULE_RETURN_IF_ERROR(
        check_index("the buffer of an operand", operand.buffer(), instruction, entry_.buffers()->size()));
    FERRULE_RETURN_IF_ERROR(check_value("the offset of an operand", operand.offset(), instruction));
    const schema::Buffer& buffer = *entry_.buffers()->Get(operand.buffer());
    if (buffer.storage() == schema::Storage_arena) return verify_arena_use(operand, instruction, is_written);
    if (!is_written || buffer.storage() == schema::Storage_output) return Status();
    if (buffer.storage() == schema::Storage_variable && is_assigned(buffer.index())) return Status();
    Status status = instruction_error(StatusCode::kInvalidArtifact, instruction);
    status.append(" writes buffer %u, which is %s", operand.buffer(),
                  buffer.storage() == schema::Storage_variable ? "a variable that the entry does not assign"
                  : buffer.storage() == schema::Storage_input  ? "an input"
                                                               : "a constant");
    return status;
  }

  bool is_assigned(uint32_t variable) const {
    const auto& assigned = *entry_.assigned_variables();
    uint32_t low = 0, high = assigned.size();
    while (low < high) {
      const uint32_t middle = low + (high - low) / 2;
      if (assigned.Get(middle) < variable) {
        low = middle + 1;
      } else {
        high = middle;
      }
    }
    return low < assigned.size() && assigned.Get(low) == variable;
  }

  Status verify_arena_use(const schema::Operand& operand, uint32_t instruction, bool is_written) {
    const uint32_t number = operand.buffer();
    const schema::Buffer& buffer = *entry_.buffers()->Get(number);
    // The instruction of the buffer's own block that this one is, or lies below.
    const uint32_t position = position_in_[buffer.block()];
    const char* wrong = nullptr;
    if (position == kOutside) {
      wrong = "outside its block";
    } else if (position < buffer.begin() || position > buffer.end()) {
      wrong = "outside its live interval";
    } else if (!is_written && !written_[number] && buffer.alias_group() == 0) {
      // A buffer of an alias group may read what another of the group wrote.
      wrong = "before anything was written to it";
    }
    if (wrong == nullptr) {
      if (is_written && !written_[number]) {
        log_[logged_++] = number;
        written_[number] = true;
        part_of_[number] = map_.scope(operand.offset()).begin;
      }
      return Status();
    }
    Status status = instruction_error(StatusCode::kInvalidArtifact, instruction);
    status.append(" uses buffer %u (live from %u to %u", number, buffer.begin(), buffer.end());
    if (buffer.block() != 0) status.append(" of block %u", buffer.block());
    status.append(") %s", wrong);
    return status;
  }

  // Forgets what was written since the log had that length: it may not have happened.
  void forget(uint32_t length) {
    while (logged_ > length) written_[log_[--logged_]] = false;
  }

  Status verify_call(const schema::KernelCall& call, uint32_t instruction) {
    FERRULE_RETURN_IF_ERROR(
        check_index("the kernel of a call", call.kernel(), instruction, program_.kernels()->size()));
    const schema::Kernel& kernel = *program_.kernels()->Get(call.kernel());
    if (call.operands()->size() != kernel.operand_count() || call.output_count() != kernel.output_count() ||
        call.dims()->size() != kernel.dim_count()) {
      Status status = instruction_error(StatusCode::kInvalidArtifact, instruction);
      status.append(" gives kernel '%s' %u operands, %u outputs and %u dims; it takes %u, %u and %u",
                    kernel.name()->c_str(), call.operands()->size(), call.output_count(), call.dims()->size(),
                    kernel.operand_count(), kernel.output_count(), kernel.dim_count());
      return status;
    }
    // Reads first: what an instruction writes is not there before it.
    for (uint32_t i = call.operands()->size(); i-- > 0;) {
      FERRULE_RETURN_IF_ERROR(verify_operand(*call.operands()->Get(i), instruction, i < call.output_count()));
    }
    for (uint32_t expression : *call.dims()) {
      FERRULE_RETURN_IF_ERROR(check_value("a dim of a call", expression, instruction));
    }
    FERRULE_RETURN_IF_ERROR(check_value("the tile count of a call", call.tiles(), instruction));
    if (call.output_sizes()->size() != 0) {
      FERRULE_RETURN_IF_ERROR(check_index("the number of output sizes of a call", call.output_sizes()->size(),
                                          instruction, uint64_t{call.output_count()} + 1));
      FERRULE_RETURN_IF_ERROR(check_index("the number of outputs without a size", call.output_count(), instruction,
                                          uint64_t{call.output_sizes()->size()} + 1));
    }
    for (const uint32_t expression : *call.output_sizes()) {
      FERRULE_RETURN_IF_ERROR(check_value("the size of an output", expression, instruction));
    }
    for (const uint32_t cost : {call.flops(), call.read_bytes(), call.written_bytes()}) {
      if (cost != 0) FERRULE_RETURN_IF_ERROR(check_value("a cost of a call", cost - 1, instruction));
    }
    FERRULE_RETURN_IF_ERROR(
        check_index("the device of a call", call.device(), instruction, program_.devices()->size()));
    return check_location(call.location(), instruction);
  }

  Status verify_copy(const schema::Copy& copy, uint32_t instruction) {
    FERRULE_RETURN_IF_ERROR(verify_operand(*copy.source(), instruction, false));
    FERRULE_RETURN_IF_ERROR(verify_operand(*copy.target(), instruction, true));
    FERRULE_RETURN_IF_ERROR(check_value("the size of a copy", copy.byte_size(), instruction));
    FERRULE_RETURN_IF_ERROR(
        check_index("the device of a copy", copy.device(), instruction, program_.devices()->size()));
    return check_location(copy.location(), instruction);
  }

  // After it, what both branches wrote counts as written.
  Status verify_if(const schema::If& branch, uint32_t instruction) {
    FERRULE_RETURN_IF_ERROR(check_location(branch.location(), instruction));
    FERRULE_RETURN_IF_ERROR(verify_operand(*branch.condition(), instruction, false));
    const uint32_t before = logged_;
    FERRULE_RETURN_IF_ERROR(verify_below(branch.then_block()));
    Array<Written> by_then;
    FERRULE_RETURN_IF_ERROR(by_then.allocate(*context_.allocator, logged_ - before, "the list of buffers"));
    for (uint32_t i = 0; i < by_then.size(); ++i) by_then[i] = {log_[before + i], part_of_[log_[before + i]]};
    forget(before);
    FERRULE_RETURN_IF_ERROR(verify_below(branch.else_block()));
    for (const Written& written : by_then) {
      in_both_[written.number] = written_[written.number];
      if (written.part_of < part_of_[written.number]) part_of_[written.number] = written.part_of;
    }
    uint32_t kept = before;
    for (uint32_t i = before; i < logged_; ++i) {
      const uint32_t number = log_[i];
      written_[number] = in_both_[number];
      in_both_[number] = false;
      if (written_[number]) log_[kept++] = number;
    }
    logged_ = kept;
    return Status();
  }

  // The condition block runs at least once, the body perhaps never.
  Status verify_while(const schema::While& loop, uint32_t instruction) {
    FERRULE_RETURN_IF_ERROR(check_location(loop.location(), instruction));
    FERRULE_RETURN_IF_ERROR(verify_below(loop.condition_block()));
    FERRULE_RETURN_IF_ERROR(verify_operand(*loop.condition(), instruction, false));
    const uint32_t before = logged_;
    FERRULE_RETURN_IF_ERROR(verify_below(loop.body_block()));
    forget(before);
    return Status();
  }

  // The body may run no times. A buffer that it writes part by part, each step its own, has no parts then, so it counts
  // as written.
  Status verify_loop(const schema::Loop& loop, uint32_t instruction) {
    FERRULE_RETURN_IF_ERROR(check_location(loop.location(), instruction));
    FERRULE_RETURN_IF_ERROR(check_value("the count of a loop", loop.count(), instruction));
    const uint32_t before = logged_, body = map_.time(map_.instruction(block_, instruction)).begin + 1;
    FERRULE_RETURN_IF_ERROR(verify_below(loop.body_block()));
    uint32_t kept = before;
    for (uint32_t i = before; i < logged_; ++i) {
      written_[log_[i]] = part_of_[log_[i]] >= body;
      if (written_[log_[i]]) log_[kept++] = log_[i];
    }
    logged_ = kept;
    return Status();
  }

  Status verify_bind(const schema::BindDim& bind, uint32_t instruction) {
    FERRULE_RETURN_IF_ERROR(check_location(bind.location(), instruction));
    return verify_operand(*bind.value(), instruction, false);
  }

  // A block of the instruction at hand.
  Status verify_below(uint32_t block) {
    const uint32_t outer = block_;
    FERRULE_RETURN_IF_ERROR(verify_block(block));
    block_ = outer;
    return Status();
  }

  Status verify_block(uint32_t block) {
    const auto& instructions = *entry_.blocks()->Get(block)->instructions();
    block_ = block;
    for (uint32_t i = 0; i < instructions.size(); ++i) {
      position_in_[block] = i;
      FERRULE_RETURN_IF_ERROR(verify_instruction(*instructions.Get(i), i));
    }
    position_in_[block] = kOutside;
    return Status();
  }

  Status verify_instruction(const schema::InstructionNode& node, uint32_t instruction) {
    switch (node.instruction_type()) {
      case schema::Instruction_KernelCall:
        return verify_call(*node.instruction_as_KernelCall(), instruction);
      case schema::Instruction_Copy:
        return verify_copy(*node.instruction_as_Copy(), instruction);
      case schema::Instruction_If:
        return verify_if(*node.instruction_as_If(), instruction);
      case schema::Instruction_While:
        return verify_while(*node.instruction_as_While(), instruction);
      case schema::Instruction_Loop:
        return verify_loop(*node.instruction_as_Loop(), instruction);
      case schema::Instruction_BindDim:
        return verify_bind(*node.instruction_as_BindDim(), instruction);
      default:
        Status status = instruction_error(StatusCode::kUnsupported, instruction);
        status.append(" is of kind %u, which this runtime does not know", node.instruction_type());
        return status;
    }
  }

  struct Written {
    uint32_t number, part_of;
  };

  Array<bool> written_;      // arena buffers that were written for sure
  Array<uint32_t> part_of_;  // of each of those: where the scope of the offset begins, 0 for one place in all steps
  Array<bool> in_both_;      // false but within verify_if
  Array<uint32_t> log_;      // the first logged_: what is written_, in order
  uint32_t logged_ = 0;
  Array<uint32_t> position_in_;  // one a block: the instruction that is being verified, or kOutside
};

}  // namespace

Status verify_instructions(const schema::Program& program, const schema::Entry& entry, const EntryMap& map,
                           const VerifyContext& context) {
  return InstructionVerifier(program, entry, map, context).verify();
}

}  // namespace ferrule::runtime

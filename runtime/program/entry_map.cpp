#include "runtime/program/entry_map.h"

#include "serialize/schema/artifact_header.h"

namespace ferrule::runtime {

template <typename DimOf>
Status NumbersByDim::build(const Allocator& allocator, uint32_t dim_count, uint32_t count, DimOf dim_of) {
  FERRULE_RETURN_IF_ERROR(starts_.allocate_zeroed(allocator, size_t{dim_count} + 2, "what depends on each dim"));
  // Counts stand two further on, starts one further on while the groups are filled, then in place.
  for (uint32_t i = 0; i < count; ++i) {
    const uint32_t dim = dim_of(i);
    if (dim != EntryMap::kNoDim) ++starts_[dim + 2];
  }
  for (uint32_t dim = 0; dim < dim_count; ++dim) starts_[dim + 2] += starts_[dim + 1];
  FERRULE_RETURN_IF_ERROR(numbers_.allocate(allocator, starts_[dim_count + 1], "what depends on each dim"));
  for (uint32_t i = 0; i < count; ++i) {
    const uint32_t dim = dim_of(i);
    if (dim != EntryMap::kNoDim) numbers_[starts_[dim + 1]++] = i;
  }
  return Status();
}

class EntryMapBuilder {
 public:
  EntryMapBuilder(const schema::Entry& entry, const char* name, const Allocator& allocator, EntryMap* map)
      : entry_(entry), name_(name), allocator_(allocator), map_(*map) {}

  Status build() {
    FERRULE_RETURN_IF_ERROR(allocate());
    FERRULE_RETURN_IF_ERROR(walk(0, 0));
    if (next_block_ != entry_.blocks()->size()) return wrong("block %u belongs to no instruction", next_block_);
    map_.end_time_ = now_;
    end_block(0, map_.end_time_ + 1);
    FERRULE_RETURN_IF_ERROR(scope_expressions());
    return check_limits();
  }

 private:
  // Where a dim has a value, and the block whose end ends it.
  struct DimScope {
    TimeSpan time;
    uint32_t block;
  };
  static constexpr uint32_t kNoBlock = UINT32_MAX;

  Status wrong(const char* what, uint32_t number) {
    Status status = Status::error(StatusCode::kInvalidArtifact, "%s: entry '%s': ", name_, entry_.name()->c_str());
    status.append(what, number);
    return status;
  }
  Status wrong(const char* what, const schema::Dim& dim) {
    Status status = Status::error(StatusCode::kInvalidArtifact, "%s: entry '%s': ", name_, entry_.name()->c_str());
    status.append(what, dim.name()->c_str());
    return status;
  }

  Status allocate() {
    const uint32_t blocks = entry_.blocks()->size();
    if (blocks == 0) return wrong("there are %u blocks", 0);
    FERRULE_RETURN_IF_ERROR(map_.first_instruction_.allocate(allocator_, blocks, "the map of an entry"));
    uint32_t instructions = 0;
    for (uint32_t b = 0; b < blocks; ++b) {
      map_.first_instruction_[b] = instructions;
      instructions += entry_.blocks()->Get(b)->instructions()->size();
    }
    FERRULE_RETURN_IF_ERROR(map_.times_.allocate(allocator_, instructions, "the map of an entry"));
    const uint32_t dims = entry_.dims()->size();
    FERRULE_RETURN_IF_ERROR(dim_scopes_.allocate(allocator_, dims, "the map of an entry"));
    FERRULE_RETURN_IF_ERROR(dims_of_block_.allocate(allocator_, dims, "the map of an entry"));
    for (uint32_t d = 0; d < dims; ++d) dim_scopes_[d] = {{0, 0}, kNoBlock};
    return Status();
  }

  // Gives times to the instructions of `block` and of all below, and to the dims that they bind.
  Status walk(uint32_t block, uint32_t depth) {
    if (depth > serialize::kMaximumBlockDepth) return wrong("block %u lies too deep", block);
    const auto& instructions = *entry_.blocks()->Get(block)->instructions();
    const uint32_t first_dim = open_dims_;
    for (uint32_t i = 0; i < instructions.size(); ++i) {
      const schema::InstructionNode& node = *instructions.Get(i);
      TimeSpan& time = map_.times_[map_.instruction(block, i)];
      time.begin = now_++;
      if (const schema::If* branch = node.instruction_as_If()) {
        FERRULE_RETURN_IF_ERROR(enter(branch->then_block(), depth));
        FERRULE_RETURN_IF_ERROR(enter(branch->else_block(), depth));
      } else if (const schema::While* loop = node.instruction_as_While()) {
        FERRULE_RETURN_IF_ERROR(enter(loop->condition_block(), depth));
        FERRULE_RETURN_IF_ERROR(enter(loop->body_block(), depth));
      } else if (const schema::Loop* counted = node.instruction_as_Loop()) {
        FERRULE_RETURN_IF_ERROR(begin_dim(counted->dim(), schema::DimSource_iteration, counted->body_block()));
        FERRULE_RETURN_IF_ERROR(enter(counted->body_block(), depth));
        end_block(open_dims_ - 1, now_);
      } else if (const schema::BindDim* bind = node.instruction_as_BindDim()) {
        FERRULE_RETURN_IF_ERROR(begin_dim(bind->dim(), schema::DimSource_instruction, block));
      }
      time.end = now_;
    }
    if (block != 0) end_block(first_dim, now_);
    return Status();
  }

  Status enter(uint32_t block, uint32_t depth) {
    if (block != next_block_ || block >= entry_.blocks()->size()) {
      return Status::error(StatusCode::kInvalidArtifact,
                           "%s: entry '%s': the walk through its blocks meets block %u; expected is %u of %u", name_,
                           entry_.name()->c_str(), block, next_block_, entry_.blocks()->size());
    }
    ++next_block_;
    return walk(block, depth + 1);
  }

  Status begin_dim(uint32_t dim, schema::DimSource source, uint32_t block) {
    if (dim >= entry_.dims()->size()) return wrong("an instruction gives a value to dim %u, which does not exist", dim);
    if (entry_.dims()->Get(dim)->source() != source) {
      return wrong("the dim '%s' is bound by an instruction that is not its source", *entry_.dims()->Get(dim));
    }
    if (dim_scopes_[dim].block != kNoBlock) {
      return wrong("two instructions bind the dim '%s'", *entry_.dims()->Get(dim));
    }
    dim_scopes_[dim] = {{now_, now_}, block};
    dims_of_block_[open_dims_++] = dim;
    return Status();
  }

  // The dims bound since `first_dim` end here.
  void end_block(uint32_t first_dim, uint32_t end) {
    while (open_dims_ > first_dim) dim_scopes_[dims_of_block_[--open_dims_]].time.end = end;
  }

  Status scope_expressions() {
    for (uint32_t d = 0; d < entry_.dims()->size(); ++d) {
      const schema::Dim& dim = *entry_.dims()->Get(d);
      if (dim.source() == schema::DimSource_input) {
        dim_scopes_[d].time = {0, map_.end_time_ + 1};
      } else if (dim_scopes_[d].block == kNoBlock) {
        return wrong("no instruction binds the dim '%s'", dim);
      }
      if (dim.source() == schema::DimSource_instruction && dim_scopes_[d].block == 0) map_.has_late_dims_ = true;
    }
    const auto& nodes = *entry_.expressions();
    FERRULE_RETURN_IF_ERROR(map_.scopes_.allocate(allocator_, nodes.size(), "the map of an entry"));
    FERRULE_RETURN_IF_ERROR(map_.innermost_.allocate(allocator_, nodes.size(), "the map of an entry"));
    for (uint32_t i = 0; i < nodes.size(); ++i) {
      const schema::Expression& node = *nodes.Get(i);
      map_.scopes_[i] = {0, map_.end_time_ + 1};
      map_.innermost_[i] = EntryMap::kNoDim;
      if (node.kind() == schema::ExpressionKind_constant) continue;
      if (node.kind() == schema::ExpressionKind_dim) {
        const uint32_t dim = static_cast<uint32_t>(node.value());
        map_.scopes_[i] = dim_scopes_[dim].time;
        if (entry_.dims()->Get(dim)->source() != schema::DimSource_input) map_.innermost_[i] = dim;
        continue;
      }
      narrow(i, node.left());
      narrow(i, node.right());
    }
    return Status();
  }

  // Expression `i` has a value where `operand` has one.
  void narrow(uint32_t i, uint32_t operand) {
    const TimeSpan other = map_.scopes_[operand];
    TimeSpan& scope = map_.scopes_[i];
    if (other.begin > scope.begin) {
      scope.begin = other.begin;
      map_.innermost_[i] = map_.innermost_[operand];
    }
    if (other.end < scope.end) scope.end = other.end;
  }

  // A limit has a value where its dim gets one, and stands before everything that is evaluated with it.
  Status check_limits() {
    for (uint32_t d = 0; d < entry_.dims()->size(); ++d) {
      const schema::Dim& dim = *entry_.dims()->Get(d);
      if (dim.source() != schema::DimSource_instruction) continue;
      // A dim begins right behind the instruction that reads it.
      if (!map_.scopes_[dim.limit()].contains(dim_scopes_[d].time.begin - 1)) {
        return wrong("the limit of the dim '%s' has no value where the dim is bound", dim);
      }
    }
    for (uint32_t i = 0; i < entry_.expressions()->size(); ++i) {
      const schema::Expression& node = *entry_.expressions()->Get(i);
      if (node.kind() != schema::ExpressionKind_dim) continue;
      const schema::Dim& dim = *entry_.dims()->Get(static_cast<uint32_t>(node.value()));
      if (dim.source() == schema::DimSource_instruction && dim.limit() >= i) {
        return wrong("the limit of the dim '%s' stands behind an expression of the dim", dim);
      }
    }
    return Status();
  }

  const schema::Entry& entry_;
  const char* name_;
  const Allocator& allocator_;
  EntryMap& map_;
  uint32_t now_ = 0;
  uint32_t next_block_ = 1;
  uint32_t open_dims_ = 0;
  Array<DimScope> dim_scopes_;
  Array<uint32_t> dims_of_block_;  // the first open_dims_: bound in the blocks that the walk is in
};

Status EntryMap::build(const schema::Entry& entry, const char* name, const Allocator& allocator) {
  return EntryMapBuilder(entry, name, allocator, this).build();
}

Status EntryMap::finish(const schema::Entry& entry, const Allocator& allocator) {
  const uint32_t dims = entry.dims()->size();
  FERRULE_RETURN_IF_ERROR(expressions_.build(allocator, dims, entry.expressions()->size(), [this](uint32_t i) {
    return scopes_[i].empty() ? kNoDim : innermost_[i];
  }));
  FERRULE_RETURN_IF_ERROR(buffers_.build(allocator, dims, entry.buffers()->size(),
                                         [&](uint32_t i) { return innermost_[entry.buffers()->Get(i)->size()]; }));
  FERRULE_RETURN_IF_ERROR(equalities_.build(allocator, dims, entry.equalities()->size(), [&](uint32_t i) {
    const schema::Equality& equality = *entry.equalities()->Get(i);
    return innermost_[later(equality.left(), equality.right())];
  }));
  FERRULE_RETURN_IF_ERROR(outputs_.build(allocator, dims, entry.outputs()->size(), [&](uint32_t i) {
    const auto& shape = *entry.outputs()->Get(i)->shape();
    if (shape.size() == 0) return kNoDim;
    uint32_t latest = shape.Get(0);
    for (uint32_t expression : shape) latest = later(latest, expression);
    return innermost_[latest];
  }));
  FERRULE_RETURN_IF_ERROR(changes_.allocate(allocator, times_.size(), "the map of an entry"));
  for (uint32_t b = 0; b < entry.blocks()->size(); ++b) {
    const auto& instructions = *entry.blocks()->Get(b)->instructions();
    for (uint32_t i = 0; i < instructions.size(); ++i) {
      changes_[instruction(b, i)] = asks_again(*instructions.Get(i));
    }
  }
  return Status();
}

bool EntryMap::asks_again(const schema::InstructionNode& node) const {
  const auto moves = [this](const schema::Operand& operand) { return !is_static(operand.offset()); };
  if (const schema::KernelCall* call = node.instruction_as_KernelCall()) {
    for (const schema::Operand* operand : *call->operands()) {
      if (moves(*operand)) return true;
    }
    return !is_static(call->tiles());
  }
  if (const schema::Copy* copy = node.instruction_as_Copy()) {
    return moves(*copy->target()) || moves(*copy->source()) || !is_static(copy->byte_size());
  }
  if (const schema::If* branch = node.instruction_as_If()) return moves(*branch->condition());
  if (const schema::While* loop = node.instruction_as_While()) return moves(*loop->condition());
  if (const schema::Loop* counted = node.instruction_as_Loop()) return !is_static(counted->count());
  return moves(*node.instruction_as_BindDim()->value());
}

}  // namespace ferrule::runtime

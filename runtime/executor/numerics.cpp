// Looks for the first element that is not finite.
#include <string.h>

#include "runtime/executor/session.h"

namespace ferrule::runtime {
namespace {

constexpr uint64_t kNone = UINT64_MAX;

// The index of the first element whose exponent bits `exponent` are all set; *out_bits are its bits.
template <typename Bits>
uint64_t find_special(const uint8_t* data, uint64_t byte_size, Bits exponent, uint64_t* out_bits) {
  const uint64_t count = byte_size / sizeof(Bits);
  for (uint64_t i = 0; i < count; ++i) {
    Bits bits;
    memcpy(&bits, data + i * sizeof(Bits), sizeof(Bits));
    if ((bits & exponent) != exponent) continue;
    *out_bits = bits;
    return i;
  }
  return kNone;
}

struct NotFinite {
  uint64_t index = kNone;
  const char* value = "";
};

template <typename Bits>
NotFinite find(const uint8_t* data, uint64_t byte_size, Bits exponent) {
  NotFinite found;
  uint64_t bits = 0;
  found.index = find_special(data, byte_size, exponent, &bits);
  if (found.index == kNone) return found;
  constexpr uint64_t kSign = uint64_t{1} << (8 * sizeof(Bits) - 1);
  const bool is_infinite = (bits & ~kSign) == exponent;
  found.value = !is_infinite ? "nan" : (bits & kSign) != 0 ? "-inf" : "inf";
  return found;
}

// Elements that are not floating point are finite.
NotFinite find_not_finite(const schema::DataType& dtype, const uint8_t* data, uint64_t byte_size) {
  constexpr uint8_t kFloat = 2, kBfloat = 4;
  if (dtype.code() == kBfloat && dtype.bits() == 16) return find<uint16_t>(data, byte_size, 0x7F80);
  if (dtype.code() != kFloat) return {};
  switch (dtype.bits()) {
    case 16:
      return find<uint16_t>(data, byte_size, 0x7C00);
    case 32:
      return find<uint32_t>(data, byte_size, 0x7F800000);
    case 64:
      return find<uint64_t>(data, byte_size, uint64_t{0x7FF} << 52);
    default:
      return {};
  }
}

void append_element(const NotFinite& found, const char* of, const schema::DataType& dtype, uint64_t byte_size,
                    Status* status) {
  status->append("element %llu of %llu in memory of '%s' is %s", static_cast<unsigned long long>(found.index),
                 static_cast<unsigned long long>(byte_size * 8 / dtype.bits()), of, found.value);
}

}  // namespace

void Session::check_numerics(bool enabled) {
  static constexpr NumericsCheck kCheck = {&Session::check_arguments, &Session::check_results};
  numerics_ = enabled ? &kCheck : nullptr;
}

// Before anything has run: the inputs, and the variables that the entry knows.
Status Session::check_arguments(const schema::Entry& entry) const {
  for (uint32_t i = 0; i < entry.buffers()->size(); ++i) {
    const schema::Buffer& buffer = *entry.buffers()->Get(i);
    const bool is_input = buffer.storage() == schema::Storage_input;
    if (!is_input && buffer.storage() != schema::Storage_variable) continue;
    const auto byte_size = static_cast<uint64_t>(values_[buffer.size()]);
    const NotFinite found = find_not_finite(*buffer.dtype(), buffers_[i], byte_size);
    if (found.index == kNone) continue;
    Status status = Status::error(is_input ? StatusCode::kInvalidArgument : StatusCode::kFailedPrecondition,
                                  "entry '%s' begins with a value that is not finite: ", entry.name()->c_str());
    append_element(found, buffer.debug_name()->c_str(), *buffer.dtype(), byte_size, &status);
    return status;
  }
  return Status();
}

// What a kernel wrote. A copy makes no values.
Status Session::check_results(const schema::Entry& entry, const schema::InstructionNode& node) const {
  const schema::KernelCall* call = node.instruction_as_KernelCall();
  if (call == nullptr) return Status();
  for (uint32_t i = 0; i < call->output_count(); ++i) {
    const schema::Operand& operand = *call->operands()->Get(i);
    const schema::Buffer& buffer = *entry.buffers()->Get(operand.buffer());
    const int64_t room = values_[buffer.size()] - values_[operand.offset()];
    int64_t byte_size = call->output_sizes()->size() == 0 ? room : values_[call->output_sizes()->Get(i)];
    if (byte_size > room) byte_size = room;
    if (byte_size <= 0) continue;
    const NotFinite found = find_not_finite(*buffer.dtype(), address(operand), static_cast<uint64_t>(byte_size));
    if (found.index == kNone) continue;
    const char* location = program_->location(call->location());
    Status status = Status::error(StatusCode::kKernelError, "entry '%s', kernel '%s'%s%s made a value that is not finite: ",
                                  entry.name()->c_str(),
                                  program_->metadata()->kernels()->Get(call->kernel())->name()->c_str(),
                                  location[0] == '\0' ? "" : " at ", location);
    append_element(found, buffer.debug_name()->c_str(), *buffer.dtype(), static_cast<uint64_t>(byte_size), &status);
    return status;
  }
  return Status();
}

}  // namespace ferrule::runtime

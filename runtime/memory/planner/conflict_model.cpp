#include "runtime/memory/planner/conflict_model.h"

#include <algorithm>

namespace ferrule::memory {
namespace {

// Fills the section range of every interval and returns the number of sections. Sweeps over begins and ends; the
// live set stops growing, and so is a section, at the first end after a begin.
uint32_t assign_sections(const std::vector<Interval>& intervals, const std::vector<uint32_t>& members,
                         ConflictModel* model) {
  const size_t count = members.size();
  std::vector<uint32_t> by_begin(count), by_end(count);
  for (size_t i = 0; i < count; ++i) by_begin[i] = by_end[i] = static_cast<uint32_t>(i);
  auto interval = [&](uint32_t i) -> const Interval& { return intervals[members[i]]; };
  std::sort(by_begin.begin(), by_begin.end(),
            [&](uint32_t a, uint32_t b) { return interval(a).begin < interval(b).begin; });
  std::sort(by_end.begin(), by_end.end(), [&](uint32_t a, uint32_t b) { return interval(a).end < interval(b).end; });
  model->first_section.resize(count);
  model->last_section.resize(count);
  uint32_t sections = 0;
  for (size_t begun = 0, ended = 0; ended < count;) {
    while (begun < count && interval(by_begin[begun]).begin <= interval(by_end[ended]).end)
      model->first_section[by_begin[begun++]] = sections;
    const int64_t next_begin = begun < count ? interval(by_begin[begun]).begin : INT64_MAX;
    while (ended < count && (begun == count || interval(by_end[ended]).end < next_begin))
      model->last_section[by_end[ended++]] = sections;
    ++sections;
  }
  return sections;
}

void list_sections(uint32_t section_count, ConflictModel* model) {
  const size_t count = model->count();
  std::vector<uint32_t>& begin = model->sections.begin;
  begin.assign(section_count + 1, 0);
  model->section_bytes.assign(section_count, 0);
  for (size_t i = 0; i < count; ++i) {
    for (uint32_t s = model->first_section[i]; s <= model->last_section[i]; ++s) {
      ++begin[s + 1];
      model->section_bytes[s] += model->sizes[i];
    }
  }
  for (uint32_t s = 0; s < section_count; ++s) begin[s + 1] += begin[s];
  model->sections.items.resize(begin[section_count]);
  std::vector<uint32_t> cursor(begin.begin(), begin.end() - 1);
  for (size_t i = 0; i < count; ++i)
    for (uint32_t s = model->first_section[i]; s <= model->last_section[i]; ++s)
      model->sections.items[cursor[s]++] = static_cast<uint32_t>(i);
}

// Interval i conflicts with everything in its first section, and with what begins in a later one of its sections.
bool list_conflicts(uint64_t entry_limit, ConflictModel* model) {
  const size_t count = model->count();
  std::vector<std::vector<uint32_t>> beginning(model->section_count());
  for (size_t i = 0; i < count; ++i) beginning[model->first_section[i]].push_back(static_cast<uint32_t>(i));
  model->conflicts.begin.assign(1, 0);
  for (size_t i = 0; i < count; ++i) {
    const uint32_t first = model->first_section[i];
    for (uint32_t k = model->sections.begin[first]; k < model->sections.begin[first + 1]; ++k)
      if (model->sections.items[k] != i) model->conflicts.items.push_back(model->sections.items[k]);
    for (uint32_t s = first + 1; s <= model->last_section[i]; ++s)
      model->conflicts.items.insert(model->conflicts.items.end(), beginning[s].begin(), beginning[s].end());
    if (model->conflicts.items.size() > entry_limit) return false;
    model->conflicts.begin.push_back(static_cast<uint32_t>(model->conflicts.items.size()));
  }
  return true;
}

}  // namespace

std::vector<std::vector<uint32_t>> independent_groups(const std::vector<Interval>& intervals) {
  std::vector<uint32_t> by_begin;
  for (size_t i = 0; i < intervals.size(); ++i)
    if (intervals[i].size > 0) by_begin.push_back(static_cast<uint32_t>(i));
  std::sort(by_begin.begin(), by_begin.end(), [&](uint32_t a, uint32_t b) {
    return intervals[a].begin != intervals[b].begin ? intervals[a].begin < intervals[b].begin : a < b;
  });
  std::vector<std::vector<uint32_t>> groups;
  int64_t group_end = 0;
  for (uint32_t i : by_begin) {
    if (groups.empty() || intervals[i].begin > group_end) {
      groups.emplace_back();
      group_end = intervals[i].end;
    }
    groups.back().push_back(i);
    group_end = std::max(group_end, intervals[i].end);
  }
  return groups;
}

bool build_conflict_model(const std::vector<Interval>& intervals, const std::vector<uint32_t>& members,
                          uint64_t granule, uint64_t entry_limit, ConflictModel* out_model) {
  *out_model = {};
  out_model->granule = granule;
  for (uint32_t i : members) {
    out_model->sizes.push_back((intervals[i].size + granule - 1) / granule * granule);
    out_model->alignments.push_back(intervals[i].alignment);
  }
  const uint32_t section_count = assign_sections(intervals, members, out_model);
  uint64_t entries = 0;
  for (size_t i = 0; i < members.size(); ++i)
    entries += out_model->last_section[i] - out_model->first_section[i] + 1;
  if (entries > entry_limit) return false;
  list_sections(section_count, out_model);
  return list_conflicts(entry_limit, out_model);
}

}  // namespace ferrule::memory

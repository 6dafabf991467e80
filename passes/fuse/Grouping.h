// Groups of ops that become dispatches: which op belongs where.
#ifndef FERRULE_PASSES_FUSE_GROUPING_H_
#define FERRULE_PASSES_FUSE_GROUPING_H_

#include "passes/fuse/CheapValues.h"
#include "passes/fuse/Fuse.h"

#include "ir/graph/Shapes.h"

#include "llvm/ADT/BitVector.h"

#include <vector>

namespace mlir::ferrule {

struct Group {
  /// Members in program order; `resultDims` is the shape of what they store.
  SmallVector<Operation *> members;
  Dims resultDims;
  /// Whether consumers may join.
  bool open = true;
  /// What the members read from memory, and what they compute again on the way.
  llvm::SetVector<Value> leaves;
  llvm::SetVector<Operation *> clones;
  /// Clones whose values are stored too, for readers that run behind this group.
  SmallVector<Operation *> storedClones;
  /// Leaves that are read from the stored clones of another group, whose number it is.
  DenseMap<Value, unsigned> lateLeaves;
  /// All groups that this one depends on.
  llvm::BitVector dependencies;

  /// The group whose stored clone is read for this leaf; none where the leaf itself is.
  std::optional<unsigned> getLateMaker(Value leaf) const {
    auto it = lateLeaves.find(leaf);
    return it == lateLeaves.end() ? std::nullopt : std::optional<unsigned>(it->second);
  }
};

/// The groups of one block's ops. They never form a cycle: for each the set of all groups that it depends on is kept,
/// O(groups^2 / 64) bits.
class Grouping {
public:
  Grouping(Block &block, const FuseOptions &options) : block(block), options(options), cheap(options.fuse) {}

  /// Finds the groups.
  void run();

  /// Number of the group that op is a member of.
  std::optional<unsigned> groupOf(Operation *op) const {
    auto it = groupIndex.find(op);
    return it == groupIndex.end() ? std::nullopt : std::optional<unsigned>(it->second);
  }

  const Group &getGroup(unsigned index) const { return groups[index]; }

  /// Values that some group or outside op reads from memory.
  llvm::SetVector<Value> collectRequired() const;

private:
  void addDependencies(Value value, llvm::BitVector &bits) const;
  void addDependencies(unsigned index, const llvm::BitVector &needed);
  void completeDependencies();
  bool dependsOn(unsigned index, unsigned other) const;
  void collectLeaves(Operation *op, unsigned group, llvm::SetVector<Value> &leaves,
                     llvm::SetVector<Operation *> &clones) const;
  bool canJoin(Operation *op, unsigned index) const;
  void join(Operation *op, unsigned index);
  void place(Operation *op);
  bool makesProducts(unsigned index) const;
  bool wastesLanes(Operation *op, unsigned index) const;
  std::optional<unsigned> findReadingGroup(Operation *op, unsigned index) const;
  std::optional<unsigned> findSibling(Operation *op) const;
  bool sharesLeaf(Operation *op, unsigned index) const;
  std::optional<unsigned> findSharedReduction(Operation *op) const;
  void materializeViews();

  void storeLate();
  bool storeLate(Operation *op, ArrayRef<unsigned> readers, unsigned maker);
  bool addStoredClone(Operation *op, unsigned maker);
  unsigned getPosition(unsigned index) const { return positions.lookup(groups[index].members.back()); }

  Block &block;
  FuseOptions options;
  CheapValues cheap;
  std::vector<Group> groups;
  DenseMap<Operation *, unsigned> groupIndex;
  /// In the block, once all ops have their groups.
  DenseMap<Operation *, unsigned> positions;
};

} // namespace mlir::ferrule

#endif // FERRULE_PASSES_FUSE_GROUPING_H_

//===- MergeEntries_test.cpp - Entries, names and dims of a program -------===//

#include "frontend/core/EntryCall.h"
#include "frontend/core/TestSupport.h"

using namespace ferrule;
using namespace ferrule::frontend;

namespace {

struct MergeTest : RecordingFrontend {
  VariableRef weight = makeVariable("", nullptr);
  VariableRef momentum = makeVariable("", weight);

  VariableRef makeVariable(std::string name, VariableRef owner) {
    return std::make_shared<Variable>(makeTensor<float>(DataType::Float32, {2}, {1, 2}), std::move(name),
                                      owner ? "optimizer_state" : "parameter", !owner, owner);
  }

  /// x * w, and w, m assigned if `trains`.
  EntryRef makeEntry(std::string name, bool trains, DimRange range = {1, 8, 1}) {
    DimExpr batch = llvm::cantFail(frontend.declareDim("batch", range));
    auto trace = llvm::cantFail(frontend.beginTrace(std::move(name)));
    TensorRef x = llvm::cantFail(trace->addInput("x", DataType::Float32, {batch, 2}, {}));
    TensorRef w = llvm::cantFail(frontend.readVariable(weight, {}));
    TensorRef y = frontend::apply(frontend, "mul", {x, w});
    if (trains) {
      TensorRef m = llvm::cantFail(frontend.readVariable(momentum, {}));
      TensorRef next = frontend::apply(frontend, "sub", {w, m});
      llvm::cantFail(frontend.assignVariable(weight, next, {}));
      llvm::cantFail(frontend.assignVariable(momentum, w, {}));
    }
    EntryRef entry = llvm::cantFail(trace->finish({{"out.0", y}}, "{}"));
    frontend.endTrace(trace.get());
    return entry;
  }

  std::string merge(const NamedEntries &entries, const NamedVariables &names) {
    auto module = frontend.buildProgram(entries, names);
    if (!module)
      return takeErrorText(module.takeError()).message;
    std::string text;
    llvm::raw_string_ostream os(text);
    module->module->print(os);
    for (const auto &[name, value] : module->initialValues)
      os << name << " begins with " << static_cast<const float *>(value->getBuffer()->data())[1] << "\n";
    return text;
  }
};

} // namespace

TEST_CASE_METHOD(MergeTest, "variables are shared, named, and know their owner") {
  EntryRef train = makeEntry("a", true), predict = makeEntry("b", false);
  std::string text = merge({{"train", train}, {"predict", predict}},
                           {{"net.w", weight}, {"tied.w", weight}, {"momentum.net.w", momentum}});
  CHECK_THAT(text, Catch::Contains("ferrule.variable @net.w {aliases = "
                                   "[\"tied.w\"]"));
  CHECK_THAT(text, Catch::Contains("\nnet.w begins with 2.000000e+00\nmomentum.net.w begins with 2.000000e+00\n"));
  CHECK_THAT(text, Catch::Contains("of = @net.w"));
  CHECK_THAT(text, Catch::Contains("func.func @train("));
  CHECK_THAT(text, Catch::Contains("func.func @predict("));
  CHECK_THAT(text, Catch::Contains("ferrule.assign @momentum.net.w"));
}

TEST_CASE_METHOD(MergeTest, "an unnamed variable is an error") {
  CHECK_THAT(merge({{"train", makeEntry("a", true)}}, {{"net.w", weight}}),
             Catch::Contains("entry `train` uses an unnamed variable of shape "
                             "[2] (dtype float32, role optimizer_state)"));
}

TEST_CASE_METHOD(MergeTest, "two variables of one name are an error") {
  CHECK_THAT(merge({{"train", makeEntry("a", true)}}, {{"net.w", weight}, {"net.w", momentum}}),
             Catch::Contains("the name `net.w` of a variable is taken by a "
                             "variable"));
}

TEST_CASE_METHOD(MergeTest, "a dim has one range in a program") {
  EntryRef small = makeEntry("a", false), large = makeEntry("b", false, {1, 99, 1});
  CHECK_THAT(merge({{"small", small}, {"large", large}}, {{"net.w", weight}}),
             Catch::Contains("the dim `batch` has different ranges in the "
                             "entries `small` and `large`"));
}

TEST_CASE_METHOD(MergeTest, "a call in dynamic mode passes the variables") {
  EntryRef train = makeEntry("a", true);
  mlir::OwningOpRef<mlir::ModuleOp> module = makeStateless(*train);
  REQUIRE(mlir::succeeded(module->verify()));
  std::string text;
  llvm::raw_string_ostream os(text);
  module->print(os);
  CHECK_THAT(text, !Catch::Contains("ferrule.read"));
  CHECK_THAT(text, !Catch::Contains("ferrule.assign"));
  CHECK_THAT(text, Catch::Contains("return %1, %2, %arg1"));
}

// Random numbers as pure functions: element i of a draw follows from the state, int64 [2] = (seed, number of the draw), and
// its row-major number i. Whoever draws adds 1 to the number of the draw, a variable, so that a draw that is computed again
// gives the same numbers. The generator is Philox4x32-10.
#ifndef FERRULE_IR_GRAPH_RANDOM_TD
#define FERRULE_IR_GRAPH_RANDOM_TD

include "ir/graph/Base.td"

class Ferrule_Random<string mnemonic>
    : Ferrule_LibraryOp<mnemonic, ZeroGradient, "getElementCount(getResult()) * ::ferrule::DimExpr(32)"> {
  let arguments = (ins Ferrule_Tensor:$state, Ferrule_DimsAttr:$shape, TypeAttr:$dtype);
  let results = (outs Ferrule_Tensor:$result);
}
def Ferrule_RandomBitsOp : Ferrule_Random<"random_bits"> {
  let summary = "Integers of dtype int32 or int64, every value equally likely";
}
def Ferrule_RandomUniformOp : Ferrule_Random<"random_uniform"> {
  let summary = "Numbers of dtype float32 or float64 in [0, 1), multiples of 2^-24 or 2^-53";
}
def Ferrule_RandomNormalOp : Ferrule_Random<"random_normal"> {
  let summary = "Numbers of dtype float32 or float64 with mean 0 and variance 1";
}

class Ferrule_RandomOf<string mnemonic, string reason>
    : Ferrule_LibraryOp<mnemonic, NonDifferentiable<reason>,
                        "getElementCount(getResult()) * ::ferrule::DimExpr(200)"> {
  let results = (outs Ferrule_Tensor:$result);
  let minOperands = 2;
}
def Ferrule_RandomGammaOp : Ferrule_RandomOf<"random_gamma", "a gradient for the shape of a gamma draw is not provided"> {
  let summary = "Element i from the gamma distribution with shape alpha[i] and scale 1";
  let arguments = (ins Ferrule_Tensor:$state, Ferrule_Tensor:$alpha);
}
def Ferrule_RandomPoissonOp : Ferrule_RandomOf<"random_poisson", "its results are whole numbers"> {
  let summary = "Element i from the Poisson distribution with mean lambda[i], as a float";
  let arguments = (ins Ferrule_Tensor:$state, Ferrule_Tensor:$lambda);
}

#endif // FERRULE_IR_GRAPH_RANDOM_TD

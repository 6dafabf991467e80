// RUN: ferrule-opt %s --split-input-file --ferrule-verify-plan --verify-diagnostics

// The plan of `y = exp x + exp x` with two places: nothing to say.
ferrule_plan.arena @arena size 128 align 64
ferrule_plan.kernel @exp.0(%x: tensor<4xf32>) {
  %0 = ferrule.dispatch(%p = %x : tensor<4xf32>) -> (tensor<4xf32>) {
    %1 = ferrule.exp %p : (tensor<4xf32>) -> tensor<4xf32>
    ferrule.yield %1 : tensor<4xf32>
  }
}
ferrule_plan.kernel @add.1(%x: tensor<4xf32>, %y: tensor<4xf32>) {
  %0 = ferrule.dispatch(%p = %x : tensor<4xf32>, %q = %y : tensor<4xf32>) -> (tensor<4xf32>) {
    %1 = ferrule.add %p, %q : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    ferrule.yield %1 : tensor<4xf32>
  }
}
ferrule_plan.entry @valid("x" : tensor<4xf32>) -> ("y" : tensor<4xf32>) peak 128 lower_bound 128 naive 128 {
  %x = ferrule_plan.buffer input 0 size <[16]> planned 16 live 0 to 1 "x"
  %y = ferrule_plan.buffer output 0 size <[16]> planned 16 live 2 to 2 "y"
  %a = ferrule_plan.buffer arena @arena offset 0 size <[16]> planned 16 live 0 to 2 "a"
  %b = ferrule_plan.buffer arena @arena offset 64 size <[16]> planned 16 live 1 to 2 "b"
  ferrule_plan.call @exp.0 outs(%a) ins(%x)
  ferrule_plan.call @exp.0 outs(%b) ins(%x)
  ferrule_plan.call @add.1 outs(%y) ins(%a, %b)
}

// -----

// Both at 0 and live together at instruction 1: the placement alone is wrong.
ferrule_plan.arena @arena size 128 align 64
// expected-error@+1 {{has an invalid placement}}
ferrule_plan.entry @overlap("x" : tensor<4xf32>) -> ("y" : tensor<4xf32>) peak 128 lower_bound 128 naive 128 {
  %x = ferrule_plan.buffer input 0 size <[16]> planned 16 live 0 to 1 "x"
  %y = ferrule_plan.buffer output 0 size <[16]> planned 16 live 2 to 2 "y"
  %a = ferrule_plan.buffer arena @arena offset 0 size <[16]> planned 16 live 0 to 2 "a"
  %b = ferrule_plan.buffer arena @arena offset 0 size <[16]> planned 16 live 1 to 1 "b"
  ferrule_plan.copy %a from %x size <[16]>
  ferrule_plan.copy %b from %x size <[16]>
  ferrule_plan.copy %y from %a size <[16]>
}

// -----

// An alias group silences the validator, not the order: `a` is read after `b` took its bytes.
ferrule_plan.arena @arena size 64 align 64
ferrule_plan.entry @overwritten("x" : tensor<4xf32>) -> ("y" : tensor<4xf32>) peak 64 lower_bound 64 naive 64 {
  %x = ferrule_plan.buffer input 0 size <[16]> planned 16 live 0 to 1 "x"
  %y = ferrule_plan.buffer output 0 size <[16]> planned 16 live 2 to 2 "y"
  %a = ferrule_plan.buffer arena @arena offset 0 size <[16]> planned 16 live 0 to 2 alias 1 "a"
  %b = ferrule_plan.buffer arena @arena offset 0 size <[16]> planned 16 live 1 to 1 alias 1 "b"
  ferrule_plan.copy %a from %x size <[16]>
  // expected-note@+1 {{overwritten here}}
  ferrule_plan.copy %b from %x size <[16]>
  // expected-error@+1 {{instruction 2 reads the buffer "a", which was overwritten}}
  ferrule_plan.copy %y from %a size <[16]>
}

// -----

ferrule_plan.arena @arena size 64 align 64
ferrule_plan.entry @unwritten() -> ("y" : tensor<4xf32>) peak 64 lower_bound 64 naive 64 {
  %y = ferrule_plan.buffer output 0 size <[16]> planned 16 live 0 to 0 "y"
  %a = ferrule_plan.buffer arena @arena offset 0 size <[16]> planned 16 live 0 to 0 "a"
  // expected-error@+1 {{instruction 0 reads the buffer "a", which nothing has written}}
  ferrule_plan.copy %y from %a size <[16]>
}

// -----

ferrule_plan.entry @no_result("x" : tensor<4xf32>) -> ("y" : tensor<4xf32>) peak 0 lower_bound 0 naive 0 {
  %x = ferrule_plan.buffer input 0 size <[16]> planned 16 live 0 to 0 "x"
  // expected-error@+1 {{the output "y" does not hold its value when the entry returns}}
  %y = ferrule_plan.buffer output 0 size <[16]> planned 16 live 0 to 0 "y"
}

// -----

// A transpose over its own operand reads elements that it has written.
ferrule.variable @w : tensor<2x2xf32>
ferrule_plan.kernel @transpose.0(%x: tensor<2x2xf32>) {
  %0 = ferrule.dispatch(%p = %x : tensor<2x2xf32>) -> (tensor<2x2xf32>) {
    %1 = ferrule.transpose %p {pattern = array<i64: 1, 0>} : (tensor<2x2xf32>) -> tensor<2x2xf32>
    ferrule.yield %1 : tensor<2x2xf32>
  }
}
ferrule_plan.entry @in_place() -> () peak 0 lower_bound 0 naive 0 {
  %w = ferrule_plan.buffer variable @w size <[16]> planned 16 live 0 to 0 "w"
  // expected-error@+1 {{instruction 0 writes over the buffer "w" and reads it in another order}}
  ferrule_plan.call @transpose.0 outs(%w) ins(%w)
}

// -----

// The members of a group lie at one place.
ferrule_plan.arena @arena size 128 align 64
ferrule_plan.entry @group("x" : tensor<4xf32>) -> () peak 128 lower_bound 64 naive 128 {
  %x = ferrule_plan.buffer input 0 size <[16]> planned 16 live 0 to 1 "x"
  %a = ferrule_plan.buffer arena @arena offset 0 size <[16]> planned 16 live 0 to 0 alias 1 "a"
  // expected-error@+1 {{does not lie where the others of alias group 1 lie}}
  %b = ferrule_plan.buffer arena @arena offset 64 size <[16]> planned 16 live 1 to 1 alias 1 "b"
  ferrule_plan.copy %a from %x size <[16]>
  ferrule_plan.copy %b from %x size <[16]>
}

// -----

// What a loop's block declares lies over a buffer that is live around the loop.
ferrule_plan.arena @arena size 128 align 64
ferrule_plan.entry @deeper("x" : tensor<4xf32>) -> ("y" : tensor<4xf32>) peak 128 lower_bound 128 naive 128 {
  %x = ferrule_plan.buffer input 0 size <[16]> planned 16 live 0 to 1 "x"
  %y = ferrule_plan.buffer output 0 size <[16]> planned 16 live 2 to 2 "y"
  %a = ferrule_plan.buffer arena @arena offset 64 size <[16]> planned 16 live 0 to 2 "a"
  ferrule_plan.copy %a from %x size <[16]>
  ferrule_plan.loop count <[4]> dim "loop0" {
    // expected-error@+1 {{shares bytes with "a", which is live at instruction 1 around it}}
    %t = ferrule_plan.buffer arena @arena offset 64 size <[16]> planned 16 live 0 to 0 "t"
    ferrule_plan.copy %t from %x size <[16]>
  }
  ferrule_plan.copy %y from %a size <[16]>
}

// -----

// The first step leaves nothing of `a` for the second.
ferrule_plan.arena @arena size 64 align 64
ferrule_plan.entry @next_step("x" : tensor<4xf32>) -> ("y" : tensor<4xf32>) peak 64 lower_bound 64 naive 64 {
  %x = ferrule_plan.buffer input 0 size <[16]> planned 16 live 0 to 1 "x"
  %y = ferrule_plan.buffer output 0 size <[16]> planned 16 live 1 to 1 "y"
  %a = ferrule_plan.buffer arena @arena offset 0 size <[16]> planned 16 live 0 to 1 alias 1 "a"
  %b = ferrule_plan.buffer arena @arena offset 0 size <[16]> planned 16 live 1 to 1 alias 1 "b"
  ferrule_plan.copy %a from %x size <[16]>
  ferrule_plan.loop count <[4]> dim "loop0" {
    // expected-error@+1 {{instruction 0 reads the buffer "a", which was overwritten}}
    ferrule_plan.copy %y from %a size <[16]>
    // expected-note@+1 {{overwritten here}}
    ferrule_plan.copy %b from %x size <[16]>
  }
}

// -----

// Only one branch writes what is read afterwards.
ferrule_plan.arena @arena size 64 align 64
ferrule_plan.entry @one_branch("x" : tensor<4xf32>, "p" : tensor<i1>) -> ("y" : tensor<4xf32>)
    peak 64 lower_bound 64 naive 64 {
  %x = ferrule_plan.buffer input 0 size <[16]> planned 16 live 0 to 0 "x"
  %p = ferrule_plan.buffer input 1 size <[1]> planned 1 live 0 to 0 "p"
  %y = ferrule_plan.buffer output 0 size <[16]> planned 16 live 1 to 1 "y"
  %a = ferrule_plan.buffer arena @arena offset 0 size <[16]> planned 16 live 0 to 1 "a"
  ferrule_plan.if %p {
    ferrule_plan.copy %a from %x size <[16]>
  } else {
  }
  // expected-error@+1 {{instruction 1 reads the buffer "a", which nothing has written}}
  ferrule_plan.copy %y from %a size <[16]>
}

// -----

// The buffers of the two blocks of one branch may lie on each other, and those of a branch on what is dead there.
ferrule_plan.arena @arena size 64 align 64
ferrule_plan.entry @same_bytes("x" : tensor<4xf32>, "p" : tensor<i1>) -> ("y" : tensor<4xf32>)
    peak 64 lower_bound 64 naive 192 {
  %x = ferrule_plan.buffer input 0 size <[16]> planned 16 live 0 to 2 "x"
  %p = ferrule_plan.buffer input 1 size <[1]> planned 1 live 2 to 2 "p"
  %y = ferrule_plan.buffer output 0 size <[16]> planned 16 live 1 to 2 "y"
  %a = ferrule_plan.buffer arena @arena offset 0 size <[16]> planned 16 live 0 to 1 "a"
  ferrule_plan.copy %a from %x size <[16]>
  ferrule_plan.copy %y from %a size <[16]>
  ferrule_plan.if %p {
    %t = ferrule_plan.buffer arena @arena offset 0 size <[16]> planned 16 live 0 to 1 "t"
    ferrule_plan.copy %t from %x size <[16]>
    ferrule_plan.copy %y from %t size <[16]>
  } else {
    %u = ferrule_plan.buffer arena @arena offset 0 size <[16]> planned 16 live 0 to 1 "u"
    ferrule_plan.copy %u from %x size <[16]>
    ferrule_plan.copy %y from %u size <[16]>
  }
}

// RUN: ferrule-opt %s --split-input-file --verify-diagnostics

// expected-error@+1 {{'ferrule_plan.arena' op has the alignment 48, which is not a power of two}}
ferrule_plan.arena @arena size 64 align 48

// -----

ferrule_plan.entry @reversed("x" : tensor<4xf32>) -> () peak 0 lower_bound 0 naive 0 {
  // expected-error@+1 {{is live from instruction 2 to 1, which comes before}}
  %x = ferrule_plan.buffer input 0 size <[16]> planned 16 live 2 to 1 "x"
}

// -----

ferrule_plan.entry @storage() -> () peak 0 lower_bound 0 naive 0 {
  // expected-error@+1 {{in the storage input needs a number and no symbol}}
  %x = ferrule_plan.buffer input @x size <[16]> planned 16 live 0 to 0 "x"
}

// -----

ferrule_plan.entry @kind("x" : tensor<4xf32>) -> () peak 0 lower_bound 0 naive 0 {
  // expected-error@+1 {{is not of the arena and has the kind gradient}}
  %x = ferrule_plan.buffer input 0 size <[16]> planned 16 live 0 to 0 "x" as gradient
}

// -----

ferrule_plan.entry @two_sizes("x" : tensor<4xf32>) -> () peak 0 lower_bound 0 naive 0 {
  // expected-error@+1 {{has 2 sizes; a size in bytes is one expression}}
  %x = ferrule_plan.buffer input 0 size <[4, 4]> planned 16 live 0 to 0 "x"
}

// -----

ferrule_plan.entry @too_small("x" : tensor<4xf32>) -> () peak 0 lower_bound 0 naive 0 {
  // expected-error@+1 {{has 16 bytes where 12 are planned}}
  %x = ferrule_plan.buffer input 0 size <[16]> planned 12 live 0 to 0 "x"
}

// -----

ferrule_plan.entry @no_such_input("x" : tensor<4xf32>) -> () peak 0 lower_bound 0 naive 0 {
  // expected-error@+1 {{is input number 1 of an entry that has 1}}
  %x = ferrule_plan.buffer input 1 size <[16]> planned 16 live 0 to 0 "x"
}

// -----

ferrule_plan.entry @other_size("x" : tensor<4xf32>) -> () peak 0 lower_bound 0 naive 0 {
  // expected-error@+1 {{has 12 bytes but input number 0 has 16}}
  %x = ferrule_plan.buffer input 0 size <[12]> planned 12 live 0 to 0 "x"
}

// -----

ferrule_plan.entry @no_variable() -> () peak 0 lower_bound 0 naive 0 {
  // expected-error@+1 {{names @w, which the module does not have as variable}}
  %w = ferrule_plan.buffer variable @w size <[16]> planned 16 live 0 to 0 "w"
}

// -----

ferrule_plan.arena @arena size 64 align 64
ferrule_plan.entry @beyond() -> () peak 64 lower_bound 64 naive 64 {
  // expected-error@+1 {{ends beyond the 64 bytes of its arena}}
  %a = ferrule_plan.buffer arena @arena offset 64 size <[4]> planned 4 live 0 to 0 "a"
}

// -----

ferrule_plan.arena @arena size 64 align 64
ferrule_plan.entry @misaligned() -> () peak 64 lower_bound 64 naive 64 {
  // expected-error@+1 {{lies at 4, which is not a multiple of 64}}
  %a = ferrule_plan.buffer arena @arena offset 4 size <[4]> planned 4 live 0 to 0 "a"
}

// -----

ferrule_plan.entry @not_live("x" : tensor<4xf32>) -> ("y" : tensor<4xf32>) peak 0 lower_bound 0 naive 0 {
  %x = ferrule_plan.buffer input 0 size <[16]> planned 16 live 0 to 0 "x"
  %y = ferrule_plan.buffer output 0 size <[16]> planned 16 live 0 to 1 "y"
  ferrule_plan.copy %y from %x size <[16]>
  // expected-error@+1 {{is instruction 1 and uses the buffer "x", which is live from 0 to 0}}
  ferrule_plan.copy %y from %x size <[16]>
}

// -----

ferrule_plan.entry @writes_input("x" : tensor<4xf32>, "y" : tensor<4xf32>) -> () peak 0 lower_bound 0 naive 0 {
  %x = ferrule_plan.buffer input 0 size <[16]> planned 16 live 0 to 0 "x"
  %y = ferrule_plan.buffer input 1 size <[16]> planned 16 live 0 to 0 "y"
  // expected-error@+1 {{writes the buffer "x", which is an input}}
  ferrule_plan.copy %x from %y size <[16]>
}

// -----

ferrule_plan.entry @no_kernel() -> ("y" : tensor<4xf32>) peak 0 lower_bound 0 naive 0 {
  %y = ferrule_plan.buffer output 0 size <[16]> planned 16 live 0 to 0 "y"
  // expected-error@+1 {{names the kernel @exp.0, which the module does not have}}
  ferrule_plan.call @exp.0 outs(%y) ins(%y)
}

// -----

ferrule_plan.kernel @exp.0(%x: tensor<4xf32>) {
  %0 = ferrule.dispatch(%p = %x : tensor<4xf32>) -> (tensor<4xf32>) {
    %1 = ferrule.exp %p : (tensor<4xf32>) -> tensor<4xf32>
    ferrule.yield %1 : tensor<4xf32>
  }
}
ferrule_plan.entry @operand_counts("x" : tensor<4xf32>) -> ("y" : tensor<4xf32>) peak 0 lower_bound 0 naive 0 {
  %x = ferrule_plan.buffer input 0 size <[16]> planned 16 live 0 to 0 "x"
  %y = ferrule_plan.buffer output 0 size <[16]> planned 16 live 0 to 0 "y"
  // expected-error@+1 {{passes 1 outputs and 2 inputs; @exp.0 has 1 and 1}}
  ferrule_plan.call @exp.0 outs(%y) ins(%x, %x)
}

// -----

ferrule_plan.kernel @exp.0(%x: tensor<4xf32>) {
  %0 = ferrule.dispatch(%p = %x : tensor<4xf32>) -> (tensor<4xf32>) {
    %1 = ferrule.exp %p : (tensor<4xf32>) -> tensor<4xf32>
    ferrule.yield %1 : tensor<4xf32>
  }
}
ferrule_plan.entry @operand_bytes("x" : tensor<3xf32>) -> ("y" : tensor<4xf32>) peak 0 lower_bound 0 naive 0 {
  %x = ferrule_plan.buffer input 0 size <[12]> planned 12 live 0 to 0 "x"
  %y = ferrule_plan.buffer output 0 size <[16]> planned 16 live 0 to 0 "y"
  // expected-error@+1 {{passes the buffer "x" of 12 bytes where @exp.0 has 'tensor<4xf32>'}}
  ferrule_plan.call @exp.0 outs(%y) ins(%x)
}

// -----

ferrule_plan.entry @unknown_dim("x" : tensor<4xf32>) -> () peak 0 lower_bound 0 naive 0 {
  // expected-error@+1 {{entry unknown_dim: the dim batch is not in the shape of any input, so a run cannot know its value}}
  %x = ferrule_plan.buffer input 0 size <[batch * 4]> planned 16 live 0 to 0 "x"
}

// -----

// expected-error@+1 {{has a peak of 64 bytes, below the lower bound of 128}}
ferrule_plan.entry @impossible() -> () peak 64 lower_bound 128 naive 128 {
}

// -----

// expected-error@+1 {{the dim batch has min = 4, max = 2, multiple_of = 1; 0 <= min <= max and multiple_of >= 1 must hold}}
ferrule_plan.entry @dim() -> () dims [#ferrule_plan.dim<"batch", min = 4, max = 2, multiple_of = 1>] peak 0 lower_bound 0 naive 0 {
}

// -----

// expected-error@+1 {{has a dispatch whose operands are not the kernel's arguments in order}}
ferrule_plan.kernel @exp.0(%x: tensor<4xf32>, %y: tensor<4xf32>) {
  %0 = ferrule.dispatch(%p = %y : tensor<4xf32>, %q = %x : tensor<4xf32>) -> (tensor<4xf32>) {
    %1 = ferrule.add %p, %q : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    ferrule.yield %1 : tensor<4xf32>
  }
}

// -----

ferrule_plan.entry @view("x" : tensor<4xf32>) -> () peak 0 lower_bound 0 naive 0 {
  %x = ferrule_plan.buffer input 0 size <[16]> planned 16 live 0 to 0 "x"
  // expected-error@+1 {{takes 8 bytes from byte 12 on of the buffer "x", which has 16}}
  %v = ferrule_plan.view %x offset <[12]> size <[8]>
}

// -----

ferrule_plan.entry @outside_loop("x" : tensor<4xf32>) -> () peak 0 lower_bound 0 naive 0 {
  %x = ferrule_plan.buffer input 0 size <[16]> planned 16 live 0 to 0 "x"
  ferrule_plan.loop count <[4]> dim "loop0" {
  }
  // expected-error@+1 {{the dim loop0 is not in the shape of any input}}
  %v = ferrule_plan.view %x offset <[loop0 * 4]> size <[4]>
}

// -----

ferrule_plan.entry @same_dim() -> () peak 0 lower_bound 0 naive 0 {
  ferrule_plan.loop count <[4]> dim "loop0" {
    // expected-error@+1 {{makes known the dim loop0, which is known already}}
    ferrule_plan.loop count <[4]> dim "loop0" {
    }
  }
}

// -----

// The use in the deeper block is at instruction 1 of the buffer's own.
ferrule_plan.entry @inside_not_live("x" : tensor<4xf32>) -> ("y" : tensor<4xf32>) peak 0 lower_bound 0 naive 0 {
  %x = ferrule_plan.buffer input 0 size <[16]> planned 16 live 0 to 0 "x"
  %y = ferrule_plan.buffer output 0 size <[16]> planned 16 live 0 to 1 "y"
  ferrule_plan.copy %y from %x size <[16]>
  ferrule_plan.loop count <[4]> dim "loop0" {
    // expected-error@+1 {{is instruction 1 and uses the buffer "x", which is live from 0 to 0}}
    ferrule_plan.copy %y from %x size <[16]>
  }
}

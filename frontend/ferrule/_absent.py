"""PyTorch's names that are left out, and why: what the error says of one, and what docs/pytorch_names.md lists."""

_DECOMPOSITIONS = "no decompositions, inverses or solutions of equations of matrices"
_COMPLEX = "no complex numbers"
_SPARSE = "every tensor is dense"
_QUANTISED = "no quantised types"
_MEMORY = "memory is the compiler's: a tensor has no storage, strides or address"
_SHAPE = "a Tensor keeps its shape: take the result of the function without the underscore"
_INDICES = "the function of the plain name with return_indices=True"
_PLAIN = "the function without the underscore: memory is reused by the compiler"
_DEVICES = "values live on the CPU"

# Where the names would stand: {reason: names}.
ABSENT = {
    "module": {
        "shapes are given: name the input's size": """
            LazyBatchNorm1d LazyBatchNorm2d LazyBatchNorm3d LazyConv1d LazyConv2d LazyConv3d LazyConvTranspose1d
            LazyConvTranspose2d LazyConvTranspose3d LazyInstanceNorm1d LazyInstanceNorm2d LazyInstanceNorm3d LazyLinear
        """,
        "the regions to pool are drawn at random in a way of PyTorch's own": "FractionalMaxPool2d FractionalMaxPool3d",
        "CrossEntropyLoss of a Linear layer": "LinearCrossEntropyLoss LinearCrossEntropyOptions",
        "Module, or the layer itself, is the base class": "Container RNNBase RNNCellBase",
        "an older name in PyTorch; LocalResponseNorm": "CrossMapLRN2d",
        "an older name in PyTorch; NLLLoss": "NLLLoss2d",
    },
    "functional": {
        _PLAIN: "celu_ elu_ hardtanh_ leaky_relu_ relu_ rrelu_ selu_ threshold_",
        _INDICES: """
            adaptive_max_pool1d_with_indices adaptive_max_pool2d_with_indices adaptive_max_pool3d_with_indices
            max_pool1d_with_indices max_pool2d_with_indices max_pool3d_with_indices
        """,
        "the regions to pool are drawn at random in a way of PyTorch's own": """
            fractional_max_pool2d fractional_max_pool2d_with_indices fractional_max_pool3d
            fractional_max_pool3d_with_indices
        """,
        "an older name in PyTorch; interpolate": "upsample upsample_bilinear upsample_nearest",
        "multi_head_attention, or the module MultiheadAttention": "multi_head_attention_forward",
        "cross_entropy of linear": "linear_cross_entropy",
        "conv1d of another order of axes": "conv_tbc",
        "products of one vendor's GPUs": """
            ScalingType SwizzleType grouped_mm scaled_addmm scaled_addmm_ scaled_grouped_mm scaled_mm
        """,
        "PyTorch's own helpers": """
            assert_int_or_pair handle_torch_function has_torch_function has_torch_function_unary
            has_torch_function_variadic native_channel_shuffle
        """,
    },
    "optimizer": {
        "a step that calls the loss several times and branches on it is no graph; use Adam or SGD": "LBFGS",
        "gradients are dense; Adam": "SparseAdam",
        "its orthogonal steps are computed in bfloat16 by PyTorch; AdamW": "Muon",
    },
    "Tensor": {
        _DECOMPOSITIONS: """
            cholesky cholesky_inverse cholesky_solve det eig geqrf inverse logdet lstsq lu lu_solve matrix_exp orgqr ormqr
            pinverse qr slogdet solve svd symeig triangular_solve
        """,
        _COMPLEX: """
            H adjoint angle cdouble cfloat chalf conj conj_physical conj_physical_ imag isreal istft mH real resolve_conj
            resolve_neg stft
        """,
        _SPARSE: """
            ccol_indices coalesce col_indices crow_indices dense_dim indices is_coalesced is_sparse is_sparse_csr
            resize_as_sparse_ row_indices smm sparse_dim sparse_mask sparse_resize_ sparse_resize_and_clear_ sspaddmm
            to_dense to_padded_tensor to_sparse to_sparse_bsc to_sparse_bsr to_sparse_coo to_sparse_csc to_sparse_csr
            values is_nested
        """,
        _QUANTISED: """
            dequantize int_repr is_quantized q_per_channel_axis q_per_channel_scales q_per_channel_zero_points q_scale
            q_zero_point qscheme
        """,
        _MEMORY: """
            as_strided as_strided_ as_strided_scatter const_data_ptr data data_ptr dim_order get_device is_pinned
            is_set_to is_shared layout narrow_copy new_empty_strided pin_memory record_stream set_ share_memory_
            slice_inverse storage storage_offset storage_type stride to_mkldnn unsafe_chunk unsafe_split
            unsafe_split_with_sizes untyped_storage
        """,
        _SHAPE: "resize resize_ resize_as resize_as_ squeeze_ swapaxes_ swapdims_ t_ transpose_ unsqueeze_",
        _DEVICES: """
            cuda ipu is_cpu is_cuda is_distributed is_ipu is_maia is_meta is_mkldnn is_mps is_mtia is_vulkan is_xla
            is_xpu mtia xpu
        """,
        "gradients come from a GradManager or fer.grad": """
            backward grad_dtype grad_fn is_inference is_leaf output_nr register_hook
            register_post_accumulate_grad_hook reinforce retain_grad retains_grad volatile
        """,
        "fer.random draws, module.init fills": """
            bernoulli bernoulli_ cauchy_ exponential_ geometric_ log_normal_ multinomial normal_ random_ uniform_
        """,
        "no kernel of this function": """
            digamma digamma_ erfinv erfinv_ frexp gcd gcd_ i0 i0_ igamma igamma_ igammac igammac_ lcm lcm_ lgamma
            lgamma_ mvlgamma mvlgamma_ nextafter nextafter_ polygamma polygamma_
        """,
        "an index expression: t[indices], t[indices] = value, F.scatter_nd": "index index_put index_put_ put put_",
        "scatter, scatter_add and index_add are the indexed writes": """
            index_reduce index_reduce_ scatter_reduce scatter_reduce_
        """,
        "functions of Python over elements would be no graph": "apply_ map2_ map_",
        "the class Tensor or functional makes tensors": "as_subclass module_load new new_tensor",
        "functional.outer": "ger",
        "functional.split": "split_with_sizes",
        "functional.histogram, whose result is a pair": "histogram",
        "functional.unique with return_counts": "mode",
        "functional.sum": "sum_to_size",
        "functional.normalize": "renorm renorm_",
        "functional.diagonal_scatter": "fill_diagonal_",
        "functional.sliding_window, functional.unfold": "unfold",
        "functional.nonzero": "nonzero_static",
        "the shapes, or one element as bool": "is_nonzero is_same_size",
        "astype and dtype": "type",
        "hash_tensor is PyTorch's own": "hash_tensor",
    },
}


def reason(place, name):
    """Why ``name`` is left out of ``place``, or None."""
    return next((why for why, names in ABSENT[place].items() if name in names.split()), None)


def refuse(place, name, module):
    """What a module's ``__getattr__`` does: an AttributeError that says why PyTorch's name is not there."""
    why = reason(place, name)
    raise AttributeError(
        f"module {module!r} has no attribute {name!r}" + (f": PyTorch's {name} is left out: {why}" if why else "")
    )

"""The layers that are compared with torch: what make_modules.py computes and layers_test.py runs.

A case is (name, class, arguments, keywords, inputs): the class stands in `ferrule.module` and in `torch.nn`, the inputs
are shapes of normal numbers, or (``"index"``, shape, count) of whole numbers. `TORCH` gives what torch calls otherwise;
`EVALUATED` are run in evaluation, too.
"""

CASES = [
    ("linear", "Linear", (5, 3), {}, [(4, 2, 5)]),
    ("linear_plain", "Linear", (5, 3), {"bias": False}, [(4, 5)]),
    ("bilinear", "Bilinear", (3, 4, 5), {}, [(2, 6, 3), (2, 6, 4)]),
    ("conv1d", "Conv1d", (4, 6, 3), {"stride": 2, "padding": 1, "groups": 2}, [(2, 4, 9)]),
    ("conv2d", "Conv2d", (4, 6, (3, 2)), {"padding": (2, 1), "dilation": 2}, [(2, 4, 7, 6)]),
    ("conv2d_depthwise", "Conv2d", (4, 8, 3), {"padding": 1, "groups": 4, "bias": False}, [(2, 4, 5, 5)]),
    ("conv2d_same", "Conv2d", (2, 3, (2, 3)), {"padding": "same"}, [(1, 2, 5, 6)]),
    ("conv2d_reflect", "Conv2d", (2, 3, 3), {"padding": 1, "padding_mode": "reflect"}, [(1, 2, 5, 6)]),
    ("conv2d_replicate", "Conv2d", (2, 3, 3), {"padding": 2, "padding_mode": "replicate"}, [(1, 2, 5, 6)]),
    ("conv2d_circular", "Conv2d", (2, 3, 3), {"padding": 1, "padding_mode": "circular"}, [(1, 2, 5, 6)]),
    ("conv3d", "Conv3d", (2, 4, 3), {"stride": 2, "padding": 1}, [(1, 2, 5, 4, 6)]),
    ("conv_transpose1d", "ConvTranspose1d", (4, 6, 3), {"stride": 2, "output_padding": 1, "groups": 2}, [(2, 4, 5)]),
    (
        "conv_transpose2d",
        "ConvTranspose2d",
        (4, 3, 3),
        {"stride": 2, "padding": 1, "output_padding": 1},
        [(2, 4, 4, 3)],
    ),
    ("conv_transpose3d", "ConvTranspose3d", (2, 3, 2), {"stride": 2, "dilation": 2}, [(1, 2, 3, 2, 3)]),
    ("batch_norm1d", "BatchNorm1d", (4,), {"eps": 1e-3}, [(6, 4)]),
    ("batch_norm1d_length", "BatchNorm1d", (4,), {}, [(3, 4, 5)]),
    ("batch_norm2d", "BatchNorm2d", (3,), {}, [(4, 3, 5, 2)]),
    ("batch_norm2d_plain", "BatchNorm2d", (3,), {"affine": False}, [(4, 3, 5, 2)]),
    ("batch_norm3d", "BatchNorm3d", (3,), {}, [(2, 3, 2, 3, 2)]),
    ("layer_norm", "LayerNorm", ((3, 4),), {"eps": 1e-3}, [(2, 5, 3, 4)]),
    ("layer_norm_no_bias", "LayerNorm", (4,), {"bias": False}, [(2, 5, 4)]),
    ("rms_norm", "RMSNorm", (4,), {"eps": 1e-5}, [(2, 5, 4)]),
    ("group_norm", "GroupNorm", (2, 6), {}, [(2, 6, 4, 3)]),
    ("instance_norm2d", "InstanceNorm2d", (3,), {"affine": True}, [(2, 3, 4, 5)]),
    ("instance_norm1d", "InstanceNorm1d", (3,), {}, [(2, 3, 7)]),
    ("local_response_norm", "LocalResponseNorm", (3,), {"k": 1.5, "alpha": 0.1, "beta": 0.6}, [(2, 5, 3, 4)]),
    ("max_pool1d", "MaxPool1d", (3,), {"stride": 2, "padding": 1}, [(2, 3, 8)]),
    ("max_pool2d", "MaxPool2d", (3,), {"stride": 2, "padding": 1, "ceil_mode": True}, [(2, 3, 7, 6)]),
    ("max_pool2d_dilated", "MaxPool2d", ((2, 3),), {"stride": 1, "dilation": 2}, [(2, 3, 7, 6)]),
    ("max_pool3d", "MaxPool3d", (2,), {}, [(1, 2, 4, 5, 4)]),
    ("avg_pool1d", "AvgPool1d", (3,), {"stride": 2, "padding": 1, "count_include_pad": True}, [(2, 3, 8)]),
    ("avg_pool2d", "AvgPool2d", ((3, 2),), {"stride": 2, "padding": 1, "count_include_pad": False}, [(2, 3, 7, 6)]),
    ("avg_pool3d", "AvgPool3d", (2,), {}, [(1, 2, 4, 4, 4)]),
    ("adaptive_avg_pool1d", "AdaptiveAvgPool1d", (3,), {}, [(2, 3, 8)]),
    ("adaptive_avg_pool2d", "AdaptiveAvgPool2d", ((3, 2),), {}, [(2, 3, 7, 6)]),
    ("adaptive_avg_pool2d_global", "AdaptiveAvgPool2d", (1,), {}, [(2, 3, 7, 6)]),
    ("adaptive_max_pool2d", "AdaptiveMaxPool2d", ((3, 2),), {}, [(2, 3, 7, 6)]),
    ("adaptive_max_pool3d", "AdaptiveMaxPool3d", (2,), {}, [(1, 2, 4, 5, 4)]),
    ("embedding", "Embedding", (7, 3), {}, [("index", (4, 5), 7)]),
    ("embedding_padding", "Embedding", (7, 3), {"padding_idx": -2}, [("index", (4, 5), 7)]),
    ("prelu", "PReLU", (), {}, [(2, 3, 4)]),
    ("prelu_channels", "PReLU", (3,), {}, [(2, 3, 4, 2)]),
    ("pixel_shuffle", "PixelShuffle", (2,), {}, [(2, 12, 3, 2)]),
    ("pixel_unshuffle", "PixelUnshuffle", (2,), {}, [(2, 3, 4, 6)]),
    ("channel_shuffle", "ChannelShuffle", (3,), {}, [(2, 12, 3, 2)]),
    ("constant_pad2d", "ConstantPad2d", ((1, 2, 3, 0), 0.5), {}, [(2, 3, 3, 4)]),
    ("zero_pad1d", "ZeroPad1d", (2,), {}, [(2, 3, 4)]),
    ("reflection_pad2d", "ReflectionPad2d", ((1, 2, 0, 1),), {}, [(2, 3, 3, 4)]),
    ("replication_pad3d", "ReplicationPad3d", (1,), {}, [(1, 2, 2, 3, 2)]),
    ("circular_pad1d", "CircularPad1d", ((1, 2),), {}, [(2, 3, 4)]),
    ("softmax", "Softmax", (), {"dim": 1}, [(2, 5, 3)]),
    ("log_softmax", "LogSoftmax", (), {"dim": -1}, [(2, 5, 3)]),
    ("softmin", "Softmin", (), {"dim": 0}, [(4, 3)]),
    ("glu", "GLU", (), {"dim": 1}, [(2, 6, 3)]),
    ("upsample", "Upsample", (), {"scale_factor": 2}, [(1, 2, 3, 4)]),
    ("upsample_smaller", "Upsample", ((2, 3),), {}, [(1, 2, 5, 4)]),
    ("upsample_linear", "Upsample", (7,), {"mode": "linear"}, [(2, 3, 4)]),
    ("upsample_bilinear", "Upsample", (), {"scale_factor": 1.5, "mode": "bilinear"}, [(1, 2, 4, 6)]),
    ("upsample_corners", "Upsample", ((5, 3),), {"mode": "bilinear", "align_corners": True}, [(1, 2, 3, 4)]),
    ("upsample_bicubic", "Upsample", ((5, 7),), {"mode": "bicubic"}, [(1, 2, 3, 4)]),
    ("upsample_trilinear", "Upsample", (), {"scale_factor": 2, "mode": "trilinear"}, [(1, 2, 2, 3, 2)]),
    ("flatten", "Flatten", (1, 2), {}, [(2, 3, 4, 5)]),
    ("unflatten", "Unflatten", (1, (2, 3)), {}, [(2, 6, 4)]),
]

CASES += [
    (name.lower(), name, (), {"approximate": "tanh"} if approximate else {}, [(3, 17)])
    for name, approximate in (
        ("ReLU", 0), ("ReLU6", 0), ("Sigmoid", 0), ("Tanh", 0), ("SiLU", 0), ("Mish", 0), ("Hardsigmoid", 0),
        ("Hardswish", 0), ("LogSigmoid", 0), ("Softsign", 0), ("Tanhshrink", 0), ("SELU", 0), ("GELU", 0), ("ELU", 0),
        ("CELU", 0), ("Softplus", 0), ("LeakyReLU", 0), ("Hardtanh", 0), ("Hardshrink", 0), ("Softshrink", 0),
    )
]  # fmt: skip
CASES += [
    ("gelu_tanh", "GELU", (), {"approximate": "tanh"}, [(3, 17)]),
    ("elu_alpha", "ELU", (0.5,), {}, [(3, 17)]),
    ("celu_alpha", "CELU", (0.5,), {}, [(3, 17)]),
    ("softplus_beta", "Softplus", (2.0,), {}, [(3, 17)]),
    ("leaky_relu_slope", "LeakyReLU", (0.2,), {}, [(3, 17)]),
    ("threshold", "Threshold", (0.3, -1.5), {}, [(3, 17)]),
]

# Recurrent layers, cells and transformers: results are trees, and the parameters have torch's names.
CASES += [
    ("rnn_cell", "RNNCell", (3, 5), {}, [(4, 3), (4, 5)]),
    ("rnn_cell_relu", "RNNCell", (3, 5), {"nonlinearity": "relu", "bias": False}, [(4, 3)]),
    ("lstm_cell", "LSTMCell", (3, 5), {}, [(4, 3)]),
    ("gru_cell", "GRUCell", (3, 5), {}, [(4, 3), (4, 5)]),
    ("rnn", "RNN", (3, 5), {}, [(6, 2, 3)]),
    ("rnn_relu", "RNN", (3, 5, 2, "relu"), {"bias": False, "batch_first": True}, [(2, 6, 3), (2, 2, 5)]),
    ("lstm", "LSTM", (3, 5), {}, [(6, 2, 3)]),
    ("lstm_deep", "LSTM", (3, 4, 2), {"bidirectional": True, "batch_first": True}, [(2, 5, 3)]),
    ("lstm_projected", "LSTM", (3, 5), {"proj_size": 2, "bidirectional": True}, [(4, 2, 3)]),
    ("lstm_one_sequence", "LSTM", (3, 5), {}, [(4, 3)]),
    ("gru", "GRU", (3, 5), {}, [(6, 2, 3), (1, 2, 5)]),
    ("gru_deep", "GRU", (3, 4, 2), {"bidirectional": True}, [(5, 2, 3)]),
    ("attention", "MultiheadAttention", (8, 2), {}, [(5, 3, 8)] * 3),
    (
        "attention_widths", "MultiheadAttention", (8, 2), {"kdim": 5, "vdim": 3, "batch_first": True},
        [(3, 4, 8), (3, 6, 5), (3, 6, 3)],
    ),
    ("encoder_layer", "TransformerEncoderLayer", (8, 2, 12, 0.0), {"batch_first": True}, [(3, 5, 8)]),
    ("encoder_layer_first", "TransformerEncoderLayer", (8, 2, 12, 0.0, "gelu"), {"norm_first": True}, [(5, 3, 8)]),
    ("decoder_layer", "TransformerDecoderLayer", (8, 2, 12, 0.0), {}, [(4, 3, 8), (5, 3, 8)]),
    ("transformer", "Transformer", (8, 2, 2, 1, 12, 0.0), {"batch_first": True}, [(2, 5, 8), (2, 4, 8)]),
]  # fmt: skip

# Losses: (prediction, label); the label gets no gradient.
CASES += [
    ("l1_loss", "L1Loss", (), {}, [(4, 3), (4, 3)]),
    ("mse_loss", "MSELoss", (), {"reduction": "sum"}, [(4, 3), (4, 3)]),
    ("smooth_l1_loss", "SmoothL1Loss", (), {"beta": 0.5}, [(4, 3), (4, 3)]),
    ("huber_loss", "HuberLoss", (), {"delta": 0.7}, [(4, 3), (4, 3)]),
    ("cross_entropy_loss", "CrossEntropyLoss", (), {"label_smoothing": 0.1}, [(4, 3), ("index", (4,), 3)]),
    ("cross_entropy_loss_space", "CrossEntropyLoss", (), {"ignore_index": 1}, [(4, 3, 2), ("index", (4, 2), 3)]),
    ("nll_loss", "NLLLoss", (), {}, [(4, 3), ("index", (4,), 3)]),
    ("cosine_similarity", "CosineSimilarity", (), {}, [(4, 3), (4, 3)]),
    ("triplet_margin_loss", "TripletMarginLoss", (), {}, [(4, 3), (4, 3), (4, 3)]),
    ("pairwise_distance", "PairwiseDistance", (), {"p": 3.0}, [(4, 3), (4, 3)]),
    ("poisson_nll_loss", "PoissonNLLLoss", (), {}, [(4, 3), ("index", (4, 3), 5)]),
    ("hinge_embedding_loss", "HingeEmbeddingLoss", (), {"margin": 0.5}, [(4, 3), ("index", (4, 3), 2)]),
    ("soft_margin_loss", "SoftMarginLoss", (), {"reduction": "sum"}, [(4, 3), ("index", (4, 3), 2)]),
    ("multilabel_soft_margin_loss", "MultiLabelSoftMarginLoss", (), {}, [(4, 3), ("index", (4, 3), 2)]),
    ("multi_margin_loss", "MultiMarginLoss", (), {"p": 2, "margin": 0.5}, [(4, 3), ("index", (4,), 3)]),
    ("multilabel_margin_loss", "MultiLabelMarginLoss", (), {}, [(4, 3), ("index", (4, 3), 3)]),
    ("triplet_distance_loss", "TripletMarginWithDistanceLoss", (), {}, [(4, 3), (4, 3), (4, 3)]),
]

CASES += [
    ("embedding_bag", "EmbeddingBag", (7, 3), {"mode": "sum"}, [("index", (4, 5), 7)]),
    ("embedding_bag_mean", "EmbeddingBag", (7, 3), {"padding_idx": 2}, [("index", (4, 5), 7)]),
    ("embedding_max_norm", "Embedding", (7, 3), {"max_norm": 0.5}, [("index", (4, 5), 7)]),
    ("adaptive_log_softmax", "AdaptiveLogSoftmaxWithLoss", (8, 9, [3, 6], 2.0, True), {}, [(5, 8), ("index", (5,), 9)]),
    ("fold", "Fold", ((5, 4), 2), {"padding": 1, "stride": 2}, [(2, 8, 9)]),
    ("unfold", "Unfold", ((2, 3),), {"dilation": 2, "padding": 1}, [(2, 3, 5, 6)]),
    ("lp_pool2d", "LPPool2d", (2, 3), {"stride": 2}, [(2, 3, 7, 6)]),
    ("softmax2d", "Softmax2d", (), {}, [(2, 5, 3, 4)]),
]

TORCH = {
    # MegEngine's order of the arguments is another one.
    "local_response_norm": ((3,), {"k": 1.5, "alpha": 0.1, "beta": 0.6}),
}

EVALUATED = ("batch_norm1d", "batch_norm2d", "batch_norm3d")

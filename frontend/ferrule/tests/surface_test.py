"""The names and signatures of MegEngine 1.13 that programs use, and the names of PyTorch and NumPy that stand beside."""

import ast
import importlib
import inspect
import pathlib

import ferrule.data as D
import ferrule.functional as F
import ferrule.module as M
import ferrule.optimizer as O
import pytest

NAMES = {
    F.nn: """
        adaptive_avg_pool2d adaptive_max_pool2d avg_pool2d batch_norm binary_cross_entropy broadcast_to concat conv1d
        conv2d conv3d conv_transpose2d conv_transpose3d correlation cross_entropy ctc_loss cvt_color deformable_conv2d
        deformable_psroi_pooling dropout embedding exp expand_dims gelu general_norm group_norm hinge_loss hsigmoid hswish
        indexing_one_hot instance_norm interpolate l1_loss layer_norm leaky_relu linear local_conv2d local_response_norm
        log log1p logsigmoid logsoftmax logsumexp max max_pool2d maximum minimum multi_head_attention nms normalize
        one_hot ones pad pixel_shuffle prelu region_restricted_conv relu relu6 remap repeat reshape roi_align roi_pooling
        sigmoid silu sliding_window sliding_window_transpose softmax softplus square_loss squeeze sum sync_batch_norm
        transpose warp_affine warp_perspective zeros zeros_like
    """,
    M: """
        AdaptiveAvgPool2d AdaptiveMaxPool2d AvgPool2d BatchMatMulActivation BatchNorm1d BatchNorm2d Concat Conv1d
        Conv2d Conv3d ConvBn2d ConvBnRelu2d ConvRelu2d ConvTranspose2d ConvTranspose3d ConvTransposeBn2d
        ConvTransposeBnRelu2d ConvTransposeRelu2d DeformableConv2d DeformablePSROIPooling DequantStub Dropout Elemwise Embedding GELU
        GeneralNorm GroupNorm Identity InstanceNorm LSTM LSTMCell LayerNorm LeakyReLU Linear LinearBn1d
        LinearBnRelu1d LinearRelu LocalConv2d LocalResponseNorm MaxPool2d Module MultiHeadAttention PReLU Pad
        PixelShuffle QuantStub RNN RNNCell ReLU RegionRestrictedConv Sequential SiLU Sigmoid SlidingWindow
        SlidingWindowTranspose Softmax SyncBatchNorm
    """,
    M.init: """
        calculate_correct_fan calculate_fan_in_and_fan_out calculate_gain fill_ msra_normal_ msra_uniform_ normal_
        ones_ uniform_ xavier_normal_ xavier_uniform_ zeros_
    """,
    M.Module: """
        apply buffers children disable_quantize eval forward load_state_dict modules named_buffers named_children
        named_modules named_parameters named_tensors parameters register_forward_hook register_forward_pre_hook
        replace_param state_dict tensors train zero_grad
    """,
    O: """
        Adadelta Adagrad Adam AdamW LAMB LAMBFp16 LRScheduler MultiStepLR Optimizer SGD clip_grad_norm
        clip_grad_value
    """,
    O.Optimizer: "add_param_group backward bcast_param clear_grad load_state_dict state_dict step zero_grad",
    D: """
        Collator DataLoader Infinite MapSampler RandomSampler ReplacementSampler Sampler SequentialSampler
        StreamSampler
    """,
    D.dataset: """
        ArrayDataset CIFAR10 CIFAR100 COCO Cityscapes ConcatDataset Dataset ImageFolder ImageNet MNIST Objects365
        PascalVOC StreamDataset VisionDataset
    """,
    D.transform: """
        BrightnessTransform CenterCrop ColorJitter Compose ContrastTransform GaussianNoise HueTransform Lighting
        Normalize Pad PseudoTransform RandomCrop RandomHorizontalFlip RandomResize RandomResizedCrop
        RandomVerticalFlip Resize SaturationTransform ShortestEdgeResize ToMode TorchTransformCompose Transform
        VisionTransform
    """,
}


@pytest.mark.parametrize("home", NAMES, ids=lambda home: home.__name__)
def test_names(home):
    assert [name for name in NAMES[home].split() if not hasattr(home, name)] == []


# Decided differently.
ABSENT = {
    "functional": {"complex", "imag", "polar", "real"}  # no complex numbers
    | {"matinv", "svd"},  # no decompositions of matrices
    "functional.nn": {"nvof"}  # of one vendor's GPUs
    | {"expand_dhw", "expand_hw", "layerPixelShuffle_traceable"},  # MegEngine's own helpers
    "functional.vision": {"nvof"},
}
OWN = {
    "functional": {"isinf", "isnan"},  # `x`, as all other elementwise functions have it
    "jit": {"DTRConfig", "SublinearMemoryConfig", "xla_trace"},  # accepted with any arguments: memory is planned
}
# Switches of PyTorch's layers that stand first: MegEngine's only argument is the name, which goes by keyword.
BY_KEYWORD = {"GELU", "Identity", "ReLU", "SiLU", "Sigmoid"}


def signatures():
    """(module, line) of each signature of the table."""
    module = None
    for line in (pathlib.Path(__file__).parent / "megengine_signatures.txt").read_text().splitlines():
        if line.startswith("["):
            module = line[1:-1]
        elif line and not line.startswith("#"):
            yield module, line


def parameters_of(line):
    """[(name, kind, whether it has a default, the default)] of a signature as text."""
    function = ast.parse(f"def {line}: pass").body[0]
    namespace = {}
    exec(compile(ast.Module([function], []), "<signature>", "exec"), namespace)  # our own table
    return list(inspect.signature(namespace[function.name]).parameters.values())


def test_signatures():
    """Each parameter of MegEngine's is at its place, under its name, with its default; further ones may follow."""
    wrong = []
    for module, line in signatures():
        name = line.split("(")[0]
        if name in ABSENT.get(module, ()) or name in OWN.get(module, ()):
            continue
        function = getattr(importlib.import_module(f"ferrule.{module}"), name, None)
        if function is None:
            wrong.append(f"{module}.{name} is missing")
            continue
        ours = inspect.signature(function).parameters
        places = [p.name for p in ours.values() if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
        takes_any = any(p.kind == p.VAR_KEYWORD for p in ours.values())
        wanted = [p for p in parameters_of(line) if p.kind not in (p.VAR_POSITIONAL, p.VAR_KEYWORD)]
        for place, p in enumerate(wanted):
            own = ours.get(p.name)
            if own is None and not takes_any:
                wrong.append(f"{module}.{name} has no {p.name}")
            elif own is not None and own.default is not p.default and own.default != p.default:
                # A parameter that MegEngine demands may have a default here.
                if p.default is not p.empty:
                    wrong.append(f"{module}.{name}: {p.name} is {own.default!r}, not {p.default!r}")
            elif own is not None and p.kind == p.POSITIONAL_OR_KEYWORD and name not in BY_KEYWORD:
                if places[place : place + 1] != [p.name]:
                    wrong.append(f"{module}.{name}: {p.name} is not at place {place}")
    assert wrong == []


def test_what_is_said_to_differ_does():
    for module, names in ABSENT.items():
        assert [name for name in names if hasattr(importlib.import_module(f"ferrule.{module}"), name)] == []
    table = {(module, line.split("(")[0]) for module, line in signatures()}
    assert [(m, n) for differences in (ABSENT, OWN) for m, names in differences.items() for n in names
            if (m, n) not in table] == []  # fmt: skip

"""The names of MegEngine 1.13 that programs look for in module, optimizer and data."""

import ferrule.data as D
import ferrule.module as M
import ferrule.optimizer as O
import pytest

# Missing on purpose: DeformablePSROIPooling.
NAMES = {
    M: """
        AdaptiveAvgPool2d AdaptiveMaxPool2d AvgPool2d BatchMatMulActivation BatchNorm1d BatchNorm2d Concat Conv1d
        Conv2d Conv3d ConvBn2d ConvBnRelu2d ConvRelu2d ConvTranspose2d ConvTranspose3d ConvTransposeBn2d
        ConvTransposeBnRelu2d ConvTransposeRelu2d DeformableConv2d DequantStub Dropout Elemwise Embedding GELU
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

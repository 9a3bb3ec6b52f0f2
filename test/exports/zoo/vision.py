"""Image models from torchvision and timm."""

import timm
import torch
import torchvision.models as tv
from torch import nn
from zoo.architecture import Example, architecture, classes, images


def classifier(module: nn.Module, side: int = 32, lr: float = 0.02) -> Example:
    return Example(module, {"x": images(side)}, classes(), lr=lr)


@architecture
def resnet18() -> Example:
    return classifier(tv.resnet18(num_classes=5), 64, lr=2e-4)


@architecture
def mobilenet_v3() -> Example:
    module = tv.mobilenet_v3_small(num_classes=5, dropout=0.0)
    return classifier(module, 64)


@architecture
def efficientnet() -> Example:
    from torchvision.models.efficientnet import EfficientNet, MBConvConfig

    blocks = [MBConvConfig(1, 3, 1, 16, 8, 1, 1.0, 1.0), MBConvConfig(4, 3, 2, 8, 16, 2, 1.0, 1.0)]
    return classifier(EfficientNet(blocks, dropout=0.0, stochastic_depth_prob=0.0, num_classes=5, last_channel=32))


@architecture
def densenet() -> Example:
    return classifier(tv.DenseNet(growth_rate=8, block_config=(2, 2), num_init_features=16, num_classes=5))


@architecture
def vgg() -> Example:
    module = tv.VGG(tv.vgg.make_layers([8, "M", 16, "M"], batch_norm=True), num_classes=5)
    module.classifier = nn.Linear(16 * 7 * 7, 5)
    return classifier(module, lr=0.01)


@architecture
def convnext() -> Example:
    from torchvision.models.convnext import CNBlockConfig, ConvNeXt

    blocks = [CNBlockConfig(16, 32, 1), CNBlockConfig(32, None, 1)]
    return classifier(ConvNeXt(blocks, layer_scale=1.0, num_classes=5), lr=0.1)


@architecture
def vit_torchvision() -> Example:
    module = tv.VisionTransformer(32, 8, 2, 4, 32, 48, num_classes=5)
    nn.init.normal_(module.heads.head.weight, std=0.1)
    return classifier(module, lr=0.1)


@architecture
def swin_torchvision() -> Example:
    module = tv.SwinTransformer([4, 4], 16, [2, 2], [2, 4], [4, 4], stochastic_depth_prob=0.0, num_classes=5)
    return classifier(module, lr=0.1)


@architecture
def fcn() -> Example:
    """A fully convolutional network; its classes are on the second axis."""

    class Segmenter(nn.Module):
        def __init__(self):
            super().__init__()
            self.features = nn.Sequential(
                nn.Conv2d(3, 8, 3, stride=2, padding=1, bias=False), nn.BatchNorm2d(8), nn.ReLU(),
                nn.Conv2d(8, 16, 3, stride=2, padding=1, bias=False), nn.BatchNorm2d(16), nn.ReLU(),
            )  # fmt: skip
            self.head = tv.segmentation.fcn.FCNHead(16, 5)
            self.head[3] = nn.Identity()  # dropout

        def forward(self, x):
            return nn.functional.interpolate(self.head(self.features(x)), size=16, mode="bilinear", align_corners=False)

    made = Example(Segmenter(), {"x": images(16)}, classes(5, 80, 16, 16), lr=0.05)
    made.loss_of = nn.functional.cross_entropy
    return made


def from_timm(name: str, lr: float = 0.05, side: int = 32, **options) -> Example:
    torch.manual_seed(0)
    return classifier(timm.create_model(name, num_classes=5, **options), side, lr)


@architecture
def timm_vit() -> Example:
    return from_timm("vit_tiny_patch16_224", 0.05, img_size=32, patch_size=8, embed_dim=32, depth=2, num_heads=4)


@architecture
def timm_regnet() -> Example:
    return from_timm("regnetx_002", 0.02, 64)


@architecture
def timm_convnextv2() -> Example:
    return from_timm("convnextv2_atto", 0.05, depths=(1, 1, 1, 1), dims=(16, 16, 32, 32))


@architecture
def timm_efficientnetv2() -> Example:
    return from_timm("test_efficientnet", 0.02, 64)


@architecture
def timm_mixer() -> Example:
    module = timm.models.mlp_mixer.MlpMixer(img_size=32, patch_size=8, embed_dim=32, num_blocks=2, num_classes=5)
    return classifier(module, lr=0.05)


@architecture
def timm_resnet_d() -> Example:
    return from_timm("test_resnet", 0.01, 64)

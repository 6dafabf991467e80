"""Transforms of images and datasets of files, by small examples worked out by hand."""

import gzip
import json
import pickle
import struct

import numpy as np
import pytest
from ferrule.data import transform as T
from ferrule.data.dataset import (
    CIFAR10,
    CIFAR100,
    COCO,
    MNIST,
    Cityscapes,
    ImageFolder,
    ImageNet,
    Objects365,
    PascalVOC,
    load_image,
)
from ferrule.data.transform.color import _turned
from ferrule.data.transform.resizing import resize
from ferrule.errors import ArtifactError, ShapeError, UnsupportedError

ORDER = ("image", "boxes", "coords", "mask", "info")


def sample(height=4, width=6):
    image = np.arange(height * width * 3, dtype=np.uint8).reshape(height, width, 3)
    boxes, coords = np.array([[1.0, 0.0, 3.0, 2.0]]), np.array([[1.0, 2.0]])
    return image, boxes, coords, image[:, :, 0].copy(), "kept"


def test_resize_by_hand():
    # Pixel centres at halves: the new pixels lie at -0.25 (clipped to 0), 0.25, 0.75 and 1.25 (clipped to 1).
    row = np.array([[0.0, 4.0]])
    np.testing.assert_allclose(resize(row, 1, 4), [[0, 1, 3, 4]])
    np.testing.assert_allclose(resize(row, 1, 4, "nearest"), [[0, 0, 4, 4]])
    assert resize(np.array([[0, 3]], np.uint8), 1, 4).tolist() == [[0, 1, 2, 3]]
    image, boxes, coords, mask, info = T.Resize((8, 3), order=ORDER).apply(sample())
    assert image.shape == (8, 3, 3) and mask.shape == (8, 3) and info == "kept"
    np.testing.assert_allclose(boxes, [[0.5, 0, 1.5, 4]])
    np.testing.assert_allclose(coords, [[0.5, 4]])
    assert T.Resize(2).apply(sample()[0]).shape == (2, 3, 3)
    assert T.ShortestEdgeResize(8, 9).apply(sample()[0]).shape == (6, 9, 3)
    assert T.ShortestEdgeResize([8], 100, "choice").apply(sample()[0]).shape == (8, 12, 3)
    assert T.RandomResize((2, 2)).apply(sample()[0]).shape == (8, 12, 3)


def test_crops_and_borders_move_what_belongs_to_the_image():
    image, boxes, coords, mask, _ = T.CenterCrop((2, 4), order=ORDER).apply(sample())
    np.testing.assert_array_equal(image, sample()[0][1:3, 1:5])
    np.testing.assert_array_equal(mask, sample()[3][1:3, 1:5])
    assert boxes.tolist() == [[0, 0, 2, 1]] and coords.tolist() == [[0, 1]]
    image, boxes, coords, mask, _ = T.Pad((1, 2), value=(7, 8, 9), mask_value=5, order=ORDER).apply(sample())
    assert image.shape == (6, 10, 3) and image[0, 0].tolist() == [7, 8, 9] and mask[0, 0] == 5
    np.testing.assert_array_equal(image[1:5, 2:8], sample()[0])
    assert boxes.tolist() == [[3, 1, 5, 3]] and coords.tolist() == [[3, 3]]
    for _ in range(10):
        image, _, coords, mask, _ = T.RandomCrop(3, 1, order=ORDER).apply(sample())
        assert image.shape == (3, 3, 3) and mask.shape == (3, 3)
        assert T.RandomCrop(9).apply(sample()[0]).shape == (9, 9, 3)
        part = T.RandomResizedCrop((5, 7), scale_range=(0.5, 0.5), order=ORDER).apply(sample())
        assert part[0].shape == (5, 7, 3) and part[3].shape == (5, 7)
    with pytest.raises(ShapeError, match="4 x 6; at least 5 x 5"):
        T.CenterCrop(5).apply(sample()[0])


def test_mirrors():
    image, boxes, coords, mask, _ = T.RandomHorizontalFlip(1.0, order=ORDER).apply(sample())
    np.testing.assert_array_equal(image, sample()[0][:, ::-1])
    np.testing.assert_array_equal(mask, sample()[3][:, ::-1])
    assert boxes.tolist() == [[3, 0, 5, 2]] and coords.tolist() == [[5, 2]]
    image, boxes, *_ = T.RandomVerticalFlip(1.0, order=ORDER).apply(sample())
    np.testing.assert_array_equal(image, sample()[0][::-1])
    assert boxes.tolist() == [[1, 2, 3, 4]]
    np.testing.assert_array_equal(T.RandomHorizontalFlip(0.0).apply(sample()[0]), sample()[0])


def test_modes_and_scaling():
    image = sample()[0]
    assert T.ToMode().apply(image).shape == (3, 4, 6) and T.ToMode("NCHW").apply(image).shape == (1, 3, 4, 6)
    got = T.Normalize(mean=[0, 1, 2], std=2.0).apply(image)
    assert got.dtype == np.float32
    np.testing.assert_allclose(got[0, 1], [1.5, 1.5, 1.5])
    assert T.Compose([T.Resize(2), T.ToMode()]).apply(image).shape == (3, 2, 3)
    assert T.Compose([T.Resize(2)], batch_compose=True).apply_batch([image, image])[1].shape == (2, 3, 3)
    assert T.TorchTransformCompose([lambda x: x[:2], np.flipud]).apply(image).shape == (2, 6, 3)
    assert T.PseudoTransform()(image) is image


def test_colours():
    gray = np.full((2, 2, 3), 100, np.uint8)
    for kind in (T.ContrastTransform, T.SaturationTransform, T.HueTransform):
        np.testing.assert_array_equal(kind(0.5).apply(gray), gray)
    bright = {T.BrightnessTransform(0.5).apply(gray)[0, 0, 0] for _ in range(20)}
    assert len(bright) > 5 and min(bright) >= 50 and max(bright) <= 150
    blue = np.array([[[200.0, 0.0, 0.0]]])
    np.testing.assert_allclose(_turned(blue, 1 / 3), [[[0, 0, 200]]], atol=1e-9)  # a third of the circle on: red
    np.testing.assert_allclose(_turned(np.array([[[20.0, 80.0, 140.0]]]), 0.0), [[[20, 80, 140]]])
    np.testing.assert_allclose(_turned(np.array([[[20.0, 80.0, 140.0]]]), 1.0), [[[20, 80, 140]]])
    noisy = T.GaussianNoise(0, 10).apply(np.full((50, 50, 3), 100, np.uint8)).astype(float)
    assert noisy.dtype == float and abs(noisy.std() - 10) < 1
    jitter = T.ColorJitter(0.2, 0.2, 0.2, 0.2).apply(sample()[0])
    assert jitter.shape == (4, 6, 3) and jitter.dtype == np.uint8
    assert T.Lighting(0.0).apply(sample()[0]).tolist() == sample()[0].tolist()
    with pytest.raises(ValueError, match="value is 0.7"):
        T.HueTransform(0.7)


def test_wrong_orders_and_names_are_refused():
    with pytest.raises(UnsupportedError, match="order has picture"):
        T.Resize(2, order=["picture"])
    with pytest.raises(UnsupportedError, match="'cubic'; allowed: nearest, linear"):
        T.Resize(2, interpolation="cubic")


def idx(array):
    head = bytes((0, 0, 8, array.ndim)) + struct.pack(f">{array.ndim}I", *array.shape)
    return head + array.astype(np.uint8).tobytes()


def test_mnist_files(tmp_path):
    images = np.arange(2 * 28 * 28).reshape(2, 28, 28) % 251
    (tmp_path / "t10k-images-idx3-ubyte.gz").write_bytes(gzip.compress(idx(images)))
    (tmp_path / "t10k-labels-idx1-ubyte").write_bytes(idx(np.array([3, 9])))
    digits = MNIST(tmp_path, train=False)
    assert len(digits) == 2 and digits[1][1] == 9
    np.testing.assert_array_equal(digits[1][0][:, :, 0], images[1])
    with pytest.raises(ArtifactError, match="nothing is downloaded"):
        MNIST(tmp_path, train=True)
    (tmp_path / "t10k-labels-idx1-ubyte").write_bytes(idx(np.array([3, 9]))[:-1])
    with pytest.raises(ArtifactError, match="1 bytes for the shape"):
        MNIST(tmp_path, train=False)


def test_cifar_files(tmp_path):
    data = np.arange(2 * 3072).reshape(2, 3072) % 256
    for folder, name, labels in (
        ("cifar-10-batches-py", "test_batch", b"labels"),
        ("cifar-100-python", "test", b"fine_labels"),
    ):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / name).write_bytes(pickle.dumps({b"data": data.astype(np.uint8), labels: [4, 7]}))
    for kind in (CIFAR10, CIFAR100):
        images = kind(tmp_path, train=False)
        image, label = images[1]
        assert len(images) == 2 and label == 7 and image.shape == (32, 32, 3)
        assert image[0, 1].tolist() == [data[1, 2049], data[1, 1025], data[1, 1]]  # red comes first in the file

    class Evil:
        def __reduce__(self):
            return print, ("run",)

    (tmp_path / "cifar-100-python" / "test").write_bytes(pickle.dumps(Evil()))
    with pytest.raises(ArtifactError, match="builtins.print"):
        CIFAR100(tmp_path, train=False)


def test_folders_of_images(tmp_path):
    for name, value in (("cat", 1), ("dog", 2)):
        (tmp_path / "train" / name).mkdir(parents=True)
        pixels = bytes([value, 10, 20] * 6)
        (tmp_path / "train" / name / "a.ppm").write_bytes(b"P6\n# a comment\n3 2\n255\n" + pixels)
    (tmp_path / "train" / "dog" / "notes.txt").write_text("no image")
    folder = ImageNet(tmp_path)
    assert len(folder) == 2 and folder.classes == ["cat", "dog"]
    image, number = folder[1]
    assert number == 1 and image.shape == (2, 3, 3) and image[0, 0].tolist() == [20, 10, 2]
    assert ImageFolder(tmp_path / "train", class_name=True, loader=lambda path: path[-5:])[0] == ("a.ppm", "cat")
    np.save(tmp_path / "b.npy", np.zeros((2, 2)))
    assert load_image(str(tmp_path / "b.npy")).shape == (2, 2, 1)
    with pytest.raises(UnsupportedError, match="a.jpg: this version decodes .npy, .ppm and .pgm; give .* loader="):
        load_image("a.jpg")
    (tmp_path / "c.pgm").write_bytes(b"P5 3 2 255\n12345")
    with pytest.raises(ArtifactError, match="5 bytes of pixels; 6 are needed"):
        load_image(str(tmp_path / "c.pgm"))


def test_coco_files(tmp_path):
    np.save(tmp_path / "a.npy", np.zeros((4, 6, 3), np.uint8))
    box = {
        "image_id": 7,
        "bbox": [1, 2, 3, 1],
        "category_id": 90,
        "keypoints": [1, 2, 2],
        "segmentation": [[0, 0, 1, 0, 1, 1]],
    }
    content = {
        "images": [
            {"id": 9, "file_name": "b.npy", "height": 1, "width": 1},
            {"id": 7, "file_name": "a.npy", "height": 4, "width": 6},
        ],
        "annotations": [box, {**box, "iscrowd": 1}, {**box, "image_id": 9, "iscrowd": 1}],
        "categories": [{"id": 90, "name": "toothbrush"}, {"id": 1, "name": "person"}],
    }
    (tmp_path / "ann.json").write_text(json.dumps(content))
    data = COCO(tmp_path, tmp_path / "ann.json", True, order=COCO.supported_order)
    image, boxes, category, keypoints, polygons, info = data[0]
    assert len(data) == 1 and image.shape == (4, 6, 3) and info == [4, 6, "a.npy"]
    assert (
        boxes.tolist() == [[1, 2, 4, 3]] and category.tolist() == [2] and data.class_names == ("person", "toothbrush")
    )
    assert keypoints.tolist() == [[[1, 2, 2]]] and polygons[0][0].tolist() == [[0, 0], [1, 0], [1, 1]]
    data = Objects365(tmp_path, tmp_path / "ann.json", order=("boxes",))
    assert len(data) == 2 and data[1][0].shape == (0, 4)
    with pytest.raises(UnsupportedError, match="order has polygons"):
        Objects365(tmp_path, tmp_path / "ann.json", order=("polygons",))
    (tmp_path / "ann.json").write_text("{}")
    with pytest.raises(ArtifactError, match="no images, annotations, categories"):
        COCO(tmp_path, tmp_path / "ann.json")


def test_voc_files(tmp_path):
    for folder in ("JPEGImages", "Annotations", "ImageSets/Main", "ImageSets/Segmentation", "SegmentationClass"):
        (tmp_path / folder).mkdir(parents=True)
    np.save(tmp_path / "JPEGImages/one.npy", np.zeros((4, 6, 3), np.uint8))
    np.save(tmp_path / "SegmentationClass/one.npy", np.ones((4, 6), np.uint8))
    for name in ("Main", "Segmentation"):
        (tmp_path / f"ImageSets/{name}/val.txt").write_text("one\n")
    corners = "<xmin>1</xmin><ymin>2</ymin><xmax>3</xmax><ymax>4</ymax>"
    (tmp_path / "Annotations/one.xml").write_text(
        "<annotation><size><width>6</width><height>4</height></size>"
        f"<object><name>cat</name><bndbox>{corners}</bndbox></object></annotation>"
    )
    image, boxes, category, mask, info = PascalVOC(tmp_path, "val", order=PascalVOC.supported_order)[0]
    assert image.shape == (4, 6, 3) and mask.shape == (4, 6) and info == [4, 6]
    assert boxes.tolist() == [[1, 2, 3, 4]] and category.tolist() == [7]


def test_cityscapes_files(tmp_path):
    for folder in ("leftImg8bit/val/ulm", "gtFine/val/ulm"):
        (tmp_path / folder).mkdir(parents=True)
    np.save(tmp_path / "leftImg8bit/val/ulm/ulm_0_leftImg8bit.npy", np.zeros((2, 3, 3), np.uint8))
    np.save(tmp_path / "gtFine/val/ulm/ulm_0_gtFine_labelIds.npy", np.ones((2, 3), np.uint8))
    data = Cityscapes(tmp_path, "val", "gtFine", order=("image", "mask", "info"))
    image, mask, info = data[0]
    assert len(data) == 1 and image.shape == (2, 3, 3) and mask.tolist() == [[1] * 3] * 2 and info == [2, 3, "ulm_0"]
    with pytest.raises(UnsupportedError, match="mode 'fine'"):
        Cityscapes(tmp_path, "val", "fine")

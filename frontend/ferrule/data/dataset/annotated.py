"""Datasets of images with boxes, masks and outlines, from local files in their published layouts."""

import collections
import json
import os
import xml.etree.ElementTree

import numpy as np

from ...errors import ArtifactError, UnsupportedError
from .vision import VisionDataset, _need, load_image


class _Annotated(VisionDataset):
    """Samples are tuples of what ``order`` names."""

    supported_order = ()

    def __init__(self, root, order, loader):
        super().__init__(root, order=order, supported_order=self.supported_order)
        self.loader = loader

    def __getitem__(self, index):
        return tuple(getattr(self, f"_get_{key}")(index) for key in self.order)


class COCO(_Annotated):
    """Images with the annotations of a COCO file.

    Args:
        root: the folder of the images.
        ann_file: the JSON file of annotations.
        remove_images_without_annotations: leave out images without a box that is no crowd.
        order: of ``"image"``, ``"boxes"`` (n, 4) of corners, ``"boxes_category"`` (n,) from 1 on, ``"keypoints"`` (n,
            k, 3), ``"polygons"`` (a list of outlines for each box), ``"info"`` (height, width, file name).
        loader: reads a path to an array (H, W, C).
    """

    supported_order = ("image", "boxes", "boxes_category", "keypoints", "polygons", "info")

    def __init__(self, root, ann_file, remove_images_without_annotations=False, *, order=None, loader=load_image):
        super().__init__(root, order, loader)
        with open(_need(type(self).__name__, ann_file, "the annotations"), encoding="utf-8") as file:
            content = json.load(file)
        missing = [key for key in ("images", "annotations", "categories") if key not in content]
        if missing:
            raise ArtifactError(f"{ann_file}: no {', '.join(missing)}; this is no COCO file of annotations")
        by_image = collections.defaultdict(list)
        for annotation in content["annotations"]:
            if not annotation.get("iscrowd", 0):
                by_image[annotation["image_id"]].append(annotation)
        self.images = sorted(content["images"], key=lambda image: image["id"])
        if remove_images_without_annotations:
            self.images = [image for image in self.images if by_image[image["id"]]]
        self.annotations = [by_image[image["id"]] for image in self.images]
        categories = sorted(content["categories"], key=lambda category: category["id"])
        self.class_names = tuple(category["name"] for category in categories)
        # Published numbers have gaps: classes are counted from 1 on.
        self.json_category_id_to_contiguous_id = {
            category["id"]: number for number, category in enumerate(categories, 1)
        }

    def __len__(self):
        return len(self.images)

    def _get_image(self, index):
        return self.loader(os.path.join(self.root, self.images[index]["file_name"]))

    def _get_boxes(self, index):
        boxes = np.array([each["bbox"] for each in self.annotations[index]], np.float32).reshape(-1, 4)
        boxes[:, 2:] += boxes[:, :2]
        return boxes

    def _get_boxes_category(self, index):
        numbers = self.json_category_id_to_contiguous_id
        return np.array([numbers[each["category_id"]] for each in self.annotations[index]], np.int32)

    def _get_keypoints(self, index):
        points = [each["keypoints"] for each in self.annotations[index] if "keypoints" in each]
        return np.array(points, np.float32).reshape(len(points), -1, 3)

    def _get_polygons(self, index):
        return [
            [np.array(outline, np.float32).reshape(-1, 2) for outline in each["segmentation"]]
            for each in self.annotations[index]
            if "segmentation" in each
        ]

    def _get_info(self, index):
        image = self.images[index]
        return [image["height"], image["width"], image["file_name"]]


class Objects365(COCO):
    """Images with the annotations of Objects365, whose files are like COCO's; the arguments are those of `COCO`."""

    supported_order = ("image", "boxes", "boxes_category", "info")


class PascalVOC(_Annotated):
    """Images of PASCAL VOC.

    Args:
        root: the folder that holds JPEGImages, Annotations, ImageSets and SegmentationClass.
        image_set: the name of a list, as ``"trainval"``: of ImageSets/Segmentation if ``order`` has masks, else of
            ImageSets/Main.
        order: of ``"image"``, ``"boxes"`` (n, 4) of corners, ``"boxes_category"`` (n,) from 0 on, ``"mask"``,
            ``"info"`` (height, width).
        loader: reads a path to an array (H, W, C).
    """

    supported_order = ("image", "boxes", "boxes_category", "mask", "info")
    class_names = (
        "aeroplane bicycle bird boat bottle bus car cat chair cow diningtable dog horse motorbike person pottedplant "
        "sheep sofa train tvmonitor"
    ).split()

    def __init__(self, root, image_set, *, order=None, loader=load_image):
        super().__init__(root, order, loader)
        kind = "Segmentation" if "mask" in self.order else "Main"
        path = os.path.join(self.root, "ImageSets", kind, f"{image_set}.txt")
        with open(_need("PascalVOC", path, "the list of images"), encoding="utf-8") as file:
            self.names = [line.split()[0] for line in file if line.strip()]

    def __len__(self):
        return len(self.names)

    def _path(self, folder, index, endings):
        paths = [os.path.join(self.root, folder, self.names[index] + ending) for ending in endings]
        return next((path for path in paths if os.path.exists(path)), paths[0])

    def _get_image(self, index):
        return self.loader(self._path("JPEGImages", index, (".jpg", ".ppm", ".npy")))

    def _get_mask(self, index):
        mask = self.loader(self._path("SegmentationClass", index, (".png", ".pgm", ".npy")))
        return mask[:, :, 0] if mask.ndim == 3 and mask.shape[2] == 1 else mask

    def _annotation(self, index):
        return xml.etree.ElementTree.parse(self._path("Annotations", index, (".xml",))).getroot()

    def _get_boxes(self, index):
        corners = ("xmin", "ymin", "xmax", "ymax")
        boxes = [
            [float(each.find(f"bndbox/{c}").text) for c in corners] for each in self._annotation(index).iter("object")
        ]
        return np.array(boxes, np.float32).reshape(-1, 4)

    def _get_boxes_category(self, index):
        names = [each.find("name").text for each in self._annotation(index).iter("object")]
        return np.array([self.class_names.index(name) for name in names], np.int32)

    def _get_info(self, index):
        size = self._annotation(index).find("size")
        return [int(size.find("height").text), int(size.find("width").text)]


class Cityscapes(_Annotated):
    """Images of streets with a class for every pixel.

    Args:
        root: the folder that holds leftImg8bit and the folder ``mode``.
        image_set: ``"train"``, ``"val"`` or ``"test"``.
        mode: ``"gtFine"`` or ``"gtCoarse"``.
        order: of ``"image"``, ``"mask"`` (the file of label numbers), ``"info"`` (height, width, name).
        loader: reads a path to an array (H, W, C).
    """

    supported_order = ("image", "mask", "info")

    def __init__(self, root, image_set, mode, *, order=None, loader=load_image):
        super().__init__(root, order, loader)
        if image_set not in ("train", "val", "test") or mode not in ("gtFine", "gtCoarse"):
            raise UnsupportedError(
                f"Cityscapes: image_set {image_set!r}, mode {mode!r}; allowed: train, val, test; gtFine, gtCoarse"
            )
        images = _need("Cityscapes", os.path.join(self.root, "leftImg8bit", image_set), "the folders of the cities")
        self.items = []
        for city in sorted(os.listdir(images)):
            for name in sorted(os.listdir(os.path.join(images, city))):
                stem, _, ending = name.partition("_leftImg8bit")
                mask = os.path.join(self.root, mode, image_set, city, f"{stem}_{mode}_labelIds{ending}")
                self.items.append((os.path.join(images, city, name), mask, stem))

    def __len__(self):
        return len(self.items)

    def _get_image(self, index):
        return self.loader(self.items[index][0])

    def _get_mask(self, index):
        mask = self.loader(self.items[index][1])
        return mask[:, :, 0] if mask.ndim == 3 and mask.shape[2] == 1 else mask

    def _get_info(self, index):
        height, width = self._get_image(index).shape[:2]
        return [height, width, self.items[index][2]]

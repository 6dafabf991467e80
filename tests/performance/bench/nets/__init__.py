"""The networks of `bench train` in Ferrule; layers have torchvision's names, so that weights are given by name."""

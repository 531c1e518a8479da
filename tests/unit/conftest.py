"""One thread: the tests must not crowd out whatever else the machine is doing."""

import torch

torch.set_num_threads(1)

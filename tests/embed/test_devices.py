"""The CPU is the default, and a GPU is used where the settings ask for one."""

from __future__ import annotations

import pytest

from quire.core.types import EmbedSettings
from quire.embed import open_embedder
from quire.embed.local import CPU, providers_of
from quire.errors import ConfigError, EmbedError

CUDA, COREML = "CUDAExecutionProvider", "CoreMLExecutionProvider"


def test_the_cpu_is_the_default_whatever_is_offered() -> None:
    assert providers_of(EmbedSettings().device, [CUDA, CPU]) == [CPU]


@pytest.mark.parametrize("device", ["gpu", "auto"])
def test_the_first_gpu_that_is_offered_is_used_before_the_cpu(device: str) -> None:
    assert providers_of(device, [COREML, CUDA, CPU]) == [CUDA, CPU]
    assert providers_of(device, [COREML, CPU]) == [COREML, CPU]


def test_without_a_gpu() -> None:
    assert providers_of("auto", ["AzureExecutionProvider", CPU]) == [CPU]
    with pytest.raises(EmbedError, match="offers no GPU here, only") as caught:
        providers_of("gpu", [CPU])
    assert "onnxruntime-gpu" in caught.value.hint


def test_a_device_that_there_is_not() -> None:
    with pytest.raises(ConfigError) as caught:
        open_embedder(EmbedSettings(device="tpu"))
    assert caught.value.allowed == ("cpu", "gpu", "auto")


def test_the_setting_reaches_the_model() -> None:
    embedder, other = (open_embedder(EmbedSettings(device=name)) for name in ("cpu", "auto"))
    assert embedder is not None
    assert other is not None
    assert embedder.model == other.model
    embedder.close()
    other.close()

"""What all models are: frozen values that reject misspelled fields."""

from __future__ import annotations
from typing import ClassVar

from pydantic import BaseModel, ConfigDict


class Value(BaseModel):
    """A frozen value that rejects misspelled fields."""

    model_config: ClassVar[ConfigDict] = ConfigDict(
        frozen=True, extra="forbid", ser_json_bytes="base64", val_json_bytes="base64"
    )

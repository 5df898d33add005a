"""Models: who answers chat requests, from a provider's API to a prepared script."""

from afterword.models.inventory import Availability, availability
from afterword.models.limits import RequestLimits
from afterword.models.opening import Models, default_model_name, open_model, open_models
from afterword.models.options import ModelOptions, RetryNotice
from afterword.models.recorded import RecordedModel
from afterword.models.recording import Recording, RecordingFile
from afterword.models.scripted import ScriptedModel

__all__ = [
    "Availability",
    "ModelOptions",
    "Models",
    "RecordedModel",
    "Recording",
    "RecordingFile",
    "RequestLimits",
    "RetryNotice",
    "ScriptedModel",
    "availability",
    "default_model_name",
    "open_model",
    "open_models",
]

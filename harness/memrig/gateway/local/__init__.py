"""Built-in models that need no key. They are named as what they are: none of them is an LLM."""

from memrig.gateway.local.models import local_models, run_local

__all__ = ["local_models", "run_local"]

"""The bytes of one world, committed: they change with the generator's version, or not at all.

A change of the simulator, the words, the renderer, the programs or the allocation changes them.
Then raise `GENERATOR_VERSION` in suites/longhorizon/suite.py, and put here what this prints::

    memrig generate longhorizon --turns 1000 --seed 42 --questions 100 --out /tmp/pinned
"""

from memrig.generate import generate_longhorizon
from memrig.suites.longhorizon.spec import FILES, WorldSpec
from memrig.suites.longhorizon.suite import GENERATOR_VERSION

VERSION = 2
SHA256 = {
    "turns.jsonl": "18db7289e7326c7c954035b0ab4abfe4e18c8e7fb985aacc0e035a7927a05712",
    "events.jsonl": "51e77bca2bd79fa051c3da3078e814c28cf70aeb8728f068b975ead6921e10ea",
    "questions.jsonl": "b36a790ea8e4d1045d79cb9d56ac2905b58a1ce78ccd9570d7da899202d203b2",
}
SAYS = "raise GENERATOR_VERSION in suites/longhorizon/suite.py: see the head of this file"


def test_what_a_seed_makes_changes_only_with_the_generators_version(tmp_path):
    """Two runs of one version are comparable: they were asked the same about the same."""
    made = generate_longhorizon(WorldSpec(seed=42, turns=1_000, questions=100), tmp_path)
    found = {name: made[tmp_path / name] for name in FILES}
    differ = [name for name in FILES if found[name] != SHA256[name]]
    assert not differ, f"{', '.join(differ)} of seed 42 changed: {SAYS}"
    assert GENERATOR_VERSION == VERSION, f"the digests here are of version {VERSION}: {SAYS}"

"""The project's Python packages, and where each is in a checkout."""

from pathlib import Path

TOP = Path(__file__).parents[2]
APPLICATION = ("crowdselect", "selection")
HOUSES = {name: TOP / name for name in (*APPLICATION, "research")} | {
    "crowdselect_client": TOP / "packages" / "crowdselect-client" / "crowdselect_client",
    "topk": TOP / "packages" / "topk" / "topk",
}
TESTS = {name: TOP / "tests" / name for name in HOUSES} | {
    "topk": TOP / "packages" / "topk" / "tests"
}

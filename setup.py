"""What pyproject.toml cannot say: templates and static files lie at the top, and go along."""

from setuptools import find_packages, setup

HOUSES = ("topk", "selection", "research", "crowdselect", "crowdselect_client")

setup(
    packages=[
        *find_packages(include=[name for house in HOUSES for name in (house, f"{house}.*")]),
        "crowdselect.templates",
        "crowdselect.static",
    ],
    package_dir={"crowdselect.templates": "templates", "crowdselect.static": "static"},
    package_data={
        "crowdselect.templates": ["**/*"],
        "crowdselect.static": ["**/*"],
        "crowdselect": ["locale/*/LC_MESSAGES/django.*", "start/supervisord.conf"],
        "selection": ["locale/*/LC_MESSAGES/django.*", "model_workers/replies/words.txt"],
        "crowdselect_client": ["py.typed"],
        "topk": ["py.typed"],
    },
)

"""What pyproject.toml cannot say: templates, styles and docs lie at the top, and go along."""

from setuptools import find_packages, setup

FOLDERS = {f"crowdselect.{name}": name for name in ("docs", "static", "templates")}

setup(
    packages=[
        *find_packages(include=["crowdselect", "crowdselect.*", "selection", "selection.*"]),
        *FOLDERS,
    ],
    package_dir=FOLDERS,
    package_data={
        "crowdselect.templates": ["**/*"],
        "crowdselect.static": ["**/*"],
        "crowdselect.docs": ["*.md"],
        "crowdselect": ["locale/*/LC_MESSAGES/django.*", "start/supervisord.conf"],
        "selection": ["locale/*/LC_MESSAGES/django.*", "model_workers/replies/words.txt"],
    },
)

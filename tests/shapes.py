"""What checks annotations in a test run; `pyproject.toml` says of which rooms."""

from beartype import BeartypeConf, beartype

checked = beartype(conf=BeartypeConf(is_pep484_tower=True))  # an int is a float here too, as it is for a static checker

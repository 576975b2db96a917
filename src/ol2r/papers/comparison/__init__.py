"""All learners under one protocol: the chapter that none of the papers has."""

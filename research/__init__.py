"""What is measured of the algorithms: their promises, and the experiments of their papers."""

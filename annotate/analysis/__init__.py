"""From a study to its numbers: labels with their design, agreement of people, judges against people, score impact."""

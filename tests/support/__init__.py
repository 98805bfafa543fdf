"""What several tests share: fakes that implement the real protocols, small data."""

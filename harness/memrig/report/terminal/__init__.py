"""What `report/console.py` offers, by subject. Import from there."""

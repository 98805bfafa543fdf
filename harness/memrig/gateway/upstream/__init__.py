"""The providers: who is called, and what their failures mean."""

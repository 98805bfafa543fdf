"""What a judge model is asked, how its reply is read, and what follows (docs/judges.md). Pure."""

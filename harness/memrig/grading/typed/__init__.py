"""Typed graders: answers against typed gold, without a judge (scoring §2)."""

from memrig.grading.typed.grade import VERSION, grade_each_fact, grade_text

__all__ = ["VERSION", "grade_each_fact", "grade_text"]

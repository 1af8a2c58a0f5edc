"""Sidestream: agent memory that stays off the reply path."""

__version__ = "0.1.0"

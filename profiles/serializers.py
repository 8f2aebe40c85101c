"""Shapes of the people API."""

from typing import Any

from rest_framework import serializers

from memory.fields import SafeText, Strict


class Credentials(Strict):
    username = SafeText(max_length=150)
    password = SafeText(max_length=1000)


class Token(serializers.Serializer[Any]):
    token = serializers.CharField()
    expiry = serializers.DateTimeField()

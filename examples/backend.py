"""A backend: what its users say goes in through Redis, what its model should see comes back over HTTP."""

import os
import sys

from sidestream import Client, Message, Publisher

redis_url, api_url, text = sys.argv[1:4]
with Publisher(redis_url) as publisher, Client(api_url, os.environ.get("API_KEY")) as client:
    said = publisher.publish(Message(session_id="tour-7", user_id="ann", role="user", content=text))
    answer = Message(session_id="tour-7", user_id="ann", role="assistant", content="I will remember that.")
    publisher.publish(answer)
    # Another session of the same user, a moment later: what was said is there to be recalled.
    found = client.context("tour-8", query=text, user_id="ann", wait_for=said.id, wait_timeout=10)
    for message in found.messages:
        print(f"{message['role']}: {message['content']}")

"""A modelled server that answers conversations too, in a template of its own."""

import dataclasses
import json

from tests.servers.modelled import Modelled

HEADS = 3
"""Tokens of the head of each message, and of the last one that invites the answer."""


class Chatting(Modelled):
    """Marks each message with [role] on a line of its own."""

    def routes(self):
        """Those of any modelled server, and /api/chat."""
        return super().routes() | {"/api/chat": self.chat}

    def chat(self, asked):
        """What /api/generate would answer to the text that the template makes."""
        body = asked.json
        told = "".join(f"[{each['role']}]\n{each['content']}\n" for each in body["messages"])
        prompt = json.dumps(body | {"prompt": f"{told}[assistant]\n"}).encode()
        answer = self.generate(dataclasses.replace(asked, body=prompt))
        if isinstance(answer.body, dict):
            return dataclasses.replace(answer, body=_spoken(answer.body))
        records = [_spoken(json.loads(line)) for line in answer.body.splitlines()]
        return dataclasses.replace(answer, body="".join(f"{json.dumps(r)}\n" for r in records))


def _spoken(record):
    if "response" not in record:
        return record
    text = record.pop("response")
    return record | {"message": {"role": "assistant", "content": text}}

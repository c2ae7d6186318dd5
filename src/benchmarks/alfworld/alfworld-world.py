"""The household of ALFWorld behind a pipe: a request a line on the standard input, an answer a line on the standard output.

    {"op": "reset", "game": PATH}    answers {"observation", "admissible", "done", "won"}
    {"op": "step", "action": TEXT}   answers the same
    {"op": "close"}                  ends; so does the end of the input

Needs the packages alfworld (with textworld) and the games that alfworld-download fetches. What goes wrong is written to the
standard error, and the process ends.
"""

import json
import os
import random
import sys

NEEDED = "the packages alfworld and textworld are needed, and cannot be loaded: {}. Install them: pip install alfworld"


def open_pipes():
    """The requests, and the answers. Libraries may print: from now on that goes to the standard error."""
    requests = os.fdopen(os.dup(0), "r", encoding="utf-8", newline="\n")
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8", newline="\n")
    os.dup2(2, 1)
    return requests, answers


class House:
    def __init__(self):
        self.world = None

    def reset(self, path):
        self.close()
        random.seed(0)  # the same game tells the same, each time
        self.world = start(path)
        return scene(self.world.reset(), False)

    def step(self, action):
        if self.world is None:
            raise ValueError("a step before the first reset")
        state, _, done = self.world.step(action)
        return scene(state, done)

    def close(self):
        if self.world is not None:
            self.world.close()
        self.world = None


def start(path):
    try:
        import textworld
        from alfworld.agents.environment.alfred_tw_env import AlfredDemangler
    except ImportError as problem:
        sys.exit(NEEDED.format(problem))
    wanted = textworld.EnvInfos(won=True, admissible_commands=True)
    # The second parameter has had two names. Names of things are as in the published evaluation: not shuffled.
    return textworld.start(path, wanted, wrappers=[AlfredDemangler(shuffle=False)])


def scene(state, done):
    return {
        "observation": state["feedback"],
        "admissible": list(state["admissible_commands"] or []),
        "done": bool(done),
        "won": bool(state["won"]),
    }


def main():
    requests, answers = open_pipes()
    house = House()
    for line in requests:
        request = json.loads(line)
        if request["op"] == "close":
            break
        answer = house.reset(request["game"]) if request["op"] == "reset" else house.step(request["action"])
        answers.write(json.dumps(answer) + "\n")
        answers.flush()
    house.close()


if __name__ == "__main__":
    main()

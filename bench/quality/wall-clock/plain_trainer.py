"""A plain trainer of the paper's protocol: standard library, 16 threads, no cache on disk, no journal.

Reads its task as JSON from standard input, trains over HTTP until it has made as many target calls as it may, and prints
what it did as JSON. Time is counted from the first call to the last file, without the start of the interpreter.
"""

import http.client
import json
import math
import random
import re
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from urllib.parse import urlparse

TASK = json.load(sys.stdin)
WORKERS, BATCH, MINIBATCH, MERGE, EPOCH_STEPS, PLANNED_STEPS = 16, 40, 8, 8, 2, 8
FORMAT = (
    "End your reply with the final answer inside <answer></answer>, in as few words as it takes. "
    "Only what stands between these tags is graded."
)
ADDRESS = urlparse(TASK["url"])
POOL = ThreadPoolExecutor(WORKERS)
LOCAL = threading.local()


def ask(model, system, user, seed=0):
    """One call, over the connection that this thread keeps open."""
    if not hasattr(LOCAL, "line"):
        LOCAL.line = http.client.HTTPConnection(ADDRESS.hostname, ADDRESS.port)
    messages = [{"role": "system", "content": system}, {"role": "user", "content": user}]
    body = json.dumps({"model": model, "messages": messages, "seed": seed, "max_tokens": 4096})
    LOCAL.line.request("POST", f"{ADDRESS.path}/chat/completions", body, {"content-type": "application/json"})
    answer = LOCAL.line.getresponse()
    reply = json.loads(answer.read())
    if answer.status != 200:
        raise RuntimeError(f"the server answered {answer.status}: {reply}")
    return reply["choices"][0]["message"]["content"]


class Run:
    def __init__(self):
        self.calls = 0
        self.rounds = 0
        self.attempts = {}  # by skill, item and draw: the batch of an unchanged skill is not attempted twice
        self.steps = 0

    def together(self, work, jobs):
        self.rounds += math.ceil(len(jobs) / WORKERS)
        return list(POOL.map(lambda job: work(*job), jobs))

    def roll_out(self, skill, items, draw=0):
        new = [item for item in items if (skill, item["id"], draw) not in self.attempts]
        self.calls += len(new)
        for item, result in zip(new, self.together(attempt, [(skill, item, draw) for item in new])):
            self.attempts[skill, item["id"], draw] = result
        return [self.attempts[skill, item["id"], draw] for item in items]

    def price(self, skill, items):
        return sum((skill, item["id"], 0) not in self.attempts for item in items)

    def left(self):
        return TASK["calls"] - self.calls


def attempt(skill, item, draw):
    system = f"{skill.rstrip()}\n\n{FORMAT}".lstrip()
    reply = ask("sim-target", system, f"Question: {item['question']}", draw * 1000)
    found = re.findall(r"<answer>(.*?)</answer>", reply, re.S | re.I)
    answer = found[-1].strip() if found else reply.strip().split("\n")[-1]
    hard = int(any(normal(answer) == normal(gold) for gold in item["answers"]))
    return {"item": item, "reply": reply, "answer": answer, "hard": hard}


def normal(text):
    bare = re.sub(r"[!-/:-@\[-`{-~]", "", text.lower())
    return " ".join(re.sub(r"\b(a|an|the)\b", " ", bare).split())


def fenced(kind, text):
    return f"<{kind}-0a1b2c3d>\n{text}\n</{kind}-0a1b2c3d>"


def trajectory(result):
    item, outcome = result["item"], "succeeded" if result["hard"] else "failed"
    lines = [
        f"id: {item['id']}",
        f"question: {item['question']}",
        f"outcome: {outcome} (hard {result['hard']})",
        f"reference: {' | '.join(item['answers'])}",
        f"predicted: {result['answer']}",
        f"conversation:\n[user] Question: {item['question']}\n[assistant] {result['reply']}",
    ]
    return fenced("trajectory", "\n".join(lines))


def asked_for_json(prompt, sections):
    reply = ask("sim-optimizer", TASK["prompts"][prompt], "\n\n".join(sections))
    return json.loads(reply[reply.index("{") : reply.rindex("}") + 1])


def analyse(kind, results, skill, budget):
    outcome, prompt = ("failed", "analyst_error") if kind == "failure" else ("succeeded", "analyst_success")
    read = "\n\n".join(trajectory(result) for result in results)
    sections = [
        f"## Current skill\n{fenced('skill', skill)}",
        f"## Edit budget\nAt most {budget} edits.",
        f"## Trajectories ({len(results)} {outcome})\n{read}",
    ]
    edits = asked_for_json(prompt, sections)["patch"]["edits"][:budget]
    return kind, [{**edit, "source_type": kind} for edit in edits]


def merge(kind, group, skill):
    if len(group) == 1:
        return kind, group[0]
    patches = json.dumps([{"edits": edits} for edits in group], indent=2)
    sections = [f"## Current skill\n{fenced('skill', skill)}", f"## Patches to merge\n{fenced('patches', patches)}"]
    edits = asked_for_json(f"merge_{kind}", sections)["edits"]
    return kind, edits if kind == "final" else [{**edit, "source_type": kind} for edit in edits]


def reflect(run, results, skill, budget, seed):
    jobs = []
    for kind, hard, own in (("failure", 0, seed), ("success", 1, seed + 1)):
        members = [result for result in results if result["hard"] == hard]
        random.Random(own).shuffle(members)
        jobs += [(kind, members[at : at + MINIBATCH], skill, budget) for at in range(0, len(members), MINIBATCH)]
    return [(kind, edits) for kind, edits in run.together(analyse, jobs) if edits]


def aggregate(run, patches, skill):
    """Failures and successes side by side, level by level, then with each other."""
    while len({kind for kind, _ in patches}) < len(patches):
        jobs = []
        for kind in ("failure", "success"):
            own = [edits for each, edits in patches if each == kind]
            jobs += [(kind, own[at : at + MERGE], skill) for at in range(0, len(own), MERGE)]
        patches = run.together(merge, jobs)
    if len(patches) == 2:
        patches = run.together(merge, [("final", [edits for _, edits in patches], skill)])
    return patches[0][1] if patches else []


def select(run, edits, skill, budget):
    if len(edits) <= budget:
        return edits
    lines = "\n".join(f"[{at}] {json.dumps(edit)}" for at, edit in enumerate(edits))
    heading = f"## Edits ({len(edits)}, keep at most {budget})"
    sections = [f"## Current skill\n{fenced('skill', skill)}", f"{heading}\n{fenced('edits', lines)}"]
    chosen = run.together(asked_for_json, [("ranking", sections)])[0]["selected_indices"]
    return [edits[at] for at in chosen if at < len(edits)][:budget]


def apply(skill, edits):
    for edit in edits:
        op, target, content = edit["op"], edit.get("target") or "", (edit.get("content") or "").strip()
        if op == "append" or (op == "insert_after" and target not in skill):
            skill = f"{skill.rstrip()}\n\n{content}\n"
        elif target and target in skill:
            new = {"replace": content, "delete": "", "insert_after": f"{target}\n{content}"}[op]
            skill = skill.replace(target, new, 1)
    return skill


def score(results):
    return sum(result["hard"] for result in results) / len(results)


def take_step(run, current, best, items):
    step = run.steps = run.steps + 1
    epoch, place = divmod(step - 1, EPOCH_STEPS)
    seed = TASK["seed"] + 1000 * (epoch + 1)
    order = list(TASK["train"])
    random.Random(seed).shuffle(order)
    batch = order[place * BATCH : (place + 1) * BATCH]
    if run.price(current, batch) + len(items) > run.left():
        return None
    budget = max(2, round(2 + (1 + math.cos(math.pi * min(step / PLANNED_STEPS, 1)))))
    results = run.roll_out(current, batch)
    edits = select(run, aggregate(run, reflect(run, results, current, budget, seed + place + 1), current), current, budget)
    candidate = apply(current, edits)
    if candidate != current:
        judged = score(run.roll_out(candidate, items))
        if judged > score(run.roll_out(current, items)):
            current = candidate
            best = candidate if judged > score(run.roll_out(best, items)) else best
    write(step, {"edits": edits, "results": results}, current)
    return current, best


def write(step, record, skill):
    folder = Path(TASK["folder"])
    (folder / f"step_{step}.json").write_text(json.dumps(record))
    (folder / f"skill_{step}.md").write_text(skill)


def train():
    start = time.perf_counter()
    run, items = Run(), TASK["val"]
    current = best = TASK["skill"]
    run.roll_out(current, items)
    while stepped := take_step(run, current, best, items):
        current, best = stepped
    draw = 0
    while run.left() > 0:  # too few for a step: they measure the best again
        draw += 1
        run.roll_out(best, items[: run.left()], draw)
    (Path(TASK["folder"]) / "best.md").write_text(best)
    ms = (time.perf_counter() - start) * 1000
    print(json.dumps({"ms": ms, "calls": run.calls, "rounds": run.rounds, "steps": run.steps - 1}))


train()

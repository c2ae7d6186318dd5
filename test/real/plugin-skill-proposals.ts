import { Edit } from 'skillopt';
import type { Proposal } from '../../examples/classify/proposals.ts';

/** Edits of the description of the shipped skill, written before anything was measured. */
export const pluginSkillProposals: readonly Proposal[] = [
  add('useless', 'Written in plain English.'),
  add('harmful', 'Use it for every request, whatever it is about.'),
  reword(
    'useful',
    'Not for writing a new skill, for editing CLAUDE.md or AGENTS.md by hand, for one-off notes, or for unit tests and performance of code.',
    'Not for ordinary work on code (writing, testing, speeding up, fixing, committing, deploying), for writing a new skill, for editing CLAUDE.md or AGENTS.md by hand, or for notes and reminders.',
  ),
  add('useful', 'Also for the state of a training run, the score of a skill, and whether a gain is proven.'),
  add('useful', 'Also for what a night would cost, how long it takes, and who would see texts of the sessions.'),
  add('useless', 'Its licence is MIT.'),
  add(
    'useful',
    'Not for training models of machine learning, for nightly builds and other jobs at night, or for proposals that have nothing to do with skills.',
  ),
  reword(
    'harmful',
    'Not for writing a new skill, for editing CLAUDE.md or AGENTS.md by hand, for one-off notes, or for unit tests and performance of code.',
    'Also for unit tests, for performance of code and for commits.',
  ),
  add(
    'useful',
    'Typical requests: "What did you learn?", "Any proposals?", "Train my skill", "I keep telling you this".',
  ),
  reword(
    'useful',
    "Shows what skillopt learned from the person's past coding-agent sessions, and makes a skill measurably better.",
    "Learns from the person's past sessions with coding agents, proposes rules, and proves with tasks that a skill got better.",
  ),
  add('useless', 'It is part of a plugin with a version number.'),
  reword(
    'useful',
    'keeps repeating the same correction and wants it remembered as a proven rule',
    'complains of having to correct the agent again and again, and wants that to end',
  ),
  add('useless', 'It runs on Linux and macOS.'),
  add('useful', 'Also to start, watch or stop a night of learning.'),
  add('useful', 'Not for reminders, to-do lists, calendars or facts about the present task.'),
  remove(
    'harmful',
    'Not for writing a new skill, for editing CLAUDE.md or AGENTS.md by hand, for one-off notes, or for unit tests and performance of code.',
  ),
  add('useful', 'Also to check that a skill folder or SKILL.md is valid.'),
  add('useful', 'Not for explaining a topic to the person or for teaching them something.'),
  reword(
    'harmful',
    'Use when the person asks what was learned last night or overnight, about nights, proposals or adopting a learned rule,',
    'Use when the person writes, tests or commits code,',
  ),
  add(
    'useful',
    'A request that names no skill, no night, no proposal, no earlier session and no repeated correction is not for it.',
  ),
  add('useless', 'It also comes as a command for the shell.'),
  reword(
    'useful',
    'wants a SKILL.md improved, trained, measured or checked',
    'wants an existing skill improved, trained, tuned, measured, compared or checked',
  ),
  add('harmful', 'Never use it when the person asks about a night, a proposal or a skill.'),
  reword('useful', 'for one-off notes', 'for one-off notes, for texts, plans and questions about other topics'),
];

type Intent = Proposal['intent'];

function add(intent: Intent, content: string): Proposal {
  return { name: `+ ${content}`, intent, editFor: () => Edit.parse({ op: 'append', content }) };
}

function reword(intent: Intent, target: string, content: string): Proposal {
  return { name: `→ ${content}`, intent, editFor: () => Edit.parse({ op: 'replace', target, content }) };
}

function remove(intent: Intent, target: string): Proposal {
  return { name: `− ${target}`, intent, editFor: () => Edit.parse({ op: 'delete', target }) };
}

import type { AgentRequest } from './agent-request.ts';
import { type FakeAgentStep, SKILL_TOOLS } from './agent-step.ts';

/** Words of this length and more are compared, but not those that any prompt may hold. */
const WORD = /[a-z]{5,}/g;
const COMMON = new Set(
  ['please', 'write', 'using', 'these', 'those', 'there', 'their', 'which', 'where', 'while', 'would', 'could'].concat([
    'should',
    'about',
    'after',
    'before',
    'project',
    'files',
    'other',
    'asked',
    'skill',
    'agent',
  ]),
);

/**
 * A model whose mind is known. It loads each offered skill whose description shares a word with what was asked, then has
 * each `DO: <command>` line of the loaded texts run, then says that it is done.
 */
export function followSkills(request: AgentRequest, only: readonly string[] | undefined): FakeAgentStep {
  const asked = wordsOf(request.asked);
  const wanted = offeredSkills(request)
    .filter(([name]) => only?.includes(name) ?? true)
    .filter(([, description]) => wordsOf(description).some((word) => asked.includes(word)))
    .map(([skill]) => ({ skill }));
  const loaded = request.results.slice(0, wanted.length).join('\n');
  const steps = [...wanted, ...commandsIn(loaded).map((shell) => ({ shell }))];
  return steps[request.results.length] ?? { text: 'done' };
}

function wordsOf(text: string): string[] {
  return (text.toLowerCase().match(WORD) ?? []).filter((word) => !COMMON.has(word));
}

/** Some tools that read files put numbers before the lines. */
function commandsIn(text: string): string[] {
  return [...text.matchAll(/^\s*(?:\d+\s*[:|→]?\s*)?DO: (.+)$/gm)].map(([, command]) => command!.trim());
}

const TAGGED = /<name>\s*([\w-]+)\s*<\/name>\s*<description>([\s\S]*?)<\/description>/g;
const LISTED = /^\s*- \*{0,2}`?([a-z0-9][\w-]{0,63})`?\*{0,2}: (.+)$/gm;

/** Names and descriptions, in the notations of all agents that were seen. */
function offeredSkills({ system, context, tools }: AgentRequest): [string, string][] {
  const ofSkills = tools.filter(({ name }) => SKILL_TOOLS.includes(name)); // those of other tools list other things
  const said = [system, context, ...ofSkills.map(({ description }) => description)].join('\n');
  const found = [...said.matchAll(TAGGED), ...said.matchAll(LISTED)].map(([, name, text]) => [name!, text!] as const);
  return [...new Map(found.toReversed())].toReversed(); // the first of each name
}

import { basename } from 'node:path';
import { SkillError } from '../core/contracts/index.ts';
import type { AgentCliName, Environment, Located } from './agent-cli.ts';
import { agentClis } from './agent-clis.ts';
import { printedVersion, versionIn } from './detect-agents.ts';

type Program = Located & { readonly cli: AgentCliName };

/**
 * The version of an agent's program; `unknown` where it cannot be asked. Throws for a program that is something else: it would
 * be started with the words of one agent and understand others, or none.
 */
export async function requireProgram(program: Program, env: Environment): Promise<string> {
  const printed = await printedVersion(program, env);
  const other = agentNamedIn(printed ?? '', program.cli) ?? agentAt(program);
  if (other !== undefined) throw otherProgram(program, `it is the program of ${wordOf(other)}`);
  if (printed === undefined) return 'unknown';
  const version = looksOwn(printed, program.cli) ? versionIn(printed) : undefined;
  if (version === undefined) throw otherProgram(program, `asked for its version, it printed ${firstLine(printed)}`);
  return version;
}

const wordOf = (cli: AgentCliName) => cli.replace(/-cli$/, '');
const names = (text: string, cli: AgentCliName) => new RegExp(`\\b${wordOf(cli)}\\b`, 'i').test(text);

/** Another agent that says its name beside its version. */
function agentNamedIn(printed: string, own: AgentCliName): AgentCliName | undefined {
  return names(printed, own) ? undefined : othersThan(own).find((cli) => names(printed, cli));
}

/** Another agent whose file or package it is: some print nothing but a number. */
function agentAt({ path, foundAt, cli: own }: Program): AgentCliName | undefined {
  const isAt = (cli: AgentCliName) => {
    const { binary, installCommand } = agentClis[cli];
    const inPackage = path.replaceAll('\\', '/').includes(`/node_modules/${installCommand.split(' ').at(-1)}/`);
    return inPackage || [path, foundAt].some((file) => basename(file) === binary);
  };
  return isAt(own) ? undefined : othersThan(own).find(isAt);
}

const othersThan = (own: AgentCliName) => (Object.keys(agentClis) as AgentCliName[]).filter((cli) => cli !== own);

/** A version by itself, or behind the agent's own name. `Python 3.12.1` is none. */
const looksOwn = (printed: string, cli: AgentCliName) =>
  printed.split('\n').some((line) => {
    const version = versionIn(line);
    if (version === undefined) return false;
    const before = line.slice(0, line.indexOf(version)).trim();
    return before === '' || before === 'v' || names(before, cli);
  });

function firstLine(printed: string): string {
  const line = printed.trim().split('\n')[0]!;
  return line === '' ? 'nothing' : JSON.stringify(line.slice(0, 80));
}

function otherProgram({ cli, foundAt }: Program, came: string): SkillError {
  const { binary, installCommand } = agentClis[cli];
  return new SkillError('CONFIG_INVALID', `expected the program of ${wordOf(cli)} at ${foundAt}, but ${came}`, {
    hint: `Name the path of ${binary}, or none: it is then looked for on PATH. To install it: ${installCommand}`,
  });
}

import { type Command, Option } from 'commander';
import { flagShape, flagWords, type NightConsent, type NightLimits } from '../../app/index.ts';
import { SkillError } from '../../core/contracts/index.ts';
import { shellWord } from '../../core/text/index.ts';
import { resolvePath } from '../../project/index.ts';
import { consentMissing, consentQuestion, placeOfProcess, type SleepOptions } from '../../sleep/index.ts';
import { Answered } from '../errors.ts';
import { flagsFrom, jsonOption } from '../flags/flags.ts';
import type { OptionalFlags } from '../run-command.ts';
import { confirm } from '../terminal/ask.ts';
import type { Terminal } from '../terminal/terminal.ts';

const SHOWN = ['source', 'lookbackHours', 'maxSessionsPerNight', 'maxTasksPerNight'];
const placeholders = {
  source: 'names',
  targetSkillPath: 'path',
  target: 'model',
  optimizer: 'model',
  judge: 'model',
};
const aliases = { maxSessionsPerNight: '--max-sessions', maxTasksPerNight: '--max-tasks' };

export type SleepFlags = Readonly<Record<string, unknown>> & {
  readonly project?: string;
  readonly allProjects?: boolean;
  readonly since?: string;
  readonly config?: string;
};

/** Flags that say which sessions are meant, and one for each setting; `shown` of them are in the help. */
export function addSleepFlags(command: Command, shown: readonly string[] = []): Command {
  const project = new Option('--project <path>', 'sessions of this folder and below (default: the current folder)');
  command
    .addOption(project.conflicts('allProjects'))
    .option('--all-projects', 'sessions of every project')
    .option('--since <moment>', 'sessions that ended then or later: 2026-01-31 (UTC), or with a time and its zone')
    .option('--config <path>', 'project file with a section sleep:')
    .addOption(jsonOption());
  for (const option of flagsFrom(flagShape, { group: 'settings (over the project file):', placeholders, aliases })) {
    command.addOption([...SHOWN, ...shown].includes(option.attributeName()) ? option : option.hideHelp());
  }
  return command;
}

/** Where transcripts and the state are looked for. */
export const placeOf = ({ io }: Terminal) => placeOfProcess(io.env);

const HERE = 'Leave it out for the folder where you are.';

/** Until it is disposed, this process writes files for this user alone: they hold texts of sessions. */
export function privateFiles(): Disposable {
  const before = process.umask(0o077);
  return { [Symbol.dispose]: () => void process.umask(before) };
}

export function sleepOptions(flags: SleepFlags, terminal: Terminal): SleepOptions {
  const cwd = terminal.io.cwd();
  const { project = '.', config } = flags;
  if (project.trim() === '')
    throw new SkillError('USAGE', 'expected a folder behind --project, got nothing', { hint: HERE });
  return {
    project: resolvePath(cwd, project),
    configFile: config === undefined ? undefined : resolvePath(cwd, config),
    settings: settingsIn(flags),
    place: placeOf(terminal),
    notices: terminal,
  };
}

function settingsIn(flags: SleepFlags): Readonly<Record<string, unknown>> {
  const own = Object.fromEntries(Object.keys(flagShape).map((key) => [key, flags[key]]));
  const source = typeof flags.source === 'string' ? flags.source.split(',').map((name) => name.trim()) : undefined;
  return { ...own, ...modelBlocks(flags), source, projects: flags.allProjects ? 'all' : undefined };
}

/** A model may be given as JSON, with the options that a file would give it. */
function modelBlocks(flags: SleepFlags): Readonly<Record<string, unknown>> {
  const blocks = ['target', 'optimizer', 'judge'].filter((role) => String(flags[role]).startsWith('{'));
  const hint = 'Such as {"provider":"claude-cli","path":"/opt/claude"}, or a model in one word: openai:MODEL.';
  const read = (role: string) => {
    try {
      return JSON.parse(String(flags[role])) as unknown;
    } catch {
      throw new SkillError('USAGE', `expected JSON behind --${role}, got ${flags[role]}`, { hint });
    }
  };
  return Object.fromEntries(blocks.map((role) => [role, read(role)]));
}

const LIMITS = ['maxMinutes', 'maxCalls', 'maxCostUsd'] as const;
export type LimitFlags = OptionalFlags<never, never, (typeof LIMITS)[number]>;

export const limitsIn = (flags: LimitFlags): NightLimits =>
  Object.fromEntries(LIMITS.flatMap((name) => (flags[name] === undefined ? [] : [[name, flags[name]]])));

/** Providers that `--consent` names, with or without commas. A terminal asks about the others, once for each. */
export function consentFrom(
  flags: SleepFlags & { readonly consent?: readonly string[] },
  terminal: Terminal,
): NightConsent {
  const pages = retyped('run --plan --page all', flags);
  return {
    providers: (flags.consent ?? []).flatMap((names) => names.split(',')).map((name) => name.trim()),
    async ask(recipients) {
      if (!terminal.canAsk) throw consentMissing(recipients, pages);
      terminal.say(`See every text that may be sent: ${pages}`);
      for (const recipient of recipients) {
        if (await confirm(consentQuestion(recipient))) continue;
        terminal.say('Nothing was sent.');
        throw new Answered(1);
      }
    },
  };
}

/** A command of sleep that shows the same sessions, to be copied. */
export function retyped(command: string, flags: SleepFlags): string {
  const isLasting = (name: string) => ['project', 'allProjects', 'since', 'config'].includes(name) || name in flagShape;
  const lasting = Object.fromEntries(Object.entries(flags).filter(([name]) => isLasting(name)));
  return [`skillopt sleep ${command}`, ...flagWords(lasting).map(shellWord)].join(' ');
}

import { existsSync } from 'node:fs';
import { mkdir, rm, writeFile } from 'node:fs/promises';
import { basename, dirname, join, relative } from 'node:path';
import { Option } from 'commander';
import { SkillError } from '../../core/errors.ts';
import { shellWord } from '../../core/text/shell-word.ts';
import { CONFIG_NAMES } from '../../project/config-file.ts';
import { discover } from '../../project/discover/discover.ts';
import { type Found, isEmpty } from '../../project/discover/found.ts';
import { CONFIG_FORMATS, type ConfigFormat, configText } from '../../project/propose/config-text.ts';
import { propose } from '../../project/propose/propose.ts';
import { resolvePath } from '../../project/resolve-path.ts';
import { starterProject } from '../../project/starter-project.ts';
import { shownPath } from '../../stores/shown-path.ts';
import { type DefineCommand, examples } from '../define-command.ts';
import { choose } from '../init/choose.ts';
import { initLines } from '../init/init-lines.ts';
import { nextCommand } from '../init/next-command.ts';
import { nextForSkillOpt } from '../init/skillopt-file.ts';
import { starterLines } from '../init/starter-lines.ts';
import { placeOf } from '../sleep/open-sleep.ts';
import type { Terminal } from '../terminal/terminal.ts';

type Flags = {
  readonly format: ConfigFormat;
  readonly skill?: string;
  readonly tasks?: string;
  readonly yes?: boolean;
  readonly starter?: boolean;
  readonly force?: boolean;
};

export const define: DefineCommand = (command, terminal) => {
  command
    .argument('[dir]', 'folder for the project', '.')
    .option('--skill <path>', 'this skill of those that are there')
    .option('--tasks <path>', 'these tasks of those that are there')
    .option('--yes', 'ask nothing: take what is likeliest')
    .option('--starter', 'write the starter, whatever is there')
    .addOption(new Option('--format <format>', 'of the project file').choices(CONFIG_FORMATS).default('yaml'))
    .option('--force', 'overwrite files that exist')
    .option('--json', 'one JSON object on stdout')
    .addHelpText('after', EXAMPLES)
    .action((directory: string, flags: Flags) => init(directory, flags, terminal));
};

const EXAMPLES = examples([
  ['skillopt init', 'looks for a skill, tasks and models here, asks, and writes a project'],
  ['skillopt init --yes', 'the same without questions'],
  ['skillopt init --skill pdf --tasks questions.csv', 'says which of several'],
  ['skillopt init my-skill --format mjs', 'in a new folder: a starter that trains offline'],
]);

async function init(directory: string, flags: Flags, terminal: Terminal): Promise<void> {
  const path = resolvePath(terminal.io.cwd(), directory);
  const names = CONFIG_NAMES.filter((name) => existsSync(join(path, name)));
  if (!flags.force && names.length > 0) throw inTheWay(path, names);
  const { env, home } = placeOf(terminal);
  const found = flags.starter ? undefined : await discover({ directory: path, env, home });
  const meant = found && only(found, flags, terminal);
  if (meant === undefined || isEmpty(meant)) return writeStarter(path, flags, terminal);
  await writeProject(meant, flags, terminal);
}

async function writeStarter(path: string, { format, force = false }: Flags, terminal: Terminal): Promise<void> {
  const files = starterProject(format, basename(path));
  if (!force) refuseToOverwrite(path, Object.keys(files));
  await writeFiles(path, files);
  terminal.answer({ directory: path, files: Object.keys(files) }, starterLines(path, files, terminal));
}

/** What flags name, alone. Throws for what is not there. */
function only(found: Found, { skill, tasks }: Flags, { io }: Terminal): Found {
  const named = (path: string) => relative(found.directory, resolvePath(io.cwd(), path)).replace(/\/SKILL\.md$/i, '');
  const wanted = <Thing extends { path: string }>(things: readonly Thing[], path: string | undefined, flag: string) => {
    if (path === undefined) return things;
    const kept = things.filter(
      (thing) => thing.path === named(path) || (thing.path === 'SKILL.md' && named(path) === ''),
    );
    if (kept.length > 0) return kept;
    const hint = things.length === 0 ? 'There is none.' : `There is: ${things.map((thing) => thing.path).join(', ')}`;
    throw new SkillError('USAGE', `${flag} ${path} is none of what was found in ${found.directory}`, { hint });
  };
  const sources = tasks === undefined ? {} : { envs: [], skillOptConfigs: [] };
  return {
    ...found,
    ...sources,
    skills: wanted(found.skills, skill, '--skill'),
    tasks: wanted(found.tasks, tasks, '--tasks'),
  };
}

async function writeProject(found: Found, flags: Flags, terminal: Terminal): Promise<void> {
  const { directory } = found;
  const choice = await choose(found, terminal.canAsk && flags.yes !== true);
  const cwd = terminal.io.cwd();
  const goThere = directory === cwd ? '' : `cd ${shellWord(shownPath(directory, cwd))} && `;
  if (choice.source?.kind === 'skillopt') {
    const next = await nextForSkillOpt({ found, choice, goThere, env: terminal.io.env });
    return answer({ found, choice }, { written: [], next, cautions: [] }, terminal);
  }
  const proposal = propose(found, choice, basename(directory));
  const file = `skillopt.config.${flags.format}`;
  const files = {
    [file]: configText(proposal.entries, flags.format),
    ...(proposal.newSkill ? { 'SKILL.md': proposal.newSkill } : {}),
  };
  refuseToOverwrite(directory, flags.force ? othersOf(file) : Object.keys(files));
  await writeFiles(directory, files);
  const next = await nextCommand({ found, choice, proposal, file, goThere });
  answer({ found, choice, proposal }, { written: Object.keys(files), next, cautions: proposal.cautions }, terminal);
}

/** Even by force there are never two project files. */
const othersOf = (file: string) => CONFIG_NAMES.filter((name) => name !== file);

type Told = Parameters<typeof initLines>;

function answer(made: Told[0], told: Told[1] & { next: object }, terminal: Terminal): void {
  const { found, proposal } = made;
  const { written, cautions } = told;
  const there = (text: string) => terminal.called(text, found.directory);
  const next = { ...told.next, command: there(told.next.command), why: there(told.next.why) };
  const tasks = found.tasks.map(({ answers: _answers, ...rest }) => rest);
  terminal.answer(
    {
      directory: found.directory,
      files: written,
      found: { ...found, tasks },
      settings: proposal?.settings ?? null,
      missing: proposal?.missing ?? null,
      cautions,
      next,
    },
    initLines(made, { ...told, next }, terminal),
  );
}

/** A second project file would be as bad as a lost one: `train` would not know which to take. */
function refuseToOverwrite(path: string, names: readonly string[]): void {
  const there = names.filter((name) => existsSync(join(path, name)));
  if (there.length > 0) throw inTheWay(path, there);
}

function inTheWay(path: string, names: readonly string[]): SkillError {
  const hint = 'Choose another folder: skillopt init DIR. Or overwrite them: --force.';
  return new SkillError('USAGE', `${path} already has ${names.join(', ')}`, { hint });
}

async function writeFiles(path: string, files: Readonly<Record<string, string>>): Promise<void> {
  try {
    await makeFolder(path);
    for (const [name, text] of Object.entries(files)) await writeAnew(join(path, name), text);
  } catch (cause) {
    throw new SkillError('USAGE', `cannot write into ${path}: ${(cause as Error).message}`, {
      cause,
      hint: 'Choose a folder that you may write into: skillopt init DIR',
    });
  }
}

/** One after the other: told to make all at once, Node never ends where the system says that a parent is not there. */
async function makeFolder(path: string): Promise<void> {
  if (existsSync(path)) return;
  if (dirname(path) !== path) await makeFolder(dirname(path));
  await mkdir(path);
}

/** What was there goes first: through a link, the text would land outside of the folder. */
async function writeAnew(path: string, text: string): Promise<void> {
  await rm(path, { force: true });
  await writeFile(path, text, { flag: 'wx' });
}

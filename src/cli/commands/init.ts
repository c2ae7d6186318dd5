import { existsSync, lstatSync, statSync } from 'node:fs';
import { appendFile, readFile, realpath, rm, writeFile } from 'node:fs/promises';
import { basename, dirname, join, relative } from 'node:path';
import { Option } from 'commander';
import { checkProposal, chooseProject, nextCommand, nextForSkillOpt } from '../../app/index.ts';
import { SkillError } from '../../core/contracts/index.ts';
import { shellWord } from '../../core/text/index.ts';
import {
  CONFIG_FORMATS,
  CONFIG_NAMES,
  type ConfigFormat,
  cautionsFor,
  configText,
  discover,
  type FolderFindings,
  isEmpty,
  type LeftOut,
  leftOutCautions,
  propose,
  resolvePath,
  starterProject,
} from '../../project/index.ts';
import { skillFileAt } from '../../skills/index.ts';
import { makeFolder, shownPath } from '../../stores/index.ts';
import { jsonOption } from '../flags/flags.ts';
import { initLines, noteLines, starterLines } from '../init/init-lines.ts';
import { type DefineCommand, examples, type OptionalFlags } from '../run-command.ts';
import { placeOf } from '../sleep/sleep-flags.ts';
import { askForText, chooseOne } from '../terminal/ask.ts';
import type { Terminal } from '../terminal/terminal.ts';

type Flags = OptionalFlags<'skill' | 'tasks', 'yes' | 'starter' | 'force'> & { readonly format: ConfigFormat };

export const define: DefineCommand = (command, terminal) => {
  command
    .argument('[dir]', 'folder for the project', '.')
    .option('--skill <path>', 'which skill, if there are several')
    .option('--tasks <path>', 'which tasks, if there are several')
    .option('--yes', 'do not ask: take the most likely choice')
    .option('--starter', 'write the starter project, whatever is in the folder')
    .addOption(new Option('--format <format>', 'format of the project file').choices(CONFIG_FORMATS).default('yaml'))
    .option('--force', 'overwrite files that exist; continue with tasks from which no true number can be measured')
    .addOption(jsonOption())
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
  requireFolder(path);
  requireNoOther(path, flags);
  const found = flags.starter ? undefined : await lookInto(path, flags, terminal);
  if (!found || isEmpty(found)) return writeStarter(path, flags, found ? leftOutCautions(found) : [], terminal);
  await writeProject(found, flags, terminal);
}

async function lookInto(directory: string, flags: Flags, terminal: Terminal): Promise<FolderFindings> {
  const cwd = terminal.io.cwd();
  const skill = flags.skill && relative(directory, resolvePath(cwd, flags.skill)).replace(/(^|\/)SKILL\.md$/i, '');
  const found = await discover({ directory, skill, ...placeOf(terminal) });
  return onlyNamed(found, flags, cwd);
}

async function writeStarter(
  path: string,
  flags: Flags,
  cautions: readonly string[],
  terminal: Terminal,
): Promise<void> {
  const files = starterProject(flags.format, basename(path));
  if (!flags.force) refuseToOverwrite(path, Object.keys(files));
  const written = await writeFiles(path, files);
  const notes = cautions.flatMap((text) => noteLines(text, terminal));
  terminal.answer({ directory: path, files: written, cautions }, [...notes, ...starterLines(path, written, terminal)]);
}

async function writeProject(found: FolderFindings, flags: Flags, terminal: Terminal): Promise<void> {
  const { directory } = found;
  const asker = terminal.canAsk && !flags.yes ? { choose: chooseOne, write: askForText } : undefined;
  const choice = await chooseProject(found, asker);
  const cwd = terminal.io.cwd();
  const goThere = directory === cwd ? '' : `cd ${shellWord(shownPath(directory, cwd))} && `;
  if (choice.source?.kind === 'skillopt') {
    const next = await nextForSkillOpt({ found, choice, goThere, env: terminal.io.env });
    return answer({ found, choice }, { written: [], next, cautions: leftOutCautions(found) }, terminal);
  }
  const proposal = propose(choice, basename(directory));
  const checked = await checkProposal(directory, choice, proposal);
  if (checked.refusal && !flags.force) throw checked.refusal;
  const file = `skillopt.config.${flags.format}`;
  const files = {
    [file]: configText(proposal.entries, flags.format),
    ...(proposal.newSkill ? { 'SKILL.md': proposal.newSkill } : {}),
  };
  if (!flags.force) refuseToOverwrite(directory, Object.keys(files));
  const written = await writeFiles(directory, files);
  const next = await nextCommand({ found, choice, proposal, file, goThere });
  const told = { written, next, cautions: [...cautionsFor(choice, found), ...checked.warnings] };
  answer({ found, choice, proposal }, told, terminal);
}

type InitLines = Parameters<typeof initLines>;

function answer(made: InitLines[0], told: InitLines[1] & { next: object }, terminal: Terminal): void {
  const { found, proposal } = made;
  const there = (text: string) => terminal.called(text, found.directory);
  const [files, cautions] = [told.written, told.cautions.map(there)];
  const typed = (['command', 'why', 'afterwards'] as const).flatMap((key) => {
    const text = told.next[key];
    return text === undefined ? [] : [[key, there(text)] as const];
  });
  const next = { ...told.next, ...Object.fromEntries(typed) };
  const tasks = found.tasks.map(({ answers: _answers, ...rest }) => rest);
  const { settings = null, missing = null } = proposal ?? {};
  const value = { directory: found.directory, files, found: { ...found, tasks }, settings, missing, cautions, next };
  terminal.answer(value, initLines(made, { written: files, cautions, next }, terminal));
}

function refuseToOverwrite(path: string, names: readonly string[]): void {
  const there = names.filter((name) => existsSync(join(path, name)));
  if (there.length === 0) return;
  const hint = 'Choose another folder: skillopt init DIR. Or overwrite: --force.';
  throw new SkillError('USAGE', `${path} already has ${there.join(' and ')}`, { hint });
}

/** Answers with the names of what was written. */
async function writeFiles(path: string, files: Readonly<Record<string, string>>): Promise<string[]> {
  try {
    await makeFolder(path);
    for (const [name, text] of Object.entries(files)) await writeAnew(join(path, name), text);
    return [...Object.keys(files), ...(await ignoreRuns(path))];
  } catch (cause) {
    const hint = 'Choose a folder that you may write into: skillopt init DIR';
    throw new SkillError('USAGE', `cannot write into ${path}: ${(cause as Error).message}`, { cause, hint });
  }
}

/** What was there goes first: through a link, the text would land outside of the folder. */
async function writeAnew(path: string, text: string): Promise<void> {
  await rm(path, { force: true });
  await writeFile(path, text, { flag: 'wx' });
}

const IGNORED = '.gitignore';

/** Runs hold replies of models, which nobody wants to commit by accident. What is no plain file is left alone. */
async function ignoreRuns(path: string): Promise<string[]> {
  const file = join(path, IGNORED);
  const found = lstatSync(file, { throwIfNoEntry: false });
  if (found && !found.isFile()) return [];
  const text = found ? await readFile(file, 'utf8') : '';
  if (/^\/?runs\/?\s*$/m.test(text)) return [];
  await appendFile(file, `${text === '' || text.endsWith('\n') ? '' : '\n'}runs/\n`);
  return [IGNORED];
}

/** Keeps only what the flags name. Throws for what is not there, and for a skill that is no text. */
async function onlyNamed(found: FolderFindings, { skill, tasks }: Flags, cwd: string): Promise<FolderFindings> {
  const { directory } = found;
  const kept = skill === undefined ? found : await withSkill(found, skill, cwd);
  const [unread] = kept.brokenSkills;
  if (unread && kept.skills.length === 0) throw unreadable(unread, directory);
  if (tasks === undefined) return kept;
  const path = relative(directory, resolvePath(cwd, tasks));
  const chosen = found.tasks.filter((file) => file.path === path);
  if (chosen.length === 0) throw notFound(found, `--tasks ${tasks}`, found.tasks);
  return { ...kept, tasks: chosen, envs: [], skillOptConfigs: [] };
}

/** Compares real files: a skill that several links lead to was found once. */
async function withSkill(found: FolderFindings, typed: string, cwd: string): Promise<FolderFindings> {
  const wanted = await realSkill(resolvePath(cwd, typed));
  const pick = async <Thing extends { readonly path: string }>(things: readonly Thing[]) => {
    const files = await Promise.all(things.map(({ path }) => realSkill(join(found.directory, path))));
    return things.filter((_, index) => files[index] === wanted);
  };
  const [skills, brokenSkills] = [await pick(found.skills), await pick(found.brokenSkills)];
  if (skills.length + brokenSkills.length === 0) throw notFound(found, `--skill ${typed}`, found.skills);
  return { ...found, skills, brokenSkills };
}

async function realSkill(path: string): Promise<string> {
  const file = await skillFileAt(path);
  return realpath(file).catch(() => file);
}

function notFound({ directory }: FolderFindings, flag: string, things: readonly { readonly path: string }[]) {
  const hint = things.length === 0 ? 'There is none.' : `There is: ${things.map(({ path }) => path).join(', ')}`;
  return new SkillError('USAGE', `${flag} is none of what was found in ${directory}`, { hint });
}

function unreadable({ path, why }: LeftOut, directory: string): SkillError {
  const hint =
    'Save it as text in UTF-8, or name another skill: --skill PATH. Without a skill, a new one is written: remove the file.';
  return new SkillError('SKILL_NOT_FOUND', `${join(directory, path)} is no skill: ${why}`, { hint });
}

function requireFolder(path: string): void {
  const parent = dirname(path);
  if (!existsSync(path) && parent !== path) requireFolder(parent);
  if (!existsSync(path) || statSync(path).isDirectory()) return;
  const hint = 'Name a folder: skillopt init DIR. To use that file, name it: --skill FILE or --tasks FILE.';
  throw new SkillError('USAGE', `expected a folder for the project, got a file: ${path}`, { hint });
}

/** Throws where a project file is in the way. Even by force there are never two: `train` would not know which to take. */
function requireNoOther(path: string, { format, force = false }: Flags): void {
  const there = CONFIG_NAMES.filter((name) => existsSync(join(path, name)));
  const isReplaced = there.length === 1 && there[0] === `skillopt.config.${format}`;
  if (there.length === 0 || (force && isReplaced)) return;
  throw new SkillError('USAGE', `${path} already has ${there.join(' and ')}`, { hint: hintFor(there, isReplaced) });
}

function hintFor([first = '', ...more]: readonly string[], isReplaced: boolean): string {
  const format = first.replace('skillopt.config.', '');
  if (more.length > 0)
    return `A project has one of them: remove all but one. To overwrite that one: --force --format ${format}.`;
  const other = 'Choose another folder: skillopt init DIR.';
  if (isReplaced) return `${other} Or overwrite it: --force.`;
  return `${other} Or overwrite it: --force --format ${format}. Or remove it first.`;
}

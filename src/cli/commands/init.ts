import { existsSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { Option } from 'commander';
import { SkillError } from '../../core/errors.ts';
import { CONFIG_NAMES } from '../../project/config-file.ts';
import { resolvePath } from '../../project/resolve-path.ts';
import { STARTER_FORMATS, type StarterFormat, starterProject } from '../../project/starter-project.ts';
import { shownPath } from '../../stores/shown-path.ts';
import { type DefineCommand, examples } from '../define-command.ts';
import type { Terminal } from '../terminal/terminal.ts';

type Flags = { readonly format: StarterFormat; readonly force?: boolean };

export const define: DefineCommand = (command, terminal) => {
  command
    .argument('[dir]', 'folder for the project', '.')
    .addOption(new Option('--format <format>', 'of the project file').choices(STARTER_FORMATS).default('yaml'))
    .option('--force', 'overwrite files that exist')
    .option('--json', 'one JSON object on stdout')
    .addHelpText('after', EXAMPLES)
    .action((directory: string, flags: Flags) => init(directory, flags, terminal));
};

const EXAMPLES = examples([
  ['skillopt init', 'a project in this folder'],
  ['skillopt init my-skill --format mjs', 'in a new folder, configured in JavaScript'],
]);

async function init(directory: string, { format, force = false }: Flags, terminal: Terminal): Promise<void> {
  const path = resolvePath(terminal.io.cwd(), directory);
  const files = starterProject(format, basename(path));
  if (!force) refuseToOverwrite(path, Object.keys(files));
  await writeFiles(path, files);
  terminal.answer({ directory: path, files: Object.keys(files) }, nextSteps(path, files, terminal));
}

/** A second project file would be as bad as a lost one: `train` would not know which to take. */
function refuseToOverwrite(path: string, names: readonly string[]): void {
  const inTheWay = [...new Set([...names, ...CONFIG_NAMES])].filter((name) => existsSync(join(path, name)));
  if (inTheWay.length === 0) return;
  const hint = 'Choose another folder: skillopt init DIR. Or overwrite them: --force.';
  throw new SkillError('USAGE', `${path} already has ${inTheWay.join(', ')}`, { hint });
}

async function writeFiles(path: string, files: Readonly<Record<string, string>>): Promise<void> {
  try {
    await mkdir(path, { recursive: true });
    for (const [name, text] of Object.entries(files)) await writeFile(join(path, name), text);
  } catch (cause) {
    throw new SkillError('USAGE', `cannot write into ${path}: ${(cause as Error).message}`, {
      cause,
      hint: 'Choose a folder that you may write into: skillopt init DIR',
    });
  }
}

function nextSteps(
  path: string,
  files: Readonly<Record<string, string>>,
  { io, colors: { bold, dim } }: Terminal,
): string[] {
  const cwd = io.cwd();
  const isHere = path === cwd;
  const what = [' how it is trained', ' what is learned from', ' where training starts'];
  const names = Object.keys(files).map((name, index) => `  ${name.padEnd(22)}${dim(what[index]!)}`);
  return [
    `wrote a project into ${isHere ? 'this folder' : shownPath(path, cwd)}`,
    ...names,
    '',
    'next:',
    ...(isHere ? [] : [`  ${bold(`cd ${shownPath(path, cwd)}`)}`]),
    `  ${bold('npx skillopt train')}         ${dim('offline, with simulated models, in a few seconds')}`,
    `  ${bold('npx skillopt diff starter')}  ${dim('what was learned')}`,
    `then put your tasks into tasks.jsonl and name real models as ${Object.keys(files)[0]} says`,
  ];
}

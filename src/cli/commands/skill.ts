import { oneLine, plural } from '../../core/text/index.ts';
import { resolvePath } from '../../project/index.ts';
import { type Finding, findSkillFiles, type LintedSkill, lintFolder } from '../../skills/index.ts';
import { shownPath } from '../../stores/index.ts';
import { Answered } from '../errors.ts';
import { jsonOption } from '../flags/flags.ts';
import { type DefineCommand, examples } from '../run-command.ts';
import type { Terminal } from '../terminal/terminal.ts';

export const define: DefineCommand = (command, terminal) => {
  const lint = command
    .command('lint [path...]')
    .description('check skills against the Agent Skills specification (default: this folder)')
    .addOption(jsonOption())
    .action((paths: string[]) => lintAll(paths.length > 0 ? paths : ['.'], terminal));
  for (const part of [command, lint]) part.addHelpText('after', EXAMPLES);
};

const EXAMPLES = examples([
  ['skillopt skill lint', 'the SKILL.md in this folder, or in the folders in it'],
  ['skillopt skill lint skills/pdf', 'one skill, its folder name and the files it links to'],
  ['skillopt skill lint skills --json', 'a folder of skills, for a script; exit code 1 with errors'],
]);

async function lintAll(paths: readonly string[], terminal: Terminal): Promise<void> {
  const cwd = terminal.io.cwd();
  const found = await Promise.all(paths.map((path) => findSkillFiles(resolvePath(cwd, path))));
  const skills = await Promise.all([...new Set(found.flat())].map(lintFolder));
  const findings = skills.flatMap((skill) => skill.findings);
  const count = (level: Finding['level']) => findings.filter((finding) => finding.level === level).length;
  const [errors, warnings] = [count('error'), count('warning')];
  const summary = `${plural(skills.length, 'skill')}: ${plural(errors, 'error')}, ${plural(warnings, 'warning')}`;
  const shown = skills.map(({ file, ...rest }) => ({ path: shownPath(file, cwd), ...rest }));
  const lines = skills.flatMap((skill) => findingLines(skill, terminal));
  terminal.answer({ isOk: errors === 0, errors, warnings, skills: shown }, [...lines, summary]);
  if (errors > 0) throw new Answered(1);
}

function findingLines({ file, findings }: LintedSkill, { io, colors }: Terminal): string[] {
  const path = oneLine(shownPath(file, io.cwd()));
  const paint = { error: colors.red, warning: colors.yellow };
  return findings.map(({ line, level, message }) => `${path}:${line}  ${paint[level](level)}  ${oneLine(message)}`);
}

import { checkTaskFile, measureTasks, writeWithoutRepeated } from '../../app/index.ts';
import { SkillError } from '../../core/contracts/index.ts';
import { oneLine, plural } from '../../core/text/index.ts';
import { agentTargetOf, type LoadedProject, resolvePath } from '../../project/index.ts';
import { wrap } from '../../report/index.ts';
import { shownPath } from '../../stores/index.ts';
import type { Finding, LoadedCheck } from '../../tasks/index.ts';
import { Answered } from '../errors.ts';
import { projectOf, tasksPath } from '../flags/project-flags.ts';
import { withProgress } from '../progress/progress.ts';
import type { Terminal } from '../terminal/terminal.ts';

export type CheckFlags = {
  readonly config?: string;
  readonly measure?: boolean;
  readonly passes: number;
  readonly fix?: boolean;
  readonly out?: string;
  readonly quiet?: boolean;
};

/** Says what is wrong with tasks. Asks nobody, unless they are to be measured. */
export async function check(file: string | undefined, flags: CheckFlags, terminal: Terminal): Promise<void> {
  const cwd = terminal.io.cwd();
  const loaded = await projectOf({ config: flags.config }, terminal);
  const path = tasksPath(file, loaded, terminal);
  const { read, findings: found } = await checkTaskFile(path, loaded);
  const measured = flags.measure ? await measure(file, loaded, flags, terminal) : [];
  const findings = [...found, ...measured];
  const fixed = flags.fix ? await fix(read, path, flags, cwd) : undefined;
  const isSenseless = findings.some(({ level }) => level === 'senseless');
  const shown = shownPath(path, cwd);
  const answer = { file: shown, tasks: read.tasks.length, isOk: !isSenseless, findings, ...(fixed ? { fixed } : {}) };
  const end = fixed ? [`${plural(fixed.tasks, 'task')} written to ${fixed.file}, ${fixed.removed} left out`] : [];
  terminal.answer(answer, [...findingLines(shown, read.tasks.length, findings, terminal), ...end]);
  if (isSenseless) throw new Answered(1);
}

async function measure(
  file: string | undefined,
  loaded: LoadedProject | undefined,
  { passes, quiet: isQuiet }: CheckFlags,
  terminal: Terminal,
): Promise<Finding[]> {
  if (loaded === undefined || file !== undefined) {
    const hint = 'Run it in the folder of a project, without a file: it measures the tasks that the project names.';
    throw new SkillError('USAGE', '--measure asks the target of a project about its own tasks', { hint });
  }
  const caller = { env: terminal.io.env, notices: terminal };
  const hasAgent = agentTargetOf(loaded.project) !== undefined;
  return withProgress(terminal, { isQuiet, hasAgent }, (watching) =>
    measureTasks(loaded, passes, { caller, ...watching }),
  );
}

async function fix(read: LoadedCheck, path: string, { out }: CheckFlags, cwd: string) {
  const hint = 'Name a new one: --fix --out clean.jsonl';
  if (out === undefined) throw new SkillError('USAGE', '--fix needs a file to write to', { hint });
  const target = resolvePath(cwd, out);
  return { file: shownPath(target, cwd), ...(await writeWithoutRepeated(read, path, target)) };
}

const MOST_NAMED = 5;

function findingLines(
  shown: string,
  count: number,
  findings: readonly Finding[],
  { colors, width, called }: Terminal,
): string[] {
  const paint = { senseless: colors.red, warning: colors.yellow, note: colors.dim };
  const lines = findings.flatMap(({ level, code, what, tasks, todo }) => {
    const rest = tasks.length - MOST_NAMED;
    const named = Array.from(tasks.slice(0, MOST_NAMED), (task) => oneLine(task)).join(', ');
    return [
      ...wrap(`${paint[level](code)}  ${what}`, width, '  '),
      ...(named === '' ? [] : wrap(`  ${named}${rest > 0 ? ` and ${rest} more` : ''}`, width, '    ')),
      ...wrap(`  → ${called(todo)}`, width, '    '),
    ];
  });
  const senseless = findings.filter(({ level }) => level === 'senseless').length;
  const good = findings.length === 0 ? 'nothing is wrong with them' : 'fit to train on';
  const verdict = senseless > 0 ? 'training on them makes no sense yet' : good;
  return [...lines, ...(lines.length > 0 ? [''] : []), `${plural(count, 'task')} in ${shown}: ${verdict}`];
}

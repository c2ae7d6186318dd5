import { existsSync, statSync } from 'node:fs';
import { inlineFiles, readSkill, wireRun } from '../../app/index.ts';
import { parseConfig, SkillError } from '../../core/contracts/index.ts';
import { toObservations } from '../../core/run/index.ts';
import { addObservations, calibrate, noEvidence } from '../../core/stats/index.ts';
import { oneLine, plural } from '../../core/text/index.ts';
import { type LoadedProject, resolvePath } from '../../project/index.ts';
import { wrap } from '../../report/index.ts';
import { readSkillFiles } from '../../skills/index.ts';
import { shownPath } from '../../stores/index.ts';
import {
  checkMeasured,
  checkTasks,
  type Finding,
  type LoadedCheck,
  lineOf,
  loadForCheck,
  withoutRepeated,
  writeTaskLines,
} from '../../tasks/index.ts';
import { Answered } from '../answered.ts';
import { measureShown } from '../commands/calibrate.ts';
import type { Terminal } from '../terminal/terminal.ts';
import { projectOf, tasksPath } from './project-of.ts';

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
  const loaded = await projectOf({ config: flags.config }, terminal);
  const path = tasksPath(file, loaded, terminal);
  const { env, columns, scoring, splitRatio, splitSeed } = loaded?.project ?? {};
  const read = await loadForCheck(shownPath(path), { env, columns, scoring, splitRatio, splitSeed });
  const skill = await skillTextOf(loaded);
  const measured = flags.measure ? await measure(file, loaded, flags, terminal) : [];
  const findings = [...checkTasks({ ...read, skill }), ...measured];
  const fixed = flags.fix ? await fix(read, path, flags, terminal) : undefined;
  const isSenseless = findings.some(({ level }) => level === 'senseless');
  const shown = shownPath(path, terminal.io.cwd());
  const answer = { file: shown, tasks: read.tasks.length, isOk: !isSenseless, findings, ...(fixed ? { fixed } : {}) };
  const end = fixed ? [`${plural(fixed.tasks, 'task')} written to ${fixed.file}, ${fixed.removed} left out`] : [];
  terminal.answer(answer, [...findingLines(shown, read.tasks.length, findings, terminal), ...end]);
  if (isSenseless) throw new Answered(1);
}

async function skillTextOf(loaded: LoadedProject | undefined): Promise<string> {
  if (loaded?.project.skill === undefined) return '';
  const document = await readSkill(loaded.project.skill);
  const { files } = await readSkillFiles(document);
  return document.text + inlineFiles(files);
}

async function measure(
  file: string | undefined,
  loaded: LoadedProject | undefined,
  { passes, quiet = false }: CheckFlags,
  terminal: Terminal,
): Promise<Finding[]> {
  if (loaded === undefined || file !== undefined) {
    const hint = 'Run it in the folder of a project, without a file: it measures the tasks that the project names.';
    throw new SkillError('USAGE', '--measure asks the target of a project about its own tasks', { hint });
  }
  const wiring = await wireRun(loaded);
  const settings = parseConfig(wiring.config);
  const skill = wiring.initialSkill ?? (await wiring.env.getInitialSkill?.()) ?? '';
  const subject = { loaded, wiring, name: 'initial skill', skill, split: settings.selectionSplit, passes };
  const { measured } = await measureShown(subject, quiet, terminal);
  const evidence = addObservations(
    noEvidence,
    measured.flatMap(({ evaluation }) => toObservations(evaluation.scores, settings)),
  );
  return checkMeasured(evidence, calibrate(evidence, { confidence: settings.confidence }));
}

type Fixed = { readonly file: string; readonly tasks: number; readonly removed: number };

/** Into a file that is not there yet: nothing of a person's is overwritten. */
async function fix({ tasks, rowOf }: LoadedCheck, path: string, { out }: CheckFlags, { io }: Terminal): Promise<Fixed> {
  if (statSync(path).isDirectory()) {
    const hint = 'Remove the folders of tasks that are not to stay yourself.';
    throw new SkillError('USAGE', '--fix writes a file of tasks, and these tasks are folders', { hint });
  }
  const target = out === undefined ? undefined : resolvePath(io.cwd(), out);
  if (target === undefined || target === path || existsSync(target)) {
    const what =
      out === undefined ? '--fix needs a file to write to' : `${out} is there already, and --fix overwrites nothing`;
    throw new SkillError('USAGE', what, { hint: 'Name a new one: --fix --out clean.jsonl' });
  }
  const stay = withoutRepeated(tasks);
  const kept = tasks.filter(({ id }) => stay.has(id));
  await writeTaskLines(
    target,
    kept.map(({ id }) => lineOf(rowOf(id))),
  );
  return { file: shownPath(target, io.cwd()), tasks: kept.length, removed: tasks.length - kept.length };
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
    const named = tasks
      .slice(0, MOST_NAMED)
      .map((task) => oneLine(task))
      .join(', ');
    return [
      ...wrap(`${paint[level](code)}  ${what}`, width, '  '),
      ...(named === '' ? [] : wrap(`  ${named}${rest > 0 ? ` and ${rest} more` : ''}`, width, '    ')),
      ...wrap(`  → ${called(todo)}`, width, '    '),
    ];
  });
  const senseless = findings.filter(({ level }) => level === 'senseless').length;
  const verdict =
    senseless > 0
      ? 'training on them makes no sense yet'
      : findings.length === 0
        ? 'nothing is wrong with them'
        : 'fit to train on';
  return [...lines, ...(lines.length > 0 ? [''] : []), `${plural(count, 'task')} in ${shown}: ${verdict}`];
}

/*
 * Applying a run, in order. Without a name the only run in `--root` is meant (several: USAGE, none: RUN_NOT_FOUND). A name is
 * looked for in `--root` first, then as a path from here; the first that holds a journal counts.
 * The run's state is read. A run that is at work is refused (RUN_LOCKED). One that has failed or was stopped is not: the best skill
 * so far is offered, with the verdict `stopped` or `broken`: not proven.
 * Another process that applies or undoes is noticed at once (`recover`), and again when writing: RUN_LOCKED. `recover` takes back what
 * a crash cut off. `planApply` reads the live files. A link is followed. Before anybody is asked, DOCUMENT_REFUSED ends it for
 * a file that has several names, may not be written or is no regular file (`refused`), or is gone or edited (`requireApplicable`).
 * Then the person is asked, and `replaceFiles` checks all of it again.
 */
import { join } from 'node:path';
import {
  type ApplyPlan,
  applyRun,
  documentPath,
  findRun,
  gitState,
  isNight,
  type LoadedRun,
  onlyRun,
  openAppliedFolder,
  scriptsIn,
  type Undone,
  undoApply,
} from '../../app/index.ts';
import { SkillError } from '../../core/contracts/index.ts';
import { type RunState, verdictOf } from '../../core/run/index.ts';
import { oneLine, plural, shellWord } from '../../core/text/index.ts';
import { resolvePath } from '../../project/index.ts';
import {
  patchOfPlan,
  previewLines,
  type RunVerdict,
  verdictWords,
  writtenFiles,
  writtenLines,
} from '../../report/index.ts';
import { recoverReplacements } from '../../skills/index.ts';
import { shownPath } from '../../stores/index.ts';
import { Answered } from '../errors.ts';
import { jsonOption, rootOption } from '../flags/flags.ts';
import { nameProject } from '../named-project.ts';
import { runPlace } from '../night-runs.ts';
import { projectFileOf } from '../report-run.ts';
import { type DefineCommand, examples, type OptionalFlags } from '../run-command.ts';
import { confirm } from '../terminal/ask.ts';
import type { Terminal } from '../terminal/terminal.ts';

type Flags = OptionalFlags<'to', 'yes' | 'scripts' | 'undo'> & { readonly root: string };

export const define: DefineCommand = (command, terminal) => {
  command
    .argument('[run]', 'name of a run, or its path (default: the only one)')
    .option('--to <path>', 'another document, or its folder (default: what the run began from)')
    .option('--yes', 'write without asking, even if the gain is not proven')
    .option('--scripts', 'with --yes: also write scripts that agents will run')
    .option('--undo', 'put back what was there before, byte for byte')
    .addOption(rootOption())
    .addOption(jsonOption())
    .addHelpText('after', EXAMPLES)
    .action(async (name: string | undefined, flags: Flags) => {
      await apply(name ?? (await onlyRun({ cwd: terminal.io.cwd(), root: flags.root })), flags, terminal);
    });
};

const EXAMPLES = examples([
  ['skillopt apply starter', 'shows the change and how sure it is, asks, and writes'],
  ['skillopt apply starter --to ~/.claude/skills/pdf', 'into another folder that holds the same skill, or none'],
  ['skillopt apply starter --yes --json', 'for a script, also when it is not proven'],
  ['skillopt apply starter --undo', 'the document as it was before'],
]);

type Applying = {
  readonly run: LoadedRun;
  /** The command that was typed, to be continued. */
  readonly command: string;
  readonly to: string | undefined;
  readonly journalFolder: string;
};

async function apply(name: string, flags: Flags, terminal: Terminal): Promise<void> {
  refuseNight(name);
  const run = await findRun(...runPlace(name, flags.root, terminal));
  if (flags.to === '')
    throw new SkillError('USAGE', '--to needs a path, got nothing', { hint: 'Is a variable empty?' });
  const to = flags.to === undefined ? undefined : resolvePath(terminal.io.cwd(), flags.to);
  const journalFolder = await openAppliedFolder({ env: terminal.io.env });
  const root = flags.root === 'runs' ? '' : ` --root ${shellWord(flags.root)}`;
  const command = `${terminal.called('skillopt apply')} ${shellWord(name)}${root}`;
  const applying = { run, to, journalFolder, command };
  await recover(journalFolder, terminal);
  await (flags.undo ? undoLast(applying, terminal) : write(applying, flags, terminal));
}

function refuseNight(name: string): void {
  if (!isNight(name)) return;
  const hint = `Adopt it: skillopt sleep adopt --night ${/\d+/.exec(name)?.[0] ?? 'N'}`;
  throw new SkillError('USAGE', `${name} is a night of sleep, and a run of training was expected`, { hint });
}

/** What a crash cut off is taken back first. */
async function recover(journalFolder: string, terminal: Terminal): Promise<void> {
  const { restored, left } = await recoverReplacements(journalFolder);
  for (const path of restored) terminal.note(`a change that was cut off was taken back: ${path}`);
  for (const { path, why, backup } of left) {
    const before = backup ? `; what it was before: ${backup}` : '';
    terminal.warn(`a change of ${path} was cut off and is left as it is: ${why}${before}`);
  }
}

async function write(applying: Applying, { yes = false, scripts = false }: Flags, terminal: Terminal): Promise<void> {
  const { run, command, journalFolder, to } = applying;
  const verdict = verdictIn(run.state);
  let [patch, uncommitted]: [string, number | null] = ['', null];
  const agrees = async (plan: ApplyPlan) => {
    patch = patchOfPlan(plan);
    uncommitted = (await gitState(plan.document.realPath))?.changes ?? null;
    const style = { ...terminal, width: terminal.lineWidth };
    if (!terminal.isJson) terminal.answer({}, previewLines(plan, { patch, verdict, uncommitted }, style));
    if (!yes) await requireConsent(plan, verdict, command, terminal);
    if (!scripts) await requireScriptConsent(plan, !yes && terminal.canAsk, command, terminal);
    return true;
  };
  const applied = await applyRun(run, journalFolder, { to, agrees }).catch(offerOther(command));
  const { isApplied, backup } = applied;
  const plan = requireApplicable(applied.plan, applying, terminal);
  if (!isApplied) return answerIdle(plan, verdict, terminal);
  const { path, realPath } = plan.document;
  const undo = `${command} --undo`;
  const files = writtenFiles(plan);
  terminal.answer(
    { run: run.name, isApplied, path, realPath, ...verdict, patch, backup, uncommitted, undo, ...files },
    writtenLines(plan, { backup, undo }, terminal),
  );
}

const offerOther =
  (command: string) =>
  (error: unknown): never => {
    if (!(error instanceof SkillError && error.code === 'DOCUMENT_REFUSED')) throw error;
    const hint = `${error.hint ?? ''} Or write the skill somewhere else: ${command} --to PATH`.trim();
    throw new SkillError(error.code, error.message, { cause: error, hint });
  };

function verdictIn(state: RunState): RunVerdict {
  const verdict = verdictOf(state);
  const { head, sentence } = verdictWords(verdict, state, { added: 0, removed: 0 });
  return { isProven: verdict.kind === 'better', text: `${head}: ${sentence}` };
}

function requireApplicable(plan: ApplyPlan | undefined, { run, command }: Applying, { io }: Terminal): ApplyPlan {
  const other = `${command} --to PATH`;
  if (plan === undefined) {
    const hint = `Say where the skill belongs, as a file or a folder: ${other}`;
    throw new SkillError('USAGE', `${run.name} did not begin from a file that it knows of`, { hint });
  }
  const { path } = plan.document;
  if (plan.standing === 'missing') {
    const hint = `Restore it, or write the skill somewhere else: ${other}`;
    throw new SkillError('DOCUMENT_REFUSED', `${path} is not there any more`, { hint });
  }
  const train = nameProject('skillopt train --fresh', projectFileOf(run, io.cwd()));
  if (plan.standing === 'changed') throw changedSince(plan, shownPath(run.path, io.cwd()), { train, other });
  return plan;
}

type Ways = Readonly<Record<'train' | 'other', string>>;

function changedSince({ document: { path }, before, edited = path }: ApplyPlan, runPath: string, ways: Ways) {
  const diff = before.includes('\r\n') ? 'diff -u --strip-trailing-cr' : 'diff -u'; // a run keeps line feeds
  const shown = `${diff} ${shellWord(join(runPath, 'skills', 'skill_v0000.md'))} ${shellWord(path)}`;
  const hint = [
    'Nothing was written, so no edit is lost.',
    ...(edited === path ? [`What changed: ${shown}.`] : []),
    `Then undo that edit, train from it (${ways.train}), or write the trained one elsewhere: ${ways.other}`,
  ].join(' ');
  return new SkillError('DOCUMENT_REFUSED', `${edited} is not the text that the run began from`, { hint });
}

const IDLE = {
  same: 'holds the trained text already; nothing was written',
  unchanged: 'is what it was: training has found nothing better, so nothing was written',
};

function answerIdle({ standing, document }: ApplyPlan, verdict: RunVerdict, terminal: Terminal): void {
  const { path, realPath } = document;
  const line = `${oneLine(path)} ${IDLE[standing as keyof typeof IDLE]}`;
  terminal.answer({ isApplied: false, reason: standing, path, realPath, ...verdict }, [line]);
}

async function requireYes(question: string, terminal: Terminal): Promise<void> {
  if (await confirm(question)) return;
  terminal.say('Nothing was written.');
  throw new Answered(1);
}

/** A person sees the change first. Where nobody can be asked, a proven one is what was asked for. */
async function requireConsent({ document }: ApplyPlan, verdict: RunVerdict, command: string, terminal: Terminal) {
  const doubt = verdict.isProven ? '' : ' It is not proven.';
  if (terminal.canAsk) return requireYes(`Write this into ${oneLine(document.path)}?${doubt}`, terminal);
  if (!verdict.isProven)
    throw new SkillError('USAGE', verdict.text, { hint: `To write it all the same: ${command} --yes` });
}

/** Scripts need consent of their own: agreeing to a text is not agreeing to code that agents run. */
async function requireScriptConsent(plan: ApplyPlan, canAsk: boolean, command: string, terminal: Terminal) {
  const scripts = scriptsIn(plan.others).map(({ name }) => oneLine(name));
  if (scripts.length === 0) return;
  if (canAsk) return requireYes(`Agents will run ${scripts.join(', ')}. Write them as shown?`, terminal);
  const hint = `Read their change above, and if agents may run them: ${command} --yes --scripts`;
  const message = `nothing was written: ${scripts.join(', ')} would change, and agents run scripts`;
  throw new SkillError('USAGE', message, { hint });
}

const UNDONE: Readonly<Record<Undone['how'], string>> = {
  restored: 'is byte for byte what it was before',
  removed: 'is gone: apply had made it',
  already: 'is back already; nothing was written',
};

function madeElsewhere(document: string, { run, command }: Applying): SkillError {
  const message = `${run.path} is a copy of the run that was applied to ${document}, or was moved`;
  const hint = `If that is the one: ${command} --undo --to ${shellWord(document)}`;
  return new SkillError('USAGE', message, { hint });
}

async function undoLast(applying: Applying, terminal: Terminal): Promise<void> {
  const { run, to, journalFolder, command } = applying;
  const meant = to === undefined ? undefined : await documentPath(run, to);
  const undone = await undoApply(run, { journalFolder, meant });
  if (undone && 'madeElsewhere' in undone) throw madeElsewhere(undone.madeElsewhere, applying);
  if (undone === undefined) {
    const hint = `There is nothing to undo. To apply it: ${command}`;
    throw new SkillError('USAGE', `${run.name} is not applied${meant ? ` to ${meant}` : ''}`, { hint });
  }
  const { files, ...one } = undone;
  const together = files > 1 ? { files } : {};
  terminal.answer({ run: run.name, isUndone: undone.how !== 'already', ...one, ...together }, [
    `${terminal.colors.bold('undone')} ${oneLine(undone.realPath)} ${UNDONE[undone.how]}`,
    ...(files > 1 ? [`  with ${plural(files - 1, 'other file')} of its package`] : []),
  ]);
}

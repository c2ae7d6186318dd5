import { InvalidArgumentError } from 'commander';
import {
  type Measured,
  type MeasuredSubject,
  measurePasses,
  readSkill,
  wireRun,
  withDocument,
} from '../../app/index.ts';
import { parseConfig } from '../../core/contracts/index.ts';
import { toObservations } from '../../core/run/index.ts';
import { addObservations, type Calibration, calibrate, noEvidence } from '../../core/stats/index.ts';
import { oneLine, percent, plural } from '../../core/text/index.ts';
import { judgementsOf } from '../../judges/index.ts';
import { agentTargetOf, loadProject, resolvePath } from '../../project/index.ts';
import { judgeFigures, judgeLines, testLookLines } from '../../report/index.ts';
import { type DefineCommand, examples } from '../define-command.ts';
import { setOption } from '../flags/flags.ts';
import { evalFlags, typedSettings } from '../flags/project-flags.ts';
import { interruptible } from '../interrupt.ts';
import { openProgress } from '../progress/progress.ts';
import type { Terminal } from '../terminal/terminal.ts';

type Flags = Readonly<Record<string, unknown>> & {
  readonly skill?: string;
  readonly split?: string;
  readonly passes: number;
  readonly config?: string;
  readonly set: readonly string[];
  readonly quiet?: boolean;
};

export const define: DefineCommand = (command, terminal) => {
  command
    .option('--skill <path>', 'document to measure (default: the one that training starts from)')
    .option('--split <name>', 'split to measure on (default: the one that the gate uses)')
    .option('--passes <n>', 'how often each task is attempted', readPasses, 2)
    .option('--config <path>', 'project file (default: skillopt.config.yaml, .json, .mjs or .ts in this folder)')
    .option('--quiet', 'no progress, only warnings and the result')
    .option('--json', 'one JSON object on stdout');
  for (const option of [setOption(), ...evalFlags()]) command.addOption(option);
  command.addHelpText('after', EXAMPLES).action((flags: Flags) => measureNoise(flags, terminal));
};

const EXAMPLES = examples([
  ['skillopt calibrate', 'the skill against itself: how much of a score is noise, and which gains can be proven'],
  ['skillopt calibrate --passes 4', 'more passes, a better estimate'],
  ['skillopt calibrate --set env.limit=20', "with a setting in SkillOpt's words"],
]);

/** One pass says nothing about noise. */
function readPasses(text: string): number {
  const passes = text.trim() === '' ? Number.NaN : Number(text);
  if (Number.isInteger(passes) && passes >= 2) return passes;
  throw new InvalidArgumentError('Expected a whole number, 2 or more.');
}

async function measureNoise(
  { skill, split, passes, config, set: overrides, quiet, ...flags }: Flags,
  terminal: Terminal,
) {
  const loaded = await loadProject({ ...typedSettings(flags), config, overrides, cwd: terminal.io.cwd() });
  loaded.warnings.forEach(terminal.warn);
  const given =
    skill === undefined ? undefined : await readSkill(resolvePath(terminal.io.cwd(), skill), loaded.project);
  const wiring = await wireRun(given ? withDocument(loaded, given.file) : loaded);
  [...wiring.warnings, ...(wiring.env.warnings ?? [])].forEach(terminal.warn);
  const document = given?.text ?? wiring.initialSkill;
  const settings = parseConfig(wiring.config);
  const text = document ?? (await wiring.env.getInitialSkill?.()) ?? '';
  const subject = { loaded, wiring, name: skill ?? 'initial skill', skill: text, passes };
  const measuredOn = { ...subject, split: split ?? settings.selectionSplit };
  const { measured, testLooks } = await measureShown(measuredOn, quiet ?? false, terminal);
  const observations = measured.flatMap(({ evaluation }) => toObservations(evaluation.scores, settings));
  const judge = judgeFigures(measured.flatMap(({ results }, pass) => judgementsOf(results, pass)));
  const result = calibrate(addObservations(noEvidence, observations), { confidence: settings.confidence });
  const lines = [...calibrationLines(result, passes, terminal), ...(judge ? judgeLines(judge, terminal) : [])];
  const answer = { passes, ...withNulls(result), ...(judge ? { judge } : {}), testLooks };
  terminal.answer(answer, [...lines, ...testLookLines(testLooks, terminal.colors)]);
}

/** JSON has no `undefined`: a key that is not there looks like another version's answer. */
const withNulls = ({ score, warning, needs, ...rest }: Calibration) => ({
  ...rest,
  score: score ?? null,
  needs: needs.map(({ repeats, ...need }) => ({ ...need, repeats: repeats ?? null })),
  warning: warning ?? null,
});

/** Shown as it goes, until somebody stops it. */
export async function measureShown(subject: MeasuredSubject, isQuiet: boolean, terminal: Terminal): Promise<Measured> {
  const { io, warn } = terminal;
  const progress = openProgress(terminal, { isQuiet });
  const caller = { env: io.env, notices: terminal };
  try {
    const hasAgent = agentTargetOf(subject.loaded.project) !== undefined;
    return await interruptible({ io, onStop: progress.log, hasAgent }, (signal) =>
      measurePasses(subject, { caller, observers: [progress], signal, onWarning: warn }),
    );
  } finally {
    progress.close();
  }
}

function calibrationLines(result: Calibration, passes: number, { colors }: Terminal): string[] {
  const { items, score, noiseFloor, smallestGain, flakiest, needs, warning } = result;
  const inPoints = (share: number) => `${(100 * share).toFixed(1)} points`;
  return [
    `${colors.bold(percent(score))} on ${plural(items, 'task')}, ${plural(passes, 'pass', 'passes')} of the same skill`,
    `noise of one pass: ±${inPoints(noiseFloor)} (standard deviation)`,
    `smallest gain that can be proven here: ${inPoints(smallestGain)} (80 % power)`,
    ...needs.map(
      ({ gain, items: needed, repeats }) =>
        `to prove ${inPoints(gain)}: ${plural(needed, 'task')}${repeats === undefined ? '' : `, or ${plural(repeats, 'pass', 'passes')} over these`}`,
    ),
    ...(flakiest.length > 0 ? ['', colors.dim('tasks that answer differently each time')] : []),
    ...flakiest.map(({ id, mean, rollouts }) => `  ${oneLine(id)}  ${percent(mean)} of ${rollouts}`),
    ...(warning === undefined ? [] : ['', `${colors.yellow('warning:')} ${warning}`]),
  ];
}

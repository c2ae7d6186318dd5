import { calibrateSkill } from '../../app/index.ts';
import type { Calibration } from '../../core/stats/index.ts';
import { agentTargetOf, resolvePath } from '../../project/index.ts';
import { calibrationLines, judgeLines, testLookLines } from '../../report/index.ts';
import { readPasses } from '../flags/flags.ts';
import { addEvalFlags, type ProjectFlags, typedProject } from '../flags/project-flags.ts';
import { withProgress } from '../progress/progress.ts';
import { type DefineCommand, examples } from '../run-command.ts';
import type { Terminal } from '../terminal/terminal.ts';

type Flags = ProjectFlags & { readonly skill?: string; readonly split?: string; readonly passes: number };

export const define: DefineCommand = (command, terminal) => {
  command
    .option('--skill <path>', 'document to measure (default: the one that training starts from)')
    .option('--split <name>', 'split to measure on (default: the one that the gate uses)')
    .option('--passes <n>', 'how often each task is attempted', readPasses, 2);
  addEvalFlags(command)
    .addHelpText('after', EXAMPLES)
    .action((flags: Flags) => measureNoise(flags, terminal));
};

const EXAMPLES = examples([
  ['skillopt calibrate', 'the skill against itself: how much of a score is noise, and which gains can be proven'],
  ['skillopt calibrate --passes 4', 'more passes, a better estimate'],
  ['skillopt calibrate --set env.limit=20', "with a setting in SkillOpt's words"],
]);

async function measureNoise(flags: Flags, terminal: Terminal): Promise<void> {
  const { skill, split, passes, quiet: isQuiet, ...rest } = flags;
  const cwd = terminal.io.cwd();
  const loaded = await typedProject(rest, terminal);
  const document = skill === undefined ? undefined : { path: resolvePath(cwd, skill), name: skill };
  const hasAgent = agentTargetOf(loaded.project) !== undefined;
  const caller = { env: terminal.io.env, notices: terminal };
  const { calibration, judge, testLooks } = await withProgress(terminal, { isQuiet, hasAgent }, (watching) =>
    calibrateSkill(loaded, { skill: document, split, passes }, { caller, ...watching }),
  );
  const lines = [...calibrationLines(calibration, passes, terminal), ...(judge ? judgeLines(judge, terminal) : [])];
  const answer = { passes, ...withNulls(calibration), ...(judge ? { judge } : {}), testLooks };
  terminal.answer(answer, [...lines, ...testLookLines(testLooks, terminal.colors)]);
}

/** JSON has no `undefined`: a key that is not there looks like another version's answer. */
const withNulls = ({ score, warning, needs, ...rest }: Calibration) => ({
  ...rest,
  score: score ?? null,
  needs: needs.map(({ repeats, ...need }) => ({ ...need, repeats: repeats ?? null })),
  warning: warning ?? null,
});

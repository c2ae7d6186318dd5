import { ModelCallError, SkillError } from '../../core/contracts/index.ts';
import { plural } from '../../core/text/index.ts';
import { resolveModel, resolvePath } from '../../project/index.ts';
import {
  canMine,
  chooseModels,
  type Harvest,
  type MineResult,
  openMiner,
  recipientsOf,
  requireReplaceable,
  tasksFileText,
  toTaskJson,
  writeTasksFile,
} from '../../sleep/index.ts';
import { interruptible } from '../interrupt.ts';
import type { Terminal } from '../terminal/terminal.ts';
import { requireConsent } from './ask-consent.ts';
import { gatherSessions, gatherTasks } from './gather/gather.ts';
import { miningProgress } from './gather/harvest-progress.ts';
import { gatheredLines, type HarvestFlags, outputLines } from './harvest-lines.ts';
import { type OpenSleep, openSleep, retyped } from './open-sleep.ts';

/** What the sessions of a scope would teach, as tasks. Asks a model only if it is told to, and advances nothing. */
export async function showHarvest(flags: HarvestFlags, terminal: Terminal): Promise<void> {
  const output = await outputOf(flags, terminal);
  using sleep = await openSleep(flags, terminal);
  const harvest = await gatherSessions(sleep, flags, terminal);
  const mined = flags.withModel
    ? await mineByModel(sleep, harvest, flags, terminal)
    : await gatherTasks(sleep, harvest);
  const lines = gatheredLines({ harvest, mined, flags, redact: sleep.redact }, terminal);
  const file = {
    project: sleep.redact(sleep.project),
    transcriptSource: sleep.sources.map(({ name }) => name).join(','),
    nSessions: harvest.sessions.length,
    targetSkillPath: sleep.redact(sleep.settings.targetSkillPath ?? ''),
    tasks: mined.tasks,
  };
  if (output === '-') {
    for (const line of lines) terminal.say(line);
    return void terminal.io.stdout.write(tasksFileText(file));
  }
  if (output !== undefined) await writeTasksFile(output, file);
  const { sessions, ...counts } = harvest.considered;
  terminal.answer(
    {
      sessionsFound: sessions,
      ...counts,
      sessions: harvest.sessions.length,
      tasks: mined.tasks.map(toTaskJson),
      groups: mined.groups,
      dropped: mined.dropped,
      trouble: harvest.trouble,
      ...(output === undefined ? {} : { output }),
    },
    [...lines, ...outputLines(output, flags, terminal)],
  );
}

/** Known to be writable before anything is paid for. */
async function outputOf({ output, force }: HarvestFlags, terminal: Terminal): Promise<string | undefined> {
  if (output === '-' && terminal.isJson) throw twoAnswers();
  if (output === undefined || output === '-') return output;
  const path = resolvePath(terminal.io.cwd(), output);
  await requireReplaceable(path, { isForced: force });
  return path;
}

const twoAnswers = () =>
  new SkillError('USAGE', 'expected one answer on stdout, got --output - and --json', {
    hint: 'Leave one of them out: --json has the tasks too.',
  });

/** The optimizer reads the pages of the plan, after a person agreed to that, and finds the tasks in them. */
async function mineByModel(sleep: OpenSleep, harvest: Harvest, flags: HarvestFlags, terminal: Terminal) {
  const { settings, place, folder, project } = sleep;
  if (!settings.llmMine) throw minedByRule();
  if (harvest.sessions.length === 0) return gatherTasks(sleep, harvest);
  const { optimizer } = await chooseModels(settings, sleep);
  if (!canMine(optimizer)) throw cannotMine();
  const caller = { env: terminal.io.env, directory: project, notices: terminal };
  const model = await resolveModel(optimizer, { role: 'optimizer', ...caller }); // Before anybody is asked.
  const recipients = recipientsOf({ optimizer }, place.env);
  const pages = retyped('run --plan --page all', flags);
  await requireConsent({ folder, recipients, given: providersIn(flags.consent), pages }, terminal);
  const progress = miningProgress(terminal);
  const mined = await interruptible({ io: terminal.io, onStop: terminal.say }, async (signal) => {
    using open = await openMiner({ model, settings, folder, signal, redact: sleep.redact });
    return await gatherTasks(sleep, harvest, { miner: open.miner, signal, onProgress: progress.show }); // Before the cache is closed.
  }).finally(progress.clear);
  return requireReadable(mined, harvest.sessions.length);
}

/** A model that never answers in the form that was asked for has found nothing, and not «no tasks». */
function requireReadable(mined: MineResult, sessions: number): MineResult {
  const unreadable = mined.dropped.find(({ reason }) => reason === 'unreadable-reply')?.count ?? 0;
  if (unreadable < sessions) return mined;
  const message = `expected tasks as JSON from the miner, got no reply that could be read about any of ${plural(sessions, 'session')}`;
  throw new ModelCallError(message, {
    hint: 'Name another model with --optimizer, or leave --with-model out: rules find tasks too.',
  });
}

const cannotMine = () =>
  new SkillError(
    'USAGE',
    'expected a model that finds tasks, got the simulated optimizer, which knows only its own world',
    {
      hint: 'Name a real one with --optimizer, or leave --with-model out: rules find tasks too.',
    },
  );

const providersIn = (consent: readonly string[] = []) =>
  consent.flatMap((names) => names.split(',')).map((name) => name.trim());

/** The plan then shows other texts than a model would read. */
const minedByRule = () =>
  new SkillError('USAGE', 'expected llmMine to be on for --with-model, got llmMine: false in the settings', {
    hint: 'Turn it on with --llm-mine, or leave --with-model out.',
  });

import type { ChangedTask, RunFigures, RunPage } from '../../core/page/index.ts';
import { count, percent, plural, points } from '../../core/text/index.ts';
import { runAddress } from '../address.ts';
import { Facts, Section } from '../parts/frame.tsx';
import { Mark } from '../parts/mark.tsx';
import { SureButton } from '../parts/sure-button.tsx';
import { dateWords, seconds } from '../parts/words.ts';
import { type ShownRun, useSource } from '../state.ts';

type NowProps = { readonly page: RunPage; readonly doing: ShownRun['doing'] };

/** In the place of a conclusion from what could not be read. */
export const NotKnown = () => <p className="note">Not known: the run could not be read to its end.</p>;

/** While it runs: what it is doing. Afterwards: what to do next. */
export function NowPanel({ page, doing, isPartial }: NowProps & { readonly isPartial: boolean }) {
  const { isRunning, words } = page;
  if (isRunning) return <WorkingPanel page={page} doing={doing} />;
  return (
    <Section title="What now?">
      {isPartial ? (
        <NotKnown />
      ) : (
        <p>
          It is not running. <code>{words.next.command}</code> {words.next.why}.
        </p>
      )}
    </Section>
  );
}

const PHASES: Readonly<Record<string, string>> = {
  baseline: 'measuring the first skill',
  rollout: 'trying training tasks',
  reflect: 'reading results',
  aggregate: 'joining edits',
  select: 'choosing edits',
  update: 'writing the candidate',
  evaluate: 'measuring the candidate',
  salvage: 'trying parts of the patch',
  removal: 'trying a shorter skill',
  'slow update': 'comparing rounds',
  shorten: 'trying the skill without lines that nothing supports',
  prune: 'removing what does nothing',
  'final measurement': 'measuring the winner again',
  test: 'measuring on the test tasks',
};

function WorkingPanel({ page: { name, figures }, doing }: NowProps) {
  const { phase, step, done = 0, total = 0 } = doing?.progress ?? {};
  const { waiting = 0, retries = 0, notices = [] } = doing ?? {};
  const { stepsDone } = figures.summary;
  return (
    <Section title="What is it doing now?" aside={<StopButton run={name} />}>
      <p className="next">
        <Mark kind="running" word={phase ? (PHASES[phase] ?? phase) : 'working'} />
        {step ? <a href={runAddress(name, ['steps', step])}>step {step}</a> : null}
        <span className="note">
          {stepsDone} of {figures.about.steps} steps done
        </span>
      </p>
      {total > 0 ? (
        <p className="progress">
          <progress value={done} max={total} aria-label="Progress of this part" />
          <span className="number">
            {count(done)} of {count(total)}
          </span>
        </p>
      ) : null}
      <p className="note">
        {[
          waiting > 0 && `${plural(waiting, 'call')} waiting`,
          retries > 0 && plural(retries, 'retry', 'retries'),
          notices.at(-1),
        ]
          .filter(Boolean)
          .join(' · ')}
      </p>
    </Section>
  );
}

/** Stops as Ctrl-C does. Only where the server lets the page act. */
function StopButton({ run }: { readonly run: string }) {
  const { stop } = useSource();
  if (!stop) return null;
  return (
    <SureButton
      word="Stop"
      question="Stop it now? It can be resumed"
      act={() => stop(run)}
      done={<span className="note">It finishes what is in flight.</span>}
    />
  );
}

export function AboutRun({ page: { name, figures, lines } }: { readonly page: RunPage }) {
  const { about, summary, loading, cost, verdict } = figures;
  const limits = Object.entries(about.limits).map(([limit, value]) => `${limit} ${count(value)}`);
  const facts: [string, string][] = [
    ['Environment', about.env],
    ['Target', about.target],
    ['Optimizer', about.optimizer],
    [
      'Tasks',
      Object.entries(about.items)
        .map(([split, tasks]) => `${count(tasks)} ${split}`)
        .join(', '),
    ],
    ['Gate', `${about.gate}, by ${about.metric} score`],
    ['Limits', limits.join(', ') || 'none'],
    ['Started', dateWords(about.startedAt)],
    [
      'Took',
      `${seconds(summary.totalWallTimeS * 1000)}${cost.total.mayHaveBeen ? ', without what a kill cut off' : ''}`,
    ],
    ...cardFacts(verdict.card),
    ...(loading
      ? [['Skill loaded', `in ${loading.loaded} of ${plural(loading.attempts, 'attempt')}`] as [string, string]]
      : []),
  ];
  return (
    <Section
      title="About this run"
      className="at-about"
      aside={<a href={runAddress(name, ['events'])}>{plural(lines, 'event')}</a>}
    >
      <Facts className="facts" rows={facts} />
      {about.notes.map((note) => (
        <p key={note} className="note">
          {note}
        </p>
      ))}
    </Section>
  );
}

/** Of a benchmark: what others need to repeat the score. */
function cardFacts(card: RunFigures['verdict']['card']): [string, string][] {
  if (!card) return [];
  const { rule, n, unscored, hard, interval, testLooks, promptSha256, dataSha256 } = card;
  return [
    ['Rule', rule],
    [
      'Result',
      `${percent(hard)} of ${plural(n, 'test task')}${unscored ? `, ${unscored} more without a score` : ''}, 95 % interval ${percent(interval.low)} to ${percent(interval.high)}`,
    ],
    ['Test looks', String(testLooks ?? 'not counted')],
    ['Prompt', `sha256 ${promptSha256.slice(0, 16)}…`],
    ['Data', `sha256 ${dataSha256.slice(0, 16)}…`],
  ];
}

const ON = {
  train: 'on training tasks',
  val: 'on validation tasks',
  test: 'on tasks that it never saw',
  all: 'so far, on all tasks',
};
const SHOWN = 5;

type ChangedProps = { readonly run: string; readonly figures: RunFigures; readonly isPartial: boolean };

/** Tasks that got worse, and how many got better. One that had both outcomes under one skill may be luck. */
export function ChangedPanel({ run, figures, isPartial }: ChangedProps) {
  const { better, worse, on } = figures.changed;
  const sorted = [...worse].sort((a, b) => Number(a.isNoisy) - Number(b.isNoisy));
  return (
    <Section
      title="Which tasks got worse?"
      className="at-changed"
      aside={<a href={runAddress(run, ['tasks'], { filter: 'worse' })}>All tasks</a>}
    >
      <p className="tally">
        <span className={worse.length > 0 ? 'bad' : ''}>
          <b>{count(worse.length)}</b> worse
        </span>
        <span className={better.length > 0 ? 'good' : ''}>
          <b>{count(better.length)}</b> better
        </span>
        <span className="note">{isPartial ? `${ON[on]}, as far as it could be read` : ON[on]}</span>
      </p>
      {worse.length === 0 ? (
        isPartial ? (
          <NotKnown />
        ) : (
          <p className="note">No task that passed before fails now.</p>
        )
      ) : null}
      <ul className="rows">
        {sorted.slice(0, SHOWN).map((task) => (
          <li key={task.id}>
            <Task run={run} task={task} />
          </li>
        ))}
      </ul>
      {worse.length > SHOWN ? <p className="note">and {plural(worse.length - SHOWN, 'more task')}</p> : null}
    </Section>
  );
}

const Task = ({ run, task: { id, isNoisy } }: { readonly run: string; readonly task: ChangedTask }) => (
  <a className="row changed" href={runAddress(run, ['attempts'], { task: id })} data-row>
    <span className="what">{id}</span>
    <Mark kind={isNoisy ? 'luck' : 'lost'} />
  </a>
);

/** What these tasks can prove, and how much of a difference is noise. */
export function CalibrationPanel({
  run,
  figures: { calibration },
}: {
  readonly run: string;
  readonly figures: RunFigures;
}) {
  if (!calibration) return null;
  const { items, noiseFloor, rolloutNoise, smallestGain, flakiest, needs, warning } = calibration;
  return (
    <Section title="What can these tasks prove?" className="at-calibration">
      <dl className="facts">
        <div>
          <dt>Smallest gain they prove</dt>
          <dd>{points(smallestGain)} points, in 4 of 5 runs</dd>
        </div>
        <div>
          <dt>Noise of one pass</dt>
          <dd>±{(noiseFloor * 100).toFixed(1)} points, the skill unchanged</dd>
        </div>
        <div>
          <dt>Noise of one attempt</dt>
          <dd>
            ±{(rolloutNoise * 100).toFixed(1)} points, on {plural(items, 'task')}
          </dd>
        </div>
        {needs.map(({ gain, items: needed }) => (
          <div key={gain}>
            <dt>To prove {points(gain)} points</dt>
            <dd>about {count(needed)} tasks</dd>
          </div>
        ))}
      </dl>
      {warning ? <p className="note">{warning}</p> : null}
      {flakiest.length > 0 ? <Flakiest run={run} tasks={flakiest} /> : null}
    </Section>
  );
}

type FlakiestProps = {
  readonly run: string;
  readonly tasks: NonNullable<RunFigures['calibration']>['flakiest'];
};

const Flakiest = ({ run, tasks }: FlakiestProps) => (
  <p className="note">
    Most often by luck:{' '}
    {tasks.map(({ id, mean, rollouts }, index) => (
      <span key={id}>
        {index > 0 ? ', ' : ''}
        <a href={runAddress(run, ['attempts'], { task: id })}>{id}</a> ({percent(mean)} of {count(rollouts)})
      </span>
    ))}
  </p>
);

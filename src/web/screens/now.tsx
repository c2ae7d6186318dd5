import type { RunPage } from '../../core/page/index.ts';
import { count, plural } from '../../core/text/index.ts';
import { runAddress } from '../address.ts';
import { Section } from '../parts/frame.tsx';
import { Mark } from '../parts/mark.tsx';
import { SureButton } from '../parts/sure-button.tsx';
import { dateWords, seconds } from '../parts/words.ts';
import { type ShownRun, useSource } from '../state.ts';

type NowProps = { readonly page: RunPage; readonly doing: ShownRun['doing'] };

/** While it runs: what it is doing. Afterwards: what to do next. */
export function NowPanel({ page, doing }: NowProps) {
  const { isRunning, words } = page;
  if (isRunning) return <WorkingPanel page={page} doing={doing} />;
  return (
    <Section title="What now?">
      <p>
        It is not running. <code>{words.next.command}</code> {words.next.why}.
      </p>
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
  const { about, summary, loading } = figures;
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
    ['Took', seconds(summary.totalWallTimeS * 1000)],
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
      <dl className="facts">
        {facts.map(([what, value]) => (
          <div key={what}>
            <dt>{what}</dt>
            <dd>{value}</dd>
          </div>
        ))}
      </dl>
      {about.notes.map((note) => (
        <p key={note} className="note">
          {note}
        </p>
      ))}
    </Section>
  );
}

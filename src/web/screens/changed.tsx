import type { ChangedTask, RunFigures } from '../../core/page/index.ts';
import { count, plural } from '../../core/text/index.ts';
import { runAddress } from '../address.ts';
import { Section } from '../parts/frame.tsx';
import { Mark } from '../parts/mark.tsx';

const ON = {
  train: 'on training tasks',
  val: 'on validation tasks',
  test: 'on tasks that it never saw',
  all: 'so far, on all tasks',
};
const SHOWN = 5;

/** Tasks that got worse, and how many got better. One that had both outcomes under one skill may be luck. */
export function ChangedPanel({ run, figures }: { readonly run: string; readonly figures: RunFigures }) {
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
        <span className="note">{ON[on]}</span>
      </p>
      {worse.length === 0 ? <p className="note">No task that passed before fails now.</p> : null}
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

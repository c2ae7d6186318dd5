import type { RunPage } from '../../core/page/index.ts';
import { standingWords } from '../../core/run/index.ts';
import { plural } from '../../core/text/index.ts';
import { runAddress } from '../address.ts';
import { Curve } from '../parts/curve.tsx';
import type { CurveAxis } from '../parts/curve-data.ts';
import { Section } from '../parts/frame.tsx';
import { IntervalBar } from '../parts/interval.tsx';
import { Lineage } from '../parts/lineage.tsx';
import { Icon, type MarkKind, meaningOf } from '../parts/mark.tsx';
import { asSentence } from '../parts/words.ts';
import { changeAddress, goTo, type ShownRun, useAddress } from '../state.ts';
import { CostTable } from './cost.tsx';
import { AcceptedEdits, AddedLines } from './edits.tsx';
import { AboutRun, CalibrationPanel, ChangedPanel, NowPanel } from './run-panels.tsx';

type RunProps = {
  readonly page: RunPage;
  readonly doing: ShownRun['doing'];
  /** The journal could not be read to its end: what was read is shown, and nothing is concluded from the rest. */
  readonly isPartial: boolean;
};

/** The first screen of a run. Without scrolling it answers: better? which edit? which tasks got worse? what did it cost? what now? */
export function RunScreen({ page, doing, isPartial }: RunProps) {
  const { name, figures } = page;
  const axis = (useAddress().query.x as CurveAxis) ?? 'step';
  return (
    <div className="overview">
      <VerdictHead page={page} isPartial={isPartial} />
      <Section title="How did the score move?" className="at-curve" aside={<AxisChoice page={page} axis={axis} />}>
        <Curve figures={figures} axis={axis} height={220} onStep={(step) => goTo(runAddress(name, ['steps', step]))} />
      </Section>
      <div className="at-side">
        <NowPanel page={page} doing={doing} isPartial={isPartial} />
        <Section title="What did it cost?" aside={<a href={runAddress(name, ['cost'])}>Details</a>}>
          <CostTable figures={figures} />
        </Section>
      </div>
      <Section
        title="Which edits did it?"
        className="at-edits"
        aside={
          figures.edits.length > 0 ? (
            <a href={runAddress(name, ['edits'])}>All {plural(figures.edits.length, 'edit')}</a>
          ) : null
        }
      >
        <AcceptedEdits run={name} figures={figures} isPartial={isPartial} />
      </Section>
      <ChangedPanel run={name} figures={figures} isPartial={isPartial} />
      {figures.lines.length > 0 ? (
        <Section
          title="What speaks for each added line?"
          className="at-all"
          aside={<span className="note">{standingWords(figures.lines)}</span>}
        >
          <AddedLines run={name} lines={figures.lines} />
        </Section>
      ) : null}
      <Section
        title="How did the skill grow?"
        className="at-all"
        aside={<a href={runAddress(name, ['diff'], { from: 0, to: figures.best })}>First to best</a>}
      >
        <Lineage run={name} versions={figures.versions} best={figures.best} />
      </Section>
      <CalibrationPanel run={name} figures={figures} />
      <AboutRun page={page} />
    </div>
  );
}

function VerdictHead({ page: { name, words, figures, isRunning }, isPartial }: Omit<RunProps, 'doing'>) {
  const { kind, comparison } = figures.verdict;
  const { icon, tone } = meaningOf((kind === 'stopped' && isRunning ? 'running' : kind) as MarkKind);
  return (
    <section className="verdict at-all" aria-label="Is it better?">
      <div className="verdict-words">
        <h1 className={tone}>
          <Icon name={icon} />
          {isPartial ? `${words.head}, as far as it could be read` : words.head}
        </h1>
        <p className="sentence">{asSentence(words.sentence, [name])}</p>
        <p className="note">{[words.chosenBy, words.amounts].filter(Boolean).join(' ')}</p>
      </div>
      {comparison?.gain ? <IntervalBar gain={comparison.gain} /> : null}
    </section>
  );
}

function AxisChoice({ page: { name, figures }, axis }: { readonly page: RunPage; readonly axis: CurveAxis }) {
  const isPaid = figures.cost.total.costUsd > 0;
  const axes: CurveAxis[] = isPaid ? ['step', 'calls', 'dollars'] : ['step', 'calls'];
  return (
    <fieldset className="choice">
      <legend>Score by</legend>
      {axes.map((one) => (
        <button
          key={one}
          type="button"
          aria-pressed={one === axis}
          onClick={() => changeAddress(runAddress(name, [], { x: one === 'step' ? '' : one }))}
        >
          {one}
        </button>
      ))}
    </fieldset>
  );
}

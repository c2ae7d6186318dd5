import type { RunFigures, RunPage, VersionRow } from '../../core/page/index.ts';
import { type LineSupport, type ListedEdit, supportWords } from '../../core/run/index.ts';
import { groupBy, plural, points } from '../../core/text/index.ts';
import { runAddress } from '../address.ts';
import { List } from '../parts/list.tsx';
import { Mark } from '../parts/mark.tsx';
import { editLine, MEASURED_BY, opWord, statusWords } from '../parts/words.ts';
import { changeAddress, useAddress } from '../state.ts';
import { NotKnown } from './run-panels.tsx';

const SHOWN = 7;

type AcceptedProps = { readonly run: string; readonly figures: RunFigures; readonly isPartial: boolean };

/** Accepted edits by step, with the gain of the step: its edits are measured together, and some of them alone as well. */
export function AcceptedEdits({ run, figures, isPartial }: AcceptedProps) {
  const accepted = figures.edits.filter(({ fate }) => fate === 'accepted');
  if (accepted.length === 0 && isPartial) return <NotKnown />;
  if (accepted.length === 0)
    return <p className="note">No edit was accepted{figures.edits.length === 0 ? ', and none was tried' : ''}.</p>;
  const steps = groupBy(accepted.slice(0, SHOWN), ({ step }) => step);
  return (
    <>
      <ul className="rows groups">
        {steps.map((edits) => (
          <li key={edits[0]!.step}>
            <StepEdits run={run} edits={edits} versions={figures.versions} />
          </li>
        ))}
      </ul>
      {accepted.length > SHOWN ? (
        <p className="note">and {plural(accepted.length - SHOWN, 'more accepted edit')}</p>
      ) : null}
      {isPartial ? <p className="note">as far as it could be read</p> : null}
    </>
  );
}

const SHOWN_LINES = 6;

/** Each line that the run added to the best skill, in the order of the skill, with what speaks for it. */
export function AddedLines({ run, lines }: { readonly run: string; readonly lines: readonly LineSupport[] }) {
  const rest = lines.length - SHOWN_LINES;
  return (
    <>
      <ul className="rows">
        {lines.slice(0, SHOWN_LINES).map((one, place) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: a skill may have a line twice
          <li key={place}>
            <AddedLine run={run} one={one} />
          </li>
        ))}
      </ul>
      {rest > 0 ? <p className="note">and {plural(rest, 'more line')}</p> : null}
    </>
  );
}

function AddedLine({ run, one }: { readonly run: string; readonly one: LineSupport }) {
  const cells = (
    <>
      <Mark kind={one.standing} />
      <span className="what" title={one.line}>
        {editLine({ content: one.line, target: '' })}
      </span>
      <span className="note why">{supportWords(one)}</span>
      <span className="note number">{one.step === null ? '' : `step ${one.step}`}</span>
    </>
  );
  if (one.step === null) return <div className="row added-line">{cells}</div>;
  return (
    <a className="row added-line" href={runAddress(run, ['steps', one.step])} data-row>
      {cells}
    </a>
  );
}

type StepEditsProps = {
  readonly run: string;
  readonly edits: readonly ListedEdit[];
  readonly versions: readonly VersionRow[];
};

function StepEdits({ run, edits, versions }: StepEditsProps) {
  const { step } = edits[0]!;
  const taken = versions.findLast((one) => one.step === step && one.fate === 'accepted' && one.kind !== 'guidance');
  const gain = taken?.score == null || taken.scoreBefore === null ? null : taken.score - taken.scoreBefore;
  return (
    <a className="row step-edits" href={runAddress(run, ['steps', step])} data-row>
      <span className={`number ${toneOf(gain)}`}>{gain === null ? 'not measured' : points(gain)}</span>
      <span className="note">step {step}</span>
      <span className="lines">
        {edits.map((edit) => (
          <span key={edit.content} className="what" title={edit.content}>
            {edit.effect?.gain == null ? null : (
              <b className={toneOf(edit.effect.gain)}>{points(edit.effect.gain)} alone </b>
            )}
            {edit.op === 'append' ? '' : `${opWord(edit.op)}: `}
            {editLine(edit)}
          </span>
        ))}
      </span>
    </a>
  );
}

const toneOf = (gain: number | null) => (gain === null ? 'missing' : gain > 0 ? 'good' : gain < 0 ? 'bad' : '');

function Effect({ edit: { effect } }: { readonly edit: ListedEdit }) {
  const gain = effect?.gain ?? null;
  if (gain === null) return <span className="number missing">–</span>;
  const about = `${MEASURED_BY[effect!.measuredBy]}, on ${plural(effect!.tasks, 'task')}`;
  return (
    <span className={`number ${toneOf(gain)}`} title={about}>
      {points(gain)}
    </span>
  );
}

const FATES = ['accepted', 'removed', 'rejected', 'undecided', 'invalid', 'skipped'] as const;

export function EditsScreen({ page: { name, figures } }: { readonly page: RunPage }) {
  const { fate = '' } = useAddress().query;
  const shown = figures.edits.filter((edit) => fate === '' || edit.fate === fate);
  const countOf = (one: string) => figures.edits.filter((edit) => edit.fate === one).length;
  return (
    <div className="fill">
      <div className="bar">
        <fieldset className="choice">
          <legend>Fate</legend>
          {['', ...FATES].map((one) => (
            <button
              key={one}
              type="button"
              aria-pressed={one === fate}
              onClick={() => changeAddress(runAddress(name, ['edits'], { fate: one }))}
            >
              {one === '' ? `all ${figures.edits.length}` : `${one} ${countOf(one)}`}
            </button>
          ))}
        </fieldset>
        <p className="note">
          The number is what an edit gains alone, in points. Hatched: its own effect was not measured.
        </p>
      </div>
      {shown.length === 0 ? <p className="note">No such edit.</p> : null}
      <List
        label="Edits"
        count={shown.length}
        rowHeight={36}
        row={(index) => <EditRow run={name} edit={shown[index]!} />}
      />
    </div>
  );
}

const EditRow = ({ run, edit }: { readonly run: string; readonly edit: ListedEdit }) => (
  <a className="row edit-row" href={runAddress(run, ['steps', edit.step])} data-row>
    <span className="note number">step {edit.step}</span>
    <Mark kind={edit.fate} />
    <Effect edit={edit} />
    <span className="op">{opWord(edit.op)}</span>
    <span className="what" title={edit.content}>
      {editLine(edit)}
    </span>
    <span className="note status">{statusWords(edit.status, edit.op)}</span>
  </a>
);

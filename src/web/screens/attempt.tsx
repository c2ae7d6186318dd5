import { useState } from 'react';
import { extrasOf, type RolloutResult, type TrajectoryStep } from '../../core/contracts/index.ts';
import type { AttemptPage, AttemptRow, RunPage } from '../../core/page/index.ts';
import { dollars, percent, plural } from '../../core/text/index.ts';
import { runAddress } from '../address.ts';
import { Answer, Section } from '../parts/frame.tsx';
import { Mark } from '../parts/mark.tsx';
import { versionName } from '../parts/words.ts';
import { changeAddress, useAddress, useAsked, useSource } from '../state.ts';
import { outcomeOf } from './attempts.tsx';

type AttemptProps = { readonly page: RunPage; readonly file: string; readonly place: number };

/** One attempt; beside it, if wanted, the same task with another version. */
export function AttemptScreen({ page, file, place }: AttemptProps) {
  const source = useSource();
  const asked = useAsked(`attempt ${page.name} ${file} ${place}`, () => source.attempt(page.name, file, place));
  return (
    <div className="stack">
      <Answer of={asked} what="the attempt">
        {(attempt) => <OneAttempt page={page} attempt={attempt} />}
      </Answer>
    </div>
  );
}

function OneAttempt({ page, attempt }: { readonly page: RunPage; readonly attempt: AttemptPage }) {
  const source = useSource();
  const { name } = page;
  const { task, file, place } = attempt.row;
  const { beside = '' } = useAddress().query;
  const others = useAsked(`others ${name} ${task}`, () => source.attempts(name, { task }));
  const choose = (value: string) => changeAddress(runAddress(name, ['attempts', file, place], { beside: value }));
  return (
    <>
      <div className="bar">
        <h1>{task}</h1>
        <p className="next">
          <a href={runAddress(name, ['attempts'], { task })}>All its attempts</a>
          <label className="note">
            Beside it{' '}
            <select value={beside} onChange={({ currentTarget }) => choose(currentTarget.value)}>
              <option value="">nothing</option>
              {(others.answer?.rows ?? [])
                .filter((row) => row.file !== file || row.place !== place)
                .slice(0, 60)
                .map((row) => (
                  <option key={`${row.file} ${row.place}`} value={`${row.place} ${row.file}`}>
                    {row.part}, {outcomeOf(row)}
                  </option>
                ))}
            </select>
          </label>
        </p>
      </div>
      <p className="sentence">{attempt.result.question ?? attempt.result.taskDescription ?? ''}</p>
      <div className="beside">
        <AttemptText page={page} attempt={attempt} />
        {beside === '' ? null : (
          <Beside page={page} place={Number.parseInt(beside, 10)} file={beside.replace(/^\d+ /, '')} />
        )}
      </div>
    </>
  );
}

function Beside({ page, file, place }: AttemptProps) {
  const source = useSource();
  const asked = useAsked(`beside ${page.name} ${file} ${place}`, () => source.attempt(page.name, file, place));
  return (
    <Answer of={asked} what="the other attempt">
      {(attempt) => <AttemptText page={page} attempt={attempt} />}
    </Answer>
  );
}

/** `step 3, the candidate` says which version it was; `step 3, training` does not. */
function partOf({ figures }: RunPage, { version, part, step }: AttemptRow): string {
  const shown = version === null ? undefined : figures.versions[version];
  if (!shown || (shown.kind === 'candidate' && shown.step === step)) return part;
  return `${part}, with ${versionName(shown)}`;
}

function AttemptText({ page, attempt: { row, result } }: { readonly page: RunPage; readonly attempt: AttemptPage }) {
  const { failReason, predictedAnswer, referenceText } = result;
  const { verifierOutput, diff } = extrasOf(result);
  return (
    <Section title={partOf(page, row)} className="attempt-text">
      <p className="next">
        <Mark kind={outcomeOf(row)} />
        <b>{row.errored ? 'no score' : percent(row.soft)}</b>
        <span className="note">{factsOf(result)}</span>
      </p>
      {failReason ? <Turn who="why" text={failReason} isStrong /> : null}
      {predictedAnswer ? <Turn who="answered" text={predictedAnswer} /> : null}
      {referenceText ? <Turn who="expected" text={referenceText} /> : null}
      {verifierOutput ? <Turn who="verifier" text={verifierOutput} /> : null}
      <Turns result={result} />
      {diff?.changes.map(({ path, change, patch, note }) => (
        <Turn key={path} who={`${change} file`} text={`${path}${note ? ` (${note})` : ''}\n${patch ?? ''}`} />
      ))}
      {diff?.leftOut.map((what) => (
        <p key={what} className="note">
          Not shown: {what}
        </p>
      ))}
    </Section>
  );
}

function factsOf(result: RolloutResult): string {
  const { skillsLoaded, ended, costUsd, diff } = extrasOf(result);
  const facts = [
    skillsLoaded !== undefined && (result.skillUnread ? 'the skill was not loaded' : 'the skill was loaded'),
    result.nTurns !== undefined && plural(result.nTurns, 'turn'),
    costUsd !== undefined && `$${dollars(costUsd)}`,
    ended !== undefined && ended !== 'done' && `ended: ${ended}`,
    diff !== undefined && `${plural(diff.changes.length, 'file')} changed`,
  ];
  return facts.filter(Boolean).join(', ');
}

const SHOWN = 60;

function Turns({ result }: { readonly result: RolloutResult }) {
  const turns = turnsOf(result);
  const [most, setMost] = useState(SHOWN);
  return (
    <>
      {turns.slice(0, most).map(({ who, text }, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: turns keep their places
        <Turn key={index} who={who} text={text} />
      ))}
      {turns.length > most ? (
        <button type="button" onClick={() => setMost(most + SHOWN)}>
          Show {plural(Math.min(SHOWN, turns.length - most), 'more turn')}
        </button>
      ) : null}
    </>
  );
}

const Turn = ({
  who,
  text,
  isStrong = false,
}: {
  readonly who: string;
  readonly text: string;
  readonly isStrong?: boolean;
}) => (
  <div className={isStrong ? 'turn strong' : 'turn'}>
    <span className="note">{who}</span>
    <pre tabIndex={text.length > 1500 ? 0 : undefined}>{text}</pre>
  </div>
);

/** One thing that was said or done in an attempt. */
type Said = { readonly who: string; readonly text: string };

/** The steps of an agent if there are any, else the conversation. */
export function turnsOf(result: RolloutResult): Said[] {
  const { trajectory } = extrasOf(result);
  if (trajectory?.steps === undefined) return (result.conversation ?? []).map(talkTurn);
  const notes = trajectory.notes === undefined ? [] : [{ who: 'note', text: trajectory.notes }];
  return [...trajectory.steps.filter(({ source }) => source === 'agent').flatMap(agentTurns), ...notes];
}

function talkTurn(turn: unknown): Said {
  const { role = '', content = '' } = (turn ?? {}) as { role?: unknown; content?: unknown };
  return { who: String(role), text: typeof content === 'string' ? content : JSON.stringify(content) };
}

function agentTurns({ message, tool_calls: calls = [], observation, extra = {} }: TrajectoryStep): Said[] {
  const answers = (id: string | undefined, who: string) =>
    (observation?.results ?? [])
      .filter((one) => one.source_call_id === id)
      .map(({ content }) => ({ who, text: content }));
  return [
    ...(extra.skills_loaded ?? []).map((name) => ({ who: 'loads skill', text: name })),
    ...(message === '' ? [] : [{ who: 'says', text: message }]),
    ...calls.flatMap(({ tool_call_id: id, function_name: name, arguments: input }) => [
      { who: `calls ${name}`, text: inputText(input) },
      ...answers(id, extra.failed_call_ids?.includes(id) ? 'fails' : 'gets'),
    ]),
    ...answers(undefined, 'gets'),
  ];
}

/** A single text needs no name. */
function inputText(input: object): string {
  const values = Object.values(input);
  return values.length === 1 && typeof values[0] === 'string' ? values[0] : JSON.stringify(input, null, 1);
}

import type { RunPage, VersionRow } from '../../core/page/index.ts';
import { runAddress } from '../address.ts';
import { Diff } from '../parts/diff.tsx';
import { Answer } from '../parts/frame.tsx';
import { Mark } from '../parts/mark.tsx';
import { comparedWords, scoreChange, versionName } from '../parts/words.ts';
import { changeAddress, useAddress, useAsked, useSource } from '../state.ts';

/** Any two versions whose texts were kept. */
export function DiffScreen({ page: { name, figures } }: { readonly page: RunPage }) {
  const source = useSource();
  const { query } = useAddress();
  const { versions, best } = figures;
  const [from, to] = [Number(query.from ?? 0), Number(query.to ?? best)];
  const asked = useAsked(`diff ${name} ${from} ${to} ${versions[to]?.hash}`, () =>
    Promise.all([source.skill(name, from), source.skill(name, to)]),
  );
  const choose = (next: { from: number; to: number }) => changeAddress(runAddress(name, ['diff'], next));
  const [before, shown] = [versions[from], versions[to]];
  return (
    <div className="stack">
      <div className="bar">
        <h1>What changed in the skill</h1>
        <div className="bar">
          <VersionChoice
            label="From"
            versions={versions}
            value={from}
            onChange={(next) => choose({ from: next, to })}
          />
          <VersionChoice label="to" versions={versions} value={to} onChange={(next) => choose({ from, to: next })} />
        </div>
      </div>
      {before && shown && shown.parent !== from ? <p className="note">{comparedWords(before, shown)}</p> : null}
      {shown && shown.parent === from ? <Judgement run={name} version={shown} /> : null}
      <Answer of={asked} what="the two versions">
        {([one, other]) => <Diff before={one} after={other} />}
      </Answer>
    </div>
  );
}

/** What became of a version, compared with the one that it was made from. */
function Judgement({ run, version }: { readonly run: string; readonly version: VersionRow }) {
  return (
    <p className="next">
      <Mark kind={version.fate} />
      {version.score === null ? null : <span>{scoreChange(version.scoreBefore, version.score)}</span>}
      <span className="note">{version.reason}</span>
      {version.kind === 'guidance' ? (
        <span className="note">epoch {version.step}</span>
      ) : (
        <a href={runAddress(run, ['steps', version.step])}>step {version.step}</a>
      )}
    </p>
  );
}

type ChoiceProps = {
  readonly label: string;
  readonly versions: readonly VersionRow[];
  readonly value: number;
  readonly onChange: (version: number) => void;
};

/** A select of a thousand versions would be a thousand elements: beyond some, a number is typed. */
const MOST_OPTIONS = 60;

function VersionChoice({ label, versions, value, onChange }: ChoiceProps) {
  const kept = versions.filter(({ isTextKept }) => isTextKept);
  if (kept.length > MOST_OPTIONS)
    return (
      <label className="note">
        {label} version{' '}
        <input
          type="number"
          min={0}
          max={versions.length - 1}
          value={value}
          onChange={({ currentTarget }) => onChange(Number(currentTarget.value))}
        />{' '}
        {versions[value] ? versionName(versions[value]) : ''}
      </label>
    );
  return (
    <label className="note">
      {label}{' '}
      <select value={value} onChange={({ currentTarget }) => onChange(Number(currentTarget.value))}>
        {kept.map((version) => (
          <option key={version.index} value={version.index}>
            {versionName(version)}, {version.fate}
          </option>
        ))}
      </select>
    </label>
  );
}

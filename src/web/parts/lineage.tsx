import type { VersionRow } from '../../core/page/index.ts';
import { oneLine, points } from '../../core/text/index.ts';
import { runAddress } from '../address.ts';
import { List } from './list.tsx';
import { Mark } from './mark.tsx';
import { scoreChange, versionName } from './words.ts';

type LineageProps = {
  readonly run: string;
  readonly versions: readonly VersionRow[];
  readonly best: number;
  /** What a row opens. */
  readonly to?: 'diff' | 'step';
};

const ROW = 32;

/** One line of versions that were taken; the others are stubs beside it. A row opens what it changed. */
export function Lineage({ run, versions, best, to = 'diff' }: LineageProps) {
  const last = versions.findLastIndex(isTaken);
  return (
    <List
      label="Versions of the skill"
      count={versions.length}
      rowHeight={ROW}
      seen={to === 'step' ? 20 : 10}
      row={(index) => (
        <Version to={to} run={run} version={versions[index]!} isBest={index === best} place={railPlace(index, last)} />
      )}
    />
  );
}

const isTaken = ({ fate }: VersionRow) => fate === 'start' || fate === 'accepted';

type VersionProps = {
  readonly to: 'diff' | 'step';
  readonly run: string;
  readonly version: VersionRow;
  readonly isBest: boolean;
  readonly place: RailPlace;
};

function Version({ to, run, version, isBest, place }: VersionProps) {
  const { index, fate, score, scoreBefore, reason, parent, isTextKept, step } = version;
  const address =
    isTextKept && (to === 'diff' || index === 0)
      ? runAddress(run, ['diff'], { from: parent ?? 0, to: index })
      : runAddress(run, ['steps', step]);
  const gain = score === null || scoreBefore === null ? null : score - scoreBefore;
  return (
    <a className="row version" href={address} data-row>
      <Rail isTaken={isTaken(version)} place={place} />
      <span className="what">{versionName(version)}</span>
      <Mark kind={fate} {...(isBest ? { word: `${fate === 'start' ? 'start' : 'accepted'}, the best` } : {})} />
      <span className={`number ${score === null ? 'missing' : ''}`}>
        {score === null ? 'not measured' : scoreChange(scoreBefore, score)}
      </span>
      <span className={`number ${(gain ?? 0) > 0 ? 'good' : (gain ?? 0) < 0 ? 'bad' : ''}`}>{points(gain)}</span>
      <span className="why">{oneLine(reason ?? '')}</span>
    </a>
  );
}

type RailPlace = 'first' | 'between' | 'last' | 'below' | 'only';

function railPlace(index: number, last: number): RailPlace {
  if (index > last) return 'below';
  if (index === 0) return last === 0 ? 'only' : 'first';
  return index === last ? 'last' : 'between';
}

const LINES: Readonly<Record<RailPlace, string>> = {
  first: `M10 16V${ROW}`,
  between: `M10 0V${ROW}`,
  last: 'M10 0V16',
  below: '',
  only: '',
};

/** The line goes through taken versions; a stub leaves it. */
function Rail({ isTaken, place }: { readonly isTaken: boolean; readonly place: RailPlace }) {
  return (
    <svg className="rail" width="36" height={ROW} viewBox={`0 0 36 ${ROW}`} aria-hidden="true">
      <path d={LINES[place]} />
      {isTaken ? (
        <circle className="taken" cx="10" cy="16" r="4.5" />
      ) : (
        <path d={place === 'below' ? 'M18 16h8' : 'M10 16h16'} />
      )}
      {isTaken ? null : <circle className="stub" cx="28" cy="16" r="3" />}
    </svg>
  );
}

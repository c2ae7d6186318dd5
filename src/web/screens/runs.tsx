import { useLayoutEffect, useState } from 'react';
import type { RunListed } from '../../core/page/index.ts';
import { count, points } from '../../core/text/index.ts';
import { addressTo, runAddress } from '../address.ts';
import { Answer } from '../parts/frame.tsx';
import { Mark, type MarkKind } from '../parts/mark.tsx';
import { dateWords, priceOf, scoreChange } from '../parts/words.ts';
import { useAsked, useSource } from '../state.ts';

const ASK_AGAIN_MS = 2_000;

/** All runs of the folder, the latest first, as they are now. Two of them can be compared. */
export function RunsScreen() {
  const source = useSource();
  const asked = useAsked('runs', () => source.runs(), source.isLive ? ASK_AGAIN_MS : undefined);
  const [ticked, setTicked] = useState<readonly string[]>([]);
  const tick = (name: string) =>
    setTicked((before) => (before.includes(name) ? before.filter((one) => one !== name) : [...before, name].slice(-2)));
  return (
    <div className="stack">
      <div className="bar">
        <h1>Runs</h1>
        {source.isLive ? <CompareLink names={ticked} /> : null}
      </div>
      <Answer of={asked} what="the list of runs">
        {({ runs, folder, warning }) => (
          <>
            {warning === undefined ? null : <p className="note">{warning}</p>}
            {runs.length === 0 ? (
              <p className="note">
                There is no run in {folder}. <code>npx skillopt train</code> makes one.
              </p>
            ) : (
              <RunList runs={runs} ticked={ticked} tick={source.isLive ? tick : undefined} />
            )}
          </>
        )}
      </Answer>
    </div>
  );
}

const HEADS = [
  'Run',
  'State',
  'Measured on',
  'Score',
  'Gain in points',
  'While it trained',
  'Steps',
  'Price',
  'Changed',
];
const WORDS: readonly string[] = HEADS.slice(0, 3);

type RunListProps = {
  readonly runs: readonly RunListed[];
  readonly ticked: readonly string[];
  readonly tick: ((name: string) => void) | undefined;
};

/** A browser takes the focus from a row that moves: it gets it back. */
function useKeptFocus(): void {
  const focused = document.activeElement;
  useLayoutEffect(() => {
    const isLost = focused !== document.activeElement && focused?.isConnected;
    if (isLost && focused instanceof HTMLElement) focused.focus({ preventScroll: true });
  });
}

function RunList({ runs, ticked, tick }: RunListProps) {
  useKeptFocus();
  return (
    <ul className="runs">
      <li className="head" aria-hidden="true">
        <span className="row run">
          {HEADS.map((word) => (
            <span key={word} className={WORDS.includes(word) ? '' : 'number'}>
              {word}
            </span>
          ))}
        </span>
      </li>
      {runs.map((run) => (
        <li key={run.name}>
          {tick ? (
            <input
              type="checkbox"
              aria-label={`Compare ${run.name}`}
              checked={ticked.includes(run.name)}
              onChange={() => tick(run.name)}
            />
          ) : null}
          <Run run={run} />
        </li>
      ))}
    </ul>
  );
}

function CompareLink({ names: [a, b] }: { readonly names: readonly string[] }) {
  if (a === undefined || b === undefined) return <p className="note">Tick two runs to compare them.</p>;
  return (
    <a className="button" href={addressTo(['compare'], { a, b })}>
      Compare {a} with {b}
    </a>
  );
}

function Run({ run }: { readonly run: RunListed }) {
  const { name, state, isRunning, verdict, on, baselineScore, bestScore, gain, isProven, cost } = run;
  const kind: MarkKind = isRunning ? 'running' : (verdict ?? 'unreadable');
  if (run.problem !== undefined)
    return (
      <a className="row run" href={runAddress(name)} data-row>
        <span className="what">{name}</span>
        <Mark kind="unreadable" />
        <span className="why trouble-words">{run.problem}</span>
      </a>
    );
  return (
    <a className="row run" href={runAddress(name)} data-row>
      <span className="what">{name}</span>
      <Mark kind={kind} word={state} />
      <span className="note">{on === null ? '' : `${on} tasks`}</span>
      <span className={`number ${bestScore === null ? 'missing' : ''}`}>
        {bestScore === null ? 'not measured' : scoreChange(baselineScore, bestScore)}
      </span>
      <span className="number">
        {gain ? `${points(gain.interval.low)} to ${points(gain.interval.high)}${isProven ? '' : ', not proven'}` : ''}
      </span>
      <Sparkline values={run.sparkline} />
      <span className="number note">{stepWords(run)}</span>
      <span className="number">{cost ? priceOf(cost) : ''}</span>
      <span className="number note">{dateWords(run.modifiedAt)}</span>
    </a>
  );
}

const stepWords = ({ accepted, rejected, undecided }: RunListed) =>
  `${count(accepted)} accepted, ${count(rejected)} rejected${undecided === 0 ? '' : `, ${count(undecided)} undecided`}`;

function Sparkline({ values }: { readonly values: readonly number[] }) {
  const [low, high] = [Math.min(...values), Math.max(...values)];
  const place = (value: number, index: number) =>
    `${(2 + (index / Math.max(1, values.length - 1)) * 76).toFixed(1)} ${(18 - ((value - low) / (high - low || 1)) * 14).toFixed(1)}`;
  return (
    <svg className="spark" viewBox="0 0 80 20" aria-hidden="true">
      {values.length > 1 ? <path d={`M${values.map(place).join('L')}`} /> : null}
    </svg>
  );
}

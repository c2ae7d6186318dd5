import { useEffect, useRef, useState } from 'react';
import type { RunPage } from '../../core/page/index.ts';
import { runAddress } from '../address.ts';
import { useKeys } from '../keys.ts';
import { Loading, Trouble } from '../parts/frame.tsx';
import { LOST } from '../source.ts';
import { goTo, RecoveriesContext, type ShownRun, useRun, useSource } from '../state.ts';
import { AttemptScreen } from './attempt.tsx';
import { AttemptsScreen } from './attempts.tsx';
import { CostScreen } from './cost.tsx';
import { DiffScreen } from './diff.tsx';
import { EditsScreen } from './edits.tsx';
import { EventsScreen } from './events.tsx';
import { RunScreen } from './run.tsx';
import { StepScreen } from './step.tsx';
import { TasksScreen } from './tasks.tsx';

const TABS = [
  ['Overview', ''],
  ['Steps', 'steps'],
  ['Edits', 'edits'],
  ['Diff', 'diff'],
  ['Tasks', 'tasks'],
  ['Attempts', 'attempts'],
  ['Cost', 'cost'],
  ['Events', 'events'],
] as const;

type FrameProps = { readonly run: string; readonly path: readonly string[] };

/** What all screens of a run share: its stream, its tabs and its keys. */
export function RunFrame({ run, path }: FrameProps) {
  const [isPaused, setPaused] = useState(false);
  const shown = useRun(run, isPaused);
  const step = path[0] === 'steps' && path[1] ? Number(path[1]) : null;
  useStepKeys(run, shown.page, step, () => setPaused((before) => !before));
  const [first = ''] = path;
  return (
    <>
      {shown.page || !shown.problem ? (
        <div className="tabs">
          <Tabs run={run} at={first} />
          <LiveState shown={shown} isPaused={isPaused} onPause={() => setPaused(!isPaused)} />
        </div>
      ) : null}
      {shown.page && hasTitle(path) ? null : <h1 className="for-readers">{`${run} ${first}`}</h1>}
      {shown.problem ? <Trouble {...shown.problem} /> : null}
      {shown.page ? (
        <RecoveriesContext.Provider value={shown.recoveries}>
          <RunPart page={shown.page} shown={shown} path={path} />
        </RecoveriesContext.Provider>
      ) : shown.problem ? (
        <p className="away">
          <a href="#/">All runs</a>
        </p>
      ) : (
        <Loading what={`the run ${run}`} />
      )}
    </>
  );
}

/** On a narrow screen they scroll: the one that is shown is in sight. */
function Tabs({ run, at }: { readonly run: string; readonly at: string }) {
  const nav = useRef<HTMLElement>(null);
  // biome-ignore lint/correctness/useExhaustiveDependencies: another tab is another place
  useEffect(() => {
    const shown = nav.current?.querySelector<HTMLElement>('[aria-current]');
    if (shown) nav.current!.scrollLeft = shown.offsetLeft - nav.current!.clientWidth / 2;
  }, [at]);
  return (
    <nav ref={nav} aria-label="Screens of the run">
      {TABS.map(([word, part]) => (
        <a key={part} href={runAddress(run, part === '' ? [] : [part])} aria-current={at === part ? 'page' : undefined}>
          {word}
        </a>
      ))}
    </nav>
  );
}

/** Lists and tables speak for themselves: their title is for those who cannot see the tabs. */
const hasTitle = ([first = '', ...rest]: readonly string[]) => rest.length > 0 || ['', 'diff'].includes(first);

function useStepKeys(run: string, page: RunPage | null, step: number | null, pause: () => void): void {
  const last = page?.figures.curve.at(-1)?.step ?? 1;
  // From elsewhere, back is the last step and on is the first one.
  const move = (by: 1 | -1) => {
    const next = step === null ? (by === 1 ? 1 : last) : step + by;
    goTo(runAddress(run, ['steps', Math.min(last, Math.max(1, next))]));
  };
  useKeys({
    'g o': () => goTo(runAddress(run)),
    '[': () => move(-1),
    ']': () => move(1),
    d: () => goTo(runAddress(run, ['diff'])),
    t: () => goTo(runAddress(run, ['tasks'])),
    e: () => goTo(runAddress(run, ['edits'])),
    p: pause,
  });
}

type PartProps = { readonly page: RunPage; readonly shown: ShownRun; readonly path: readonly string[] };

function RunPart({ page, shown, path: [first = '', second, third] }: PartProps) {
  if (first === 'steps') return <StepScreen page={page} step={second === undefined ? null : Number(second)} />;
  if (first === 'edits') return <EditsScreen page={page} />;
  if (first === 'diff') return <DiffScreen page={page} />;
  if (first === 'tasks') return <TasksScreen page={page} />;
  if (first === 'attempts' && second !== undefined && third !== undefined)
    return <AttemptScreen page={page} file={second} place={Number(third)} />;
  if (first === 'attempts') return <AttemptsScreen page={page} />;
  if (first === 'cost') return <CostScreen page={page} />;
  if (first === 'events') return <EventsScreen page={page} />;
  if (first !== '')
    return <Trouble message={`There is no view «${first}» of a run.`} hint="The tabs show all of them." />;
  const isPartial = shown.problem !== null && shown.problem !== LOST;
  return <RunScreen page={page} doing={shown.doing} isPartial={isPartial} />;
}

type LiveProps = { readonly shown: ShownRun; readonly isPaused: boolean; readonly onPause: () => void };

function LiveState({ shown: { page, problem }, isPaused, onPause }: LiveProps) {
  const { isLive } = useSource();
  if (!isLive) return <span className="live note">report</span>;
  if (!page?.isRunning) return null;
  const word = problem ? 'not connected' : isPaused ? 'paused' : 'live';
  return (
    <button
      type="button"
      className={`live ${word === 'live' ? 'is-live' : ''}`}
      aria-pressed={isPaused}
      onClick={onPause}
    >
      <span className="dot" aria-hidden="true" />
      {word}
    </button>
  );
}

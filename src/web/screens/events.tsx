import { useCallback, useContext, useEffect, useRef, useState } from 'react';
import type { EventsPage, Problem, RunPage } from '../../core/page/index.ts';
import { count } from '../../core/text/index.ts';
import { runAddress } from '../address.ts';
import { Loading, Trouble } from '../parts/frame.tsx';
import { List } from '../parts/list.tsx';
import { dateWords } from '../parts/words.ts';
import { problemOf } from '../source.ts';
import { changeAddress, RecoveriesContext, useAddress, useSource } from '../state.ts';

const TYPES = [
  '',
  'run-start',
  'baseline-end',
  'step-start',
  'stage-end',
  'salvage-end',
  'removal-end',
  'step-end',
  'slow-update-end',
  'shorten-end',
  'prune-end',
  'final-measurement-end',
  'test-end',
  'run-end',
];

type Event = EventsPage['events'][number];

/** The journal as it is, line by line; what is out of sight is not loaded. */
export function EventsScreen({ page: { name, lines } }: { readonly page: RunPage }) {
  const { type = '', line = '' } = useAddress().query;
  const { total, events, want, problem } = useEvents(name, type, lines);
  const choose = (change: Record<string, string | number>) =>
    changeAddress(runAddress(name, ['events'], { type, line, ...change }));
  const open = [...events.values()].find((event) => String(event.line) === line);
  return (
    <div className="fill">
      <div className="bar">
        <TypeChoice type={type} onChoose={(type) => choose({ type })} />
        <span className="note">
          {count(total ?? lines)} of {count(lines)} lines
        </span>
      </div>
      {problem ? <Trouble {...problem} /> : null}
      {total === null && !problem ? <Loading what="the journal" /> : null}
      {open ? (
        // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls is reached by Tab
        <pre className="raw" tabIndex={0}>
          {readable(open.text)}
        </pre>
      ) : null}
      <List
        label="Events"
        count={total ?? 0}
        rowHeight={28}
        row={(index) => {
          want(index);
          const event = events.get(index);
          return event ? (
            <EventRow event={event} onOpen={() => choose({ line: line === String(event.line) ? '' : event.line })} />
          ) : (
            <span className="note">loading …</span>
          );
        }}
      />
    </div>
  );
}

const TypeChoice = ({ type, onChoose }: { readonly type: string; readonly onChoose: (type: string) => void }) => (
  <label className="note">
    Type{' '}
    <select value={type} onChange={({ currentTarget }) => onChoose(currentTarget.value)}>
      {TYPES.map((one) => (
        <option key={one} value={one}>
          {one === '' ? 'all' : one}
        </option>
      ))}
    </select>
  </label>
);

const EventRow = ({
  event: { line, type, at, text },
  onOpen,
}: {
  readonly event: Event;
  readonly onOpen: () => void;
}) => (
  <button type="button" className="row event" data-row onClick={onOpen}>
    <span className="number note">{count(line)}</span>
    <span>{type}</span>
    <span className="note">{dateWords(at, '2-digit')}</span>
    <span className="what">{text.slice(0, 300)}</span>
  </button>
);

function readable(text: string): string {
  try {
    return JSON.stringify(JSON.parse(text), null, 1).slice(0, 100_000);
  } catch {
    return text;
  }
}

const BLOCK = 100;

/** Blocks of the journal, asked for when a row of them is in sight. */
function useEvents(run: string, type: string, lines: number) {
  const source = useSource();
  const [known, setKnown] = useState<{ total: number | null; events: ReadonlyMap<number, Event>; problem?: Problem }>({
    total: null,
    events: new Map(),
  });
  const recoveries = useContext(RecoveriesContext);
  const asked = useRef(new Set<number>());
  const ask = useCallback(
    (block: number) => {
      if (asked.current.has(block)) return;
      asked.current.add(block);
      source.events(run, { from: block * BLOCK, count: BLOCK, type }).then(
        ({ total, events }) =>
          setKnown((before) => ({
            total,
            events: new Map([
              ...before.events,
              ...events.map((event, index) => [block * BLOCK + index, event] as const),
            ]),
          })),
        (error) => setKnown((before) => ({ ...before, problem: problemOf(error) })),
      );
    },
    [source, run, type],
  );
  // biome-ignore lint/correctness/useExhaustiveDependencies: after a problem all is asked again
  useEffect(() => {
    asked.current = new Set();
    setKnown({ total: null, events: new Map() });
    ask(0);
  }, [ask, recoveries]);
  const last = known.total === null ? 0 : Math.floor(Math.max(0, known.total - 1) / BLOCK);
  useEffect(() => {
    if (known.total === null || type !== '' || known.total >= lines) return;
    asked.current.delete(last);
    ask(last);
  }, [lines, known.total, last, type, ask]);
  return { ...known, want: (index: number) => ask(Math.floor(index / BLOCK)) };
}

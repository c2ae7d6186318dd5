import { createContext, useContext, useEffect, useRef, useState, useSyncExternalStore } from 'react';
import type { DoingPage, Problem, RunPage } from '../core/page/index.ts';
import { type Address, readAddress } from './address.ts';
import { problemOf, type Source } from './source.ts';

export const SourceContext = createContext<Source | null>(null);
export const useSource = (): Source => useContext(SourceContext)!;

export function useAddress(): Address {
  const hash = useSyncExternalStore(
    (notify) => {
      addEventListener('hashchange', notify);
      return () => removeEventListener('hashchange', notify);
    },
    () => location.hash,
  );
  return readAddress(hash);
}

export const goTo = (address: string) => {
  location.hash = address;
};

/** The same place with another filter: no step back in the browser's history. */
export const changeAddress = (address: string) => {
  history.replaceState(null, '', address);
  dispatchEvent(new HashChangeEvent('hashchange'));
};

export type Asked<Answer> = { readonly answer?: Answer; readonly problem?: Problem; readonly isAsking: boolean };

/** Asks again when the key changes. Until then the earlier answer is shown. */
export function useAsked<Answer>(key: string, ask: () => Promise<Answer>): Asked<Answer> {
  const [known, setKnown] = useState<{ key: string; answer?: Answer; problem?: Problem }>({ key: '' });
  const latest = useRef(key);
  // biome-ignore lint/correctness/useExhaustiveDependencies: the key says what is asked
  useEffect(() => {
    latest.current = key;
    const keep = (found: { answer?: Answer; problem?: Problem }) =>
      latest.current === key && setKnown({ key, ...found });
    ask().then(
      (answer) => keep({ answer }),
      (error) => keep({ problem: problemOf(error) }),
    );
  }, [key]);
  return { ...known, isAsking: known.key !== key };
}

export type ShownRun = {
  readonly page: RunPage | null;
  readonly doing: DoingPage | null;
  readonly problem: Problem | null;
};

const nothing: ShownRun = { page: null, doing: null, problem: null };

/** A run as it is now. While it is paused, what comes is kept and shown later: at most one render a frame. */
export function useRun(run: string, isPaused: boolean): ShownRun {
  const source = useSource();
  const [shown, setShown] = useState<ShownRun>(nothing);
  const latest = useRef<ShownRun>(nothing);
  const paused = useRef(isPaused);
  paused.current = isPaused;
  useEffect(() => {
    let frame = 0;
    const take = (news: Partial<ShownRun>) => {
      latest.current = { ...latest.current, ...news };
      cancelAnimationFrame(frame);
      if (!paused.current || news.problem) frame = requestAnimationFrame(() => setShown(latest.current));
    };
    take(nothing);
    const close = source.openRun(run, {
      onPage: (page) => take({ page }),
      onDoing: (doing) => take({ doing }),
      onProblem: (problem) => take({ problem }),
    });
    return () => {
      cancelAnimationFrame(frame);
      close();
    };
  }, [run, source]);
  useEffect(() => {
    if (!isPaused) setShown(latest.current);
  }, [isPaused]);
  return shown;
}

/** The value, but at most one new one in this time: what it is used for costs a request. */
export function useSlowly<Value>(value: Value, ms: number): Value {
  const [shown, setShown] = useState(value);
  const due = useRef(0);
  useEffect(() => {
    const timer = setTimeout(
      () => {
        due.current = Date.now() + ms;
        setShown(value);
      },
      Math.max(0, due.current - Date.now()),
    );
    return () => clearTimeout(timer);
  }, [value, ms]);
  return shown;
}

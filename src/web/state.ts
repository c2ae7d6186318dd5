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

export type Asked<Answer> = { readonly answer?: Answer; readonly problem?: Problem };

/** How often what was wrong with the run is over: what failed meanwhile is asked again then. */
export const RecoveriesContext = createContext(0);

type Known<Answer> = { readonly key: string; readonly answer?: Answer; readonly problem?: Problem };

/** Asks again when the key changes, and each `everyMs` if given. Until then the earlier answer is shown. */
export function useAsked<Answer>(key: string, ask: () => Promise<Answer>, everyMs?: number): Asked<Answer> {
  const [known, setKnown] = useState<Known<Answer>>({ key: '' });
  const recoveries = useContext(RecoveriesContext);
  // biome-ignore lint/correctness/useExhaustiveDependencies: the key says what is asked
  useEffect(() => {
    let [isGone, timer]: [boolean, ReturnType<typeof setTimeout> | undefined] = [false, undefined];
    const keep = (change: (before: Known<Answer>) => Known<Answer>) => {
      if (isGone) return;
      setKnown(change);
      if (everyMs !== undefined) wait(everyMs);
    };
    const askNow = () =>
      ask().then(
        (answer) => keep(() => ({ key, answer })),
        (error) => keep((before) => ({ ...(before.key === key && before), key, problem: problemOf(error) })),
      );
    const wait = (ms: number) => {
      timer = setTimeout(() => (document.hidden ? wait(ms) : askNow()), ms);
    };
    askNow();
    return () => {
      isGone = true;
      clearTimeout(timer);
    };
  }, [key, recoveries, everyMs]);
  return known;
}

export type ShownRun = {
  readonly page: RunPage | null;
  readonly doing: DoingPage | null;
  readonly problem: Problem | null;
  /** How many problems are over. */
  readonly recoveries: number;
};

const nothing: ShownRun = { page: null, doing: null, problem: null, recoveries: 0 };

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
      onProblem: (problem) => {
        const { problem: before, recoveries } = latest.current;
        take({ problem, recoveries: before && !problem ? recoveries + 1 : recoveries });
      },
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

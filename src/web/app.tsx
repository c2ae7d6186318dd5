import { useEffect, useRef, useState } from 'react';
import { runAddress } from './address.ts';
import { focusSearch, KEY_WORDS, moveRow, useKeys } from './keys.ts';
import { Boundary } from './parts/frame.tsx';
import { CompareScreen } from './screens/compare.tsx';
import { NightsScreen } from './screens/nights.tsx';
import { RunFrame } from './screens/run-frame.tsx';
import { RunsScreen } from './screens/runs.tsx';
import { goTo, useAddress, useSource } from './state.ts';

/** The frame of every screen, and the choice of one by the address. */
export function App() {
  const { path } = useAddress();
  const source = useSource();
  const [isHelp, setHelp] = useState(false);
  useKeys({
    'g r': () => goTo(source.home),
    j: () => moveRow(1),
    k: () => moveRow(-1),
    '/': focusSearch,
    '?': () => setHelp((isOpen) => !isOpen),
  });
  const at = path.join('/');
  const main = useRef<HTMLElement>(null);
  useFreshPage(at);
  return (
    <>
      <header className="top">
        <SkipLink to={() => main.current?.focus()} />
        <nav aria-label="Place">
          <a href={source.home} className="brand">
            skillopt
          </a>
          <Place path={path} />
        </nav>
        <ThemeSwitch />
        <button type="button" aria-label="Keys" onClick={() => setHelp(true)}>
          ?
        </button>
      </header>
      <main ref={main} tabIndex={-1}>
        <Boundary at={at}>
          <Screen path={path} />
        </Boundary>
      </main>
      <HelpDialog isOpen={isHelp} onClose={() => setHelp(false)} />
    </>
  );
}

/** Another place has another title, and is read from its top. */
function useFreshPage(at: string): void {
  useEffect(() => {
    document.title = at === '' ? 'skillopt' : `${at.replace(/^runs\//, '').replaceAll('/', ' · ')} – skillopt`;
    scrollTo(0, 0);
  }, [at]);
}

function Place({ path: [first, run] }: { readonly path: readonly string[] }) {
  const { isLive } = useSource();
  return (
    <>
      {isLive ? (
        <a href="#/nights" aria-current={first === 'nights' ? 'page' : undefined}>
          Nights
        </a>
      ) : null}
      {first === 'runs' && run ? (
        <a className="name" href={runAddress(run)}>
          {run}
        </a>
      ) : null}
    </>
  );
}

function Screen({ path: [first, run, ...rest] }: { readonly path: readonly string[] }) {
  if (first === 'runs' && run !== undefined) return <RunFrame key={run} run={run} path={rest} />;
  if (first === 'compare') return <CompareScreen />;
  if (first === 'nights') return <NightsScreen />;
  return <RunsScreen />;
}

function SkipLink({ to }: { readonly to: () => void }) {
  return (
    <a
      className="skip"
      href={location.hash}
      onClick={(event) => {
        event.preventDefault();
        to();
      }}
    >
      To the content
    </a>
  );
}

function HelpDialog({ isOpen, onClose }: { readonly isOpen: boolean; readonly onClose: () => void }) {
  const dialog = useRef<HTMLDialogElement>(null);
  useEffect(() => {
    if (isOpen) dialog.current?.showModal();
    else dialog.current?.close();
  }, [isOpen]);
  return (
    <dialog ref={dialog} aria-labelledby="keys" onClose={onClose}>
      <h2 id="keys">Keys</h2>
      <dl className="keys">
        {KEY_WORDS.map(([key, what]) => (
          <div key={key}>
            <dt>
              <kbd>{key}</kbd>
            </dt>
            <dd>{what}</dd>
          </div>
        ))}
      </dl>
      <button type="button" onClick={onClose}>
        Close
      </button>
    </dialog>
  );
}

const THEMES = ['system', 'light', 'dark'] as const;
type Theme = (typeof THEMES)[number];
const KEPT = 'skillopt-theme';

/** A report that was opened from a disk may not keep anything: then the choice lasts as long as the page. */
function keptTheme(): Theme {
  try {
    return THEMES.find((theme) => theme === localStorage.getItem(KEPT)) ?? 'system';
  } catch {
    return 'system';
  }
}

function keepTheme(theme: Theme): void {
  try {
    localStorage.setItem(KEPT, theme);
  } catch {}
}

function ThemeSwitch() {
  const [theme, setTheme] = useState(keptTheme);
  useEffect(() => {
    document.documentElement.dataset.theme = theme;
    keepTheme(theme);
  }, [theme]);
  const next = THEMES[(THEMES.indexOf(theme) + 1) % THEMES.length]!;
  return (
    <button type="button" aria-label={`Theme: ${theme}. Change to ${next}`} onClick={() => setTheme(next)}>
      <svg className="icon" viewBox="0 0 16 16" aria-hidden="true">
        <circle cx="8" cy="8" r="5.5" />
        {theme === 'light' ? null : (
          <path
            className="half"
            d={theme === 'dark' ? 'M8 2.5a5.5 5.5 0 1 1 0 11 5.5 5.5 0 0 1 0-11' : 'M8 2.5a5.5 5.5 0 0 1 0 11z'}
          />
        )}
      </svg>
      <span className="word">{theme}</span>
    </button>
  );
}

import { useEffect, useRef, useState } from 'react';
import { runAddress } from './address.ts';
import { HelpDialog } from './help.tsx';
import { focusSearch, moveRow, useKeys } from './keys.ts';
import { Boundary } from './parts/frame.tsx';
import { CompareScreen } from './screens/compare.tsx';
import { NightsScreen } from './screens/nights.tsx';
import { RunFrame } from './screens/run-frame.tsx';
import { RunsScreen } from './screens/runs.tsx';
import { goTo, useAddress, useSource } from './state.ts';
import { ThemeSwitch } from './theme-switch.tsx';

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
  useEffect(() => {
    document.title = at === '' ? 'skillopt' : `${at.replace(/^runs\//, '').replaceAll('/', ' · ')} – skillopt`;
    scrollTo(0, 0);
  }, [at]);
  return (
    <>
      <header className="top">
        <a
          className="skip"
          href={location.hash}
          onClick={(event) => {
            event.preventDefault();
            main.current?.focus();
          }}
        >
          To the content
        </a>
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

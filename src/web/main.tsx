import { createRoot } from 'react-dom/client';
import { App } from './app.tsx';
import { Trouble } from './parts/frame.tsx';
import { problemOf, type Source } from './source.ts';
import { embeddedSource, liveSource } from './sources.ts';
import { SourceContext } from './state.ts';
import './theme.css';

/** Starts at the address that was opened, or where the source begins. */
function start(source: Source): void {
  if (location.hash === '') history.replaceState(null, '', source.home);
  root.render(
    <SourceContext.Provider value={source}>
      <App />
    </SourceContext.Provider>,
  );
}

const root = createRoot(document.getElementById('page')!);

embeddedSource().then(
  (embedded) => start(embedded ?? liveSource()),
  (error) =>
    root.render(
      <Trouble
        message={`The data of this report cannot be read: ${problemOf(error).message}`}
        hint="Write the report again."
      />,
    ),
);

import { createRoot } from 'react-dom/client';
import { App } from './app.tsx';
import { embeddedSource } from './embedded-source.ts';
import { liveSource } from './live-source.ts';
import { Trouble } from './parts/frame.tsx';
import { problemOf } from './source.ts';
import { SourceContext } from './state.ts';
import './theme.css';

const root = createRoot(document.getElementById('page')!);

embeddedSource().then(
  (embedded) =>
    root.render(
      <SourceContext.Provider value={embedded ?? liveSource()}>
        <App />
      </SourceContext.Provider>,
    ),
  (error) =>
    root.render(
      <Trouble
        message={`The data of this report cannot be read: ${problemOf(error).message}`}
        hint="Write the report again."
      />,
    ),
);

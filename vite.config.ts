import react from '@vitejs/plugin-react';
import { defineConfig } from 'vite';

/** The page: React sources, run by preact, as one script and one style sheet. The server and the report take them from dist/web. */
export default defineConfig({
  root: 'src/web',
  base: './',
  plugins: [react()],
  resolve: {
    alias: [
      { find: /^react\/jsx(-dev)?-runtime$/, replacement: 'preact/jsx-runtime' },
      { find: /^react-dom\/client$/, replacement: 'preact/compat/client' },
      { find: /^react(-dom)?$/, replacement: 'preact/compat' },
    ],
  },
  build: {
    outDir: '../../dist/web',
    emptyOutDir: true,
    target: ['chrome125', 'firefox128', 'safari18'],
    modulePreload: { polyfill: false },
    rolldownOptions: {
      treeshake: { moduleSideEffects: (path) => !path.includes('/src/core/') }, // doors are loaded for a few names
    },
  },
});

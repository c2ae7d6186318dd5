import { defineConfig, type ProjectConfig } from 'skillopt';

// Checked by `tsc --noEmit`, never run.

const config: ProjectConfig = defineConfig({ env: './env.ts', target: 'none', skillFiles: 'none', numEpochs: 2 });
defineConfig(config);
// @ts-expect-error no such key
defineConfig({ epochs: 2 });
// @ts-expect-error a number is expected
defineConfig({ numEpochs: 'two' });
// @ts-expect-error inline or none
defineConfig({ skillFiles: 'all' });

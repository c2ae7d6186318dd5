import { createRequire } from 'node:module';
import '../../../src/stores/index.ts';

// Says whether the driver was loaded with the stores.
const loaded = Object.keys(createRequire(import.meta.url).cache);
process.stdout.write(String(loaded.some((path) => path.includes('libsql'))));

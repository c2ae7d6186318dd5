#!/usr/bin/env node
import { run } from './start.mjs';

await run('skillopt');

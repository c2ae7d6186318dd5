import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { execa } from 'execa';
import { describe, expect, it } from 'vitest';
import { createServer } from '../../src/mcp/server.ts';
import { addFixtures } from '../support/mcp/conformance-fixtures.ts';
import { serveOverHttp } from '../support/mcp/mcp-over-http.ts';
import { tempFolder } from '../support/temp-folder.ts';
import { installConformance, pathWith } from './install-cli.ts';

/** Tasks are an extension that our server does not offer: a night is started by one tool and followed by another. */
const TASKS = [
  'tasks-lifecycle',
  'tasks-capability-negotiation',
  'tasks-wire-fields',
  'tasks-request-state-removal',
  'tasks-mrtr-input',
  'tasks-request-headers',
  'tasks-dispatch-and-envelope',
  'tasks-required-task-error',
  'tasks-mrtr-composition',
];

/** Scenarios that the suite runs, and checks that it makes where each is made: fewer means that fixtures are missing. */
const revisions = [
  { revision: '2026-07-28', scenarios: 50, successes: 150, failing: TASKS },
  { revision: '2025-11-25', scenarios: 33, successes: 84, failing: [] },
];

describe('the MCP server in the conformance suite', () => {
  it.for(revisions)('keeps $revision', { timeout: 300_000 }, async (row, context) => {
    const installed = await installConformance();
    if (installed.missing !== undefined) {
      if (process.env.REQUIRE_PROGRAMS) throw new Error(`the conformance suite is missing: ${installed.missing}`);
      return context.skip(installed.missing);
    }
    await using served = await serveOverHttp((notify) => {
      const server = createServer(options);
      addFixtures(server, notify);
      return server;
    });
    using results = tempFolder();
    const { stdout } = await execa(
      installed.program,
      ['server', '--url', served.url, '--requirements', row.revision, '--output-dir', results.path],
      { env: { PATH: pathWith(installed.program), HOME: results.path }, reject: false, timeout: 240_000 },
    );
    const checks = checksIn(results.path);
    const isBad = ({ status }: Check) => status === 'FAILURE' || status === 'WARNING';
    const bad = checks.filter((check) => isBad(check) && !row.failing.includes(check.scenario));
    expect(bad, stdout.slice(-4_000)).toEqual([]);
    expect([...new Set(checks.filter(isBad).map(({ scenario }) => scenario))].sort()).toEqual([...row.failing].sort());
    expect(new Set(checks.map(({ scenario }) => scenario)).size, stdout.slice(-4_000)).toBe(row.scenarios);
    const successes = checks.filter(({ status, scenario }) => status === 'SUCCESS' && !row.failing.includes(scenario));
    expect(successes.length).toBeGreaterThanOrEqual(row.successes);
  });
});

const options = {
  input: new PassThrough(),
  write: () => {},
  version: '1.2.3',
  env: { HOME: '/nowhere', SKILLOPT_HOME: '/nowhere/state' },
  mayRun: false,
  called: (text: string) => text,
};

type Check = {
  readonly id: string;
  readonly scenario: string;
  readonly status: 'SUCCESS' | 'FAILURE' | 'WARNING' | 'SKIPPED' | 'INFO';
  readonly errorMessage?: string;
};

/** One folder a scenario: `server-ping-2026-11-17T…`. */
function checksIn(folder: string): Check[] {
  return readdirSync(folder).flatMap((name) => {
    const scenario = name.replace(/^server-/, '').replace(/-\d{4}-\d\d-\d\dT.*$/, '');
    const checks = JSON.parse(readFileSync(join(folder, name, 'checks.json'), 'utf8')) as Omit<Check, 'scenario'>[];
    return checks.map(({ id, status, errorMessage }) => ({
      scenario,
      id,
      status,
      ...(errorMessage && { errorMessage }),
    }));
  });
}

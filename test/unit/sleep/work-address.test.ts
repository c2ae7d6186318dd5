import { chmodSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { findWork } from '../../../src/sleep/index.ts';
import { tempFolder } from '../../support/temp-folder.ts';
import { miniClaude } from '../cli/agent-target/mini-claude.ts';

/** The agent of a night, with the address that it asks, in a project with this `.env`. */
async function agentIn(dotEnv: string, env: Record<string, string> = {}) {
  using folder = tempFolder();
  const path = join(folder.path, 'claude');
  writeFileSync(path, miniClaude());
  chmodSync(path, 0o755);
  writeFileSync(join(folder.path, '.env'), dotEnv);
  const { agent } = await findWork(
    { agent: 'claude', sandbox: 'none', path },
    { env: { PATH: process.env.PATH!, HOME: folder.path, ...env }, project: folder.path, settings: { prices: {} } },
  );
  return agent.id;
}

const THEIRS = 'ANTHROPIC_API_KEY=of-the-file\nANTHROPIC_BASE_URL=http://127.0.0.1:9/theirs\n';

it('a night takes no address from the .env of a project: a stranger would read what the person said', async () => {
  expect(await agentIn(THEIRS)).toBe(await agentIn('ANTHROPIC_API_KEY=of-the-file\n'));
});

it('an address in a variable of the person counts', async () => {
  expect(await agentIn(THEIRS, { ANTHROPIC_BASE_URL: 'http://127.0.0.1:9/mine' })).toContain('127.0.0.1:9/mine');
});

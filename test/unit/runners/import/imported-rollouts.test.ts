import { describe, expect, it } from 'vitest';
import { workspaceEnv } from '../../../../src/public/runners.ts';
import { probeSandbox, sandboxes } from '../../../../src/public/workspaces.ts';
import { shellAgent } from '../../../support/shell-agent.ts';
import { loadFixture } from './work-imports.ts';

const sandbox = (await probeSandbox()).bubblewrap.isAvailable ? sandboxes.bubblewrap() : sandboxes.none();
const target = { id: 'none', complete: () => Promise.reject(new Error('not asked')) };

/** One attempt at a task of a fixture, without its rubric, which a model would judge. */
async function attempt(
  path: string,
  id: string,
  mind: { readonly script: string; readonly text: string; readonly skill?: string },
) {
  const { tasks, folder } = await loadFixture(path);
  const { rubric: _, ...item } = tasks[id]!;
  const env = workspaceEnv({ name: 'imported', items: { train: [item] }, folder, sandbox });
  const skill = `---\nname: ${mind.skill ?? 'any'}\ndescription: Any.\n---\n\nText.\n`;
  const { signal } = new AbortController();
  return env.rolloutOne({ item, skill, target, agent: shellAgent(sandbox, () => mind), extras: {}, signal });
}

describe('what is imported judges as the original does', () => {
  it('by promptfoo', async () => {
    const said = (text: string, skill = 'airports') =>
      attempt('promptfoo/every-check.yaml', 'all that is carried', { script: 'true', text, skill });
    expect(await said('The airport is OSL (Oslo).')).toMatchObject({ hard: 1 });
    expect(await said('The airport is OSL (Oslo).', 'hotels')).toMatchObject({
      hard: 0,
      failReason: expect.stringMatching(/did not load the skill airports; it loaded the skill hotels/),
    });
    expect((await said('Sorry: Bergen XXX')).failReason?.split('; ')).toHaveLength(12);
  });

  it('by dotnet, with patterns of files', async () => {
    const did = (script: string) => attempt('dotnet/every-field', 'Sum a table', { script, text: 'It is done' });
    expect(await did('cat made.txt input.txt data.csv && echo 3 > total.txt')).toMatchObject({ hard: 1 });
    expect(await did('rm *.txt; touch a.csproj')).toMatchObject({
      failReason: '*.txt is not there; *.csproj is there; tot*.txt is not there',
    });
  });

  it('in a copy of the working folder for each', async () => {
    const mind = { script: 'cat a.txt && echo mended > a.txt', text: 'Mended.' };
    expect(await attempt('promptfoo/folders.yaml', 'tests[0]', mind)).toMatchObject({ hard: 1 });
    const { extras } = await attempt('promptfoo/folders.yaml', 'tests[0]', mind);
    expect(extras).toMatchObject({
      diff: { changes: [{ path: 'a.txt', patch: expect.stringContaining('-a\n+mended') }] },
    });
  });
});

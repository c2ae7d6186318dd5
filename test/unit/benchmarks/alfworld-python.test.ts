import { describe, expect, it, vi } from 'vitest';
import { openWorld } from '../../../src/benchmarks/alfworld/world.ts';
import { isMissing } from '../../support/machine.ts';
import { tempFolder } from '../../support/temp-folder.ts';

describe('the program for the real games', () => {
  const PYTHON = new URL('../../../src/benchmarks/alfworld/alfworld-world.py', import.meta.url).pathname;
  /** The two packages as far as the program knows them. They print, as libraries do. */
  const stubs = {
    'textworld/__init__.py': `
print('textworld is loaded')
class EnvInfos:
    def __init__(self, **wanted): self.wanted = wanted
class Env:
    def __init__(self, path): self.path, self.steps = path, 0
    def state(self, feedback): return {'feedback': feedback, 'admissible_commands': ['look', 'win'], 'won': feedback == 'win'}
    def reset(self): return self.state('Spüle in ' + self.path + '. Your task is to: win.')
    def step(self, command):
        print('stepping')
        if command == 'crash': raise KeyError('crash')
        return self.state(command), 0, command == 'win'
    def close(self): print('closed')
def start(path, infos, wrappers):
    assert infos.wanted == {'won': True, 'admissible_commands': True} and wrappers[0].shuffle is False
    return Env(path)
`,
    'alfworld/__init__.py': '',
    'alfworld/agents/__init__.py': '',
    'alfworld/agents/environment/__init__.py': '',
    'alfworld/agents/environment/alfred_tw_env.py': `
class AlfredDemangler:
    def __init__(self, shuffle): self.shuffle = shuffle
`,
  };

  it.skipIf(isMissing('python3'))('speaks the protocol, whatever libraries print', async () => {
    using packages = tempFolder(stubs);
    vi.stubEnv('PYTHONPATH', packages.path);
    await using house = await openWorld({ command: ['python3', PYTHON], answerMs: 60_000 });
    vi.unstubAllEnvs();
    const begun = {
      observation: 'Spüle in a b. Your task is to: win.',
      admissible: ['look', 'win'],
      done: false,
      won: false,
    };
    expect(await house.reset('a b')).toEqual(begun);
    expect(await house.step('öffne\n')).toEqual({ ...begun, observation: 'öffne\n' });
    expect(await house.reset('a b')).toEqual(begun);
    expect(await house.step('win')).toEqual({ ...begun, observation: 'win', done: true, won: true });
    await expect(house.step('crash')).rejects.toThrow("the world ended with exit code 1: KeyError: 'crash'");
  });

  it.skipIf(isMissing('python3'))('says which packages are missing', async () => {
    using empty = tempFolder({ 'textworld.py': 'raise ImportError("no textworld here")' });
    vi.stubEnv('PYTHONPATH', empty.path);
    await using house = await openWorld({ command: ['python3', PYTHON], answerMs: 60_000 });
    vi.unstubAllEnvs();
    await expect(house.reset('x')).rejects.toThrow(/no textworld here\. Install them: pip install alfworld/);
  });
});

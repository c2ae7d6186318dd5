import { mkdirSync, readFileSync, realpathSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { writeBlock } from '../../../../src/core/document/index.ts';
import { readDocument } from '../../../../src/skills/index.ts';
import { openSleepState, type Proposal, recordProposal, type StageInput, stage } from '../../../../src/sleep/index.ts';
import { tempFolder } from '../../../support/temp-folder.ts';

export const AT = '2026-03-10T00:00:00.000Z';

type Proposing = Partial<Omit<StageInput, 'text'>> & {
  readonly name: string;
  readonly text?: (old: string) => string;
  readonly kind?: 'skill' | 'memory';
};

/** A project, a state folder with an open state, and nights that propose. Gone after the test. */
export async function stagingWorld(files: Readonly<Record<string, string>> = { 'AGENTS.md': '# Mine\n\nBe kind.\n' }) {
  const temp = tempFolder();
  const root = realpathSync(temp.path);
  const [project, folder] = [join(root, 'project'), join(root, 'state')];
  const at = (name: string) => join(project, name);
  const write = (name: string, text: string) => {
    mkdirSync(dirname(at(name)), { recursive: true });
    writeFileSync(at(name), text);
  };
  mkdirSync(project);
  for (const [name, text] of Object.entries(files)) write(name, text);
  const open = await openSleepState(folder);
  /** The input of `stage` for a file of the project. */
  async function inputFor({
    name,
    text = learning('- a rule'),
    kind = 'memory',
    ...rest
  }: Proposing): Promise<StageInput> {
    const live = await readDocument(at(name), [project]);
    const night = rest.night ?? 1;
    return {
      ...{
        stateFolder: folder,
        project,
        night,
        id: String(night),
        at: AT,
        gain: null,
        confidence: null,
        roots: [project],
      },
      document: { kind, name: kind === 'skill' ? (dirname(name).split('/').at(-1) ?? '') : name },
      live,
      text: text(live.bytes?.toString() ?? ''),
      ...rest,
    };
  }
  /** Stages a proposal and records it. */
  async function propose(proposing: Proposing): Promise<Proposal> {
    const proposal = await stage(await inputFor(proposing));
    await open.update((state) => recordProposal(state, proposal));
    return proposal;
  }
  return {
    ...{ root, project, folder, at, write, open, inputFor, propose },
    read: (name: string) => readFileSync(at(name), 'utf8'),
    [Symbol.asyncDispose]: async () => {
      await open[Symbol.asyncDispose]();
      temp[Symbol.dispose]();
    },
  };
}

/** A document with a rule in its learned block. */
export const learning = (rule: string) => (old: string) => writeBlock(old, 'learned', rule);

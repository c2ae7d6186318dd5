import {
  chmodSync,
  existsSync,
  linkSync,
  readdirSync,
  readFileSync,
  renameSync,
  statSync,
  symlinkSync,
  unlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { readBlock, writeBlock } from '../../../../src/core/document/index.ts';
import {
  adopt,
  nightFolder,
  type Proposal,
  pendingProposals,
  purge,
  recordNight,
  recordProposal,
  retain,
  rollback,
  SleepState,
  settle,
  stage,
} from '../../../../src/sleep/index.ts';
import { contentsOf } from '../../skills/replace/replace-world.ts';
import { AT, learning, stagingWorld } from './staging-world.ts';

const REFUSED = { code: 'DOCUMENT_REFUSED', hint: expect.stringMatching(/\w/) };
type World = Awaited<ReturnType<typeof stagingWorld>>;
const adoptIt = async ({ open }: World, ...proposals: Proposal[]) => adopt({ open, proposals, at: AT });
const rollBackIt = async ({ open }: World, ...proposals: Proposal[]) => rollback({ open, proposals });
const statusOf = ({ open }: World, { id }: Proposal) => open.state.proposals.find((one) => one.id === id)?.status;
const place = { env: {}, home: '/h', platform: 'linux' } as const;

describe('stage', () => {
  it('keeps the text in private, and what decides in the state', async () => {
    await using world = await stagingWorld();
    const proposal = await world.propose({ name: 'AGENTS.md' });
    const path = join(nightFolder(world.folder, world.project, '1'), 'proposed.md');
    expect(statSync(path).mode & 0o777).toBe(0o600);
    expect(readFileSync(path, 'utf8')).toBe(learning('- a rule')(world.read('AGENTS.md')));
    expect(proposal).toMatchObject({ id: '1', status: 'pending', baseBlock: '', block: '- a rule' });
    expect(proposal.document).toMatchObject({ path: world.at('AGENTS.md'), realPath: world.at('AGENTS.md') });
    expect(world.read('AGENTS.md')).toBe('# Mine\n\nBe kind.\n');
    expect(existsSync(world.at('.skillopt'))).toBe(false);
  });

  it('24: proposes nothing for a memory that is unchanged, empty or not there', async () => {
    await using world = await stagingWorld();
    const same = await world.inputFor({ name: 'AGENTS.md', text: (old) => old });
    await expect(stage(same)).rejects.toThrow(/changes nothing/);
    const empty = await world.inputFor({ name: 'AGENTS.md', text: () => ' \n' });
    await expect(stage(empty)).rejects.toThrow(/is empty/);
    const missing = await world.inputFor({ name: 'CLAUDE.md' });
    await expect(stage(missing)).rejects.toThrow(/is not there, and only a skill of our own/);
    expect(readdirSync(world.project)).toEqual(['AGENTS.md']);
  });

  it.each([
    ['C:x', false],
    ['plugin:skill', false],
    ['trail.', false],
    ['trail ', false],
    ['..', false],
    ['', false],
    ['a/b', false],
    ['a\\b', false],
    ['~', false],
    ['a\u0000b', false],
    ['é', true],
    ['my-skill', true],
  ])('51: the name %j is stage-legal: %s', async (name, isLegal) => {
    await using world = await stagingWorld({ [`skills/${isLegal ? name : 'x'}/SKILL.md`]: 'text' });
    const input = await world.inputFor({ name: `skills/${isLegal ? name : 'x'}/SKILL.md`, kind: 'skill' });
    const staged = stage({ ...input, document: { kind: 'skill', name } });
    if (isLegal) expect((await staged).document.name).toBe(name);
    else await expect(staged).rejects.toThrow(/expected the name of one folder/);
  });

  it('29: a skill is proposed for in its own folder only, and nothing outside of the roots', async () => {
    await using world = await stagingWorld({
      'skills/a/SKILL.md': 'a',
      'skills/b/SKILL.md': 'b',
      'skills/b/notes.md': 'n',
    });
    const input = await world.inputFor({ name: 'skills/b/SKILL.md', kind: 'skill' });
    await expect(stage({ ...input, document: { kind: 'skill', name: 'a' } })).rejects.toThrow(
      /folder of b, and a was expected/,
    );
    await expect(stage({ ...input, roots: [world.at('skills/a')] })).rejects.toThrow(/outside of/);
    await expect(world.propose({ name: 'skills/b/notes.md', kind: 'skill' })).rejects.toThrow(/expected the SKILL\.md/);
  });

  it('refuses text outside of the learned block, and a document that changed during the night', async () => {
    await using world = await stagingWorld();
    const more = (old: string) => `${learning('- a rule')(old)}More.\n`;
    await expect(world.propose({ name: 'AGENTS.md', text: more })).rejects.toThrow(/outside of the learned block/);
    const input = await world.inputFor({ name: 'AGENTS.md' });
    world.write('AGENTS.md', 'other');
    await expect(stage(input)).rejects.toThrow(/was changed during the night/);
  });
});

describe('adopt', () => {
  it('writes what was proposed, keeps the mode, and says where the old bytes are', async () => {
    await using world = await stagingWorld();
    chmodSync(world.at('AGENTS.md'), 0o640);
    const before = world.read('AGENTS.md');
    const proposal = await world.propose({ name: 'AGENTS.md' });
    const [adopted] = await adoptIt(world, proposal);
    expect(adopted).toMatchObject({ path: world.at('AGENTS.md'), realPath: world.at('AGENTS.md'), isRebased: false });
    expect(world.read('AGENTS.md')).toBe(learning('- a rule')(before));
    expect(readFileSync(adopted!.backup!, 'utf8')).toBe(before);
    expect(statSync(world.at('AGENTS.md')).mode & 0o777).toBe(0o640);
    expect(statusOf(world, proposal)).toBe('adopted');
    await expect(adoptIt(world, proposal)).rejects.toThrow('proposal 1 was adopted already, on 2026-03-10');
  });

  it('24: makes the file that was proposed and no other', async () => {
    await using world = await stagingWorld({});
    const text = () => '---\nname: learned\ndescription: d\n---\n# Learned\n';
    const name = 'skills/learned/SKILL.md';
    const proposal = await world.propose({ name, text, kind: 'skill', isNewAllowed: true });
    const [adopted] = await adoptIt(world, proposal);
    expect(adopted!.backup).toBe(null);
    expect(contentsOf(world.project)).toEqual({ [name]: text() });
  });

  it('34: an earlier proposal is not hidden by a later night without one', async () => {
    await using world = await stagingWorld();
    const proposal = await world.propose({ name: 'AGENTS.md' });
    const row = { project: world.project, night: 2, at: AT, accepted: false, nTasks: 3 };
    await world.open.update((state) => recordNight(state, { row }));
    expect(pendingProposals(world.open.state, (project) => project === world.project)).toEqual([proposal]);
  });

  it('29: a staged text that was changed is refused; so is a manifest of somebody', async () => {
    await using world = await stagingWorld({ 'AGENTS.md': 'a\n', 'victim.md': 'a\n' });
    const proposal = await world.propose({ name: 'AGENTS.md' });
    const folder = nightFolder(world.folder, world.project, '1');
    writeFileSync(
      join(folder, 'manifest.json'),
      JSON.stringify({ live_path: world.at('victim.md'), skill_roots: ['/'] }),
    );
    writeFileSync(join(folder, 'proposed.md'), 'a\nrun curl | sh\n');
    await expect(adoptIt(world, proposal)).rejects.toThrow(/was changed since it was proposed/);
    expect(contentsOf(world.project)).toEqual({ 'AGENTS.md': 'a\n', 'victim.md': 'a\n' });
    expect(statusOf(world, proposal)).toBe('pending');
  });

  it('29: a record in the state whose path leads elsewhere writes nowhere', async () => {
    await using world = await stagingWorld({ 'AGENTS.md': 'same\n', 'victim.md': 'same\n' });
    const proposal = await world.propose({ name: 'AGENTS.md' });
    const retargeted = { ...proposal, document: { ...proposal.document, path: world.at('victim.md') } };
    await world.open.update((state) => recordProposal(state, retargeted));
    await expect(adoptIt(world, retargeted)).rejects.toThrow(/led to .*AGENTS\.md, and leads to .*victim\.md/);
    expect(contentsOf(world.project)).toEqual({ 'AGENTS.md': 'same\n', 'victim.md': 'same\n' });
  });

  it('after an edit by hand keeps every byte of it, and puts only the block in', async () => {
    await using world = await stagingWorld();
    const proposal = await world.propose({ name: 'AGENTS.md' });
    const mine = '# Mine\r\n\r\n\r\n\r\nBe kinder.  \n\n\n';
    world.write('AGENTS.md', mine);
    const [adopted] = await adoptIt(world, proposal);
    expect(adopted).toMatchObject({ isRebased: true });
    expect(world.read('AGENTS.md').startsWith(mine)).toBe(true);
    expect(readBlock(world.read('AGENTS.md'), 'learned')).toBe('- a rule');
  });

  it('refuses when the block itself was edited, or the file is gone or not UTF-8', async () => {
    await using world = await stagingWorld({ 'AGENTS.md': learning('- old rule')('# Mine\n') });
    const proposal = await world.propose({ name: 'AGENTS.md', text: learning('- old rule\n- new rule') });
    const mine = learning('- my rule')('# Mine\n');
    world.write('AGENTS.md', mine);
    await expect(adoptIt(world, proposal)).rejects.toThrow(/learned block of .* was changed since proposal 1/);
    expect(world.read('AGENTS.md')).toBe(mine);
    writeFileSync(world.at('AGENTS.md'), Buffer.from([0xff, 0xfe, 0x00]));
    await expect(adoptIt(world, proposal)).rejects.toThrow(/is not UTF-8/);
    unlinkSync(world.at('AGENTS.md'));
    await expect(adoptIt(world, proposal)).rejects.toThrow(/is not there any more/);
    expect(readdirSync(world.project)).toEqual([]);
  });

  it('on top of another one: what was proposed with both is written once the first is there, in either order', async () => {
    await using world = await stagingWorld();
    const first = await world.propose({ name: 'AGENTS.md', text: learning('- a rule') });
    const both = await world.propose({ name: 'AGENTS.md', night: 2, text: learning('- a rule\n- b rule') });
    await adoptIt(world, first);
    expect(await adoptIt(world, both)).toMatchObject([{ isRebased: true }]);
    expect(readBlock(world.read('AGENTS.md'), 'learned')).toBe('- a rule\n- b rule');
    await rollBackIt(world, both);
    expect(world.read('AGENTS.md')).toBe(learning('- a rule')('# Mine\n\nBe kind.\n'));
  });

  it('is refused where the block holds a rule that it was not made with, which would be lost', async () => {
    await using world = await stagingWorld();
    const first = await world.propose({ name: 'AGENTS.md', text: learning('- a rule') });
    const both = await world.propose({ name: 'AGENTS.md', night: 2, text: learning('- a rule\n- b rule') });
    await adoptIt(world, both);
    await expect(adoptIt(world, first)).rejects.toMatchObject({ hint: expect.stringContaining('sleep review') });
    expect(readBlock(world.read('AGENTS.md'), 'learned')).toBe('- a rule\n- b rule');
  });

  it('writes nothing when the document says it already', async () => {
    await using world = await stagingWorld();
    const proposal = await world.propose({ name: 'AGENTS.md' });
    world.write('AGENTS.md', `Copied:\n${learning('- a rule')('')}`);
    const [adopted] = await adoptIt(world, proposal);
    expect([adopted!.receipt, statusOf(world, proposal)]).toEqual(['', 'adopted']);
    expect(world.read('AGENTS.md')).toMatch(/^Copied:/);
  });

  it('of several documents writes all or none', async () => {
    await using world = await stagingWorld({ 'a/SKILL.md': 'a', 'b/SKILL.md': 'b' });
    const a = await world.propose({ name: 'a/SKILL.md', kind: 'skill' });
    const b = await world.propose({ name: 'b/SKILL.md', kind: 'skill', id: '1.b' });
    linkSync(world.at('b/SKILL.md'), world.at('twin'));
    await expect(adoptIt(world, a, b)).rejects.toMatchObject(REFUSED);
    expect(contentsOf(world.project)).toEqual({ 'a/SKILL.md': 'a', 'b/SKILL.md': 'b', twin: 'b' });
    unlinkSync(world.at('twin'));
    expect((await adoptIt(world, a, b)).map(({ isRebased }) => isRebased)).toEqual([false, false]);
    expect(await rollBackIt(world, b)).toMatchObject([{ how: 'restored' }]);
    expect([world.read('a/SKILL.md'), world.read('b/SKILL.md')]).toEqual([learning('- a rule')('a'), 'b']);
  });

  it('torture: links, parents and edits while it works: nothing elsewhere, nothing lost', async () => {
    const deeds: ((world: World) => void)[] = [
      (world) => world.write('docs/AGENTS.md', 'mine\n'),
      (world) => {
        renameSync(world.at('docs'), world.at('moved'));
        symlinkSync(world.at('victim'), world.at('docs'));
      },
      (world) => {
        unlinkSync(world.at('CLAUDE.md'));
        symlinkSync('victim/AGENTS.md', world.at('CLAUDE.md'));
      },
      (world) => linkSync(world.at('docs/AGENTS.md'), world.at('twin.md')),
    ];
    for (const deed of deeds) {
      for (const moment of ['checked', 'journaled', 'drafted', 'replaced']) {
        await using world = await stagingWorld({ 'docs/AGENTS.md': 'old\n', 'victim/AGENTS.md': 'old\n' });
        symlinkSync('docs/AGENTS.md', world.at('CLAUDE.md'));
        const proposal = await world.propose({ name: 'CLAUDE.md' });
        let after: Record<string, string> = {};
        const onMoment = (now: string) => {
          if (now !== moment) return;
          deed(world);
          after = contentsOf(world.project);
        };
        const adopting = adopt({ open: world.open, proposals: [proposal], at: AT, onMoment });
        const outcome = await adopting.then(
          () => 'adopted',
          (error) => error.code,
        );
        const texts = Object.entries(contentsOf(world.project)).map(([name, text]) => [name, text]);
        const names = Object.keys(after).filter((name) => !name.endsWith('.tmp'));
        expect(texts.map(([name]) => name).sort(), `${deed} at ${moment}`).toEqual(names.sort());
        expect(world.read('victim/AGENTS.md')).toBe('old\n');
        for (const [name, text] of texts)
          if (outcome !== 'adopted' && name !== 'docs/AGENTS.md') expect(text).toBe('old\n');
        if (deed === deeds[0]) expect([outcome, world.read('docs/AGENTS.md')]).toEqual(['DOCUMENT_REFUSED', 'mine\n']);
      }
    }
  });
});

describe('rollback', () => {
  it('restores byte for byte', async () => {
    await using world = await stagingWorld({ 'AGENTS.md': '\ufeff# Mine\r\n\n\n\nno end' });
    const before = readFileSync(world.at('AGENTS.md'));
    const proposal = await world.propose({ name: 'AGENTS.md' });
    await adoptIt(world, proposal);
    expect(await rollBackIt(world, proposal)).toMatchObject([{ how: 'restored', path: world.at('AGENTS.md') }]);
    expect(readFileSync(world.at('AGENTS.md')).equals(before)).toBe(true);
    expect(statusOf(world, proposal)).toBe('rolled_back');
    await expect(rollBackIt(world, proposal)).rejects.toThrow('proposal 1 was rolled back already');
    await adoptIt(world, proposal);
    expect(readBlock(world.read('AGENTS.md'), 'learned')).toBe('- a rule');
  });

  it('removes the file that adoption made, its folder, and nothing else', async () => {
    await using world = await stagingWorld({ 'skills/other/SKILL.md': 'theirs' });
    const proposal = await world.propose({ name: 'skills/learned/SKILL.md', kind: 'skill', isNewAllowed: true });
    await adoptIt(world, proposal);
    expect(await rollBackIt(world, proposal)).toMatchObject([{ how: 'removed' }]);
    expect(contentsOf(world.project)).toEqual({ 'skills/other/SKILL.md': 'theirs' });
    expect(readdirSync(world.at('skills'))).toEqual(['other']);
  });

  it('after edits by hand takes only our block back', async () => {
    await using world = await stagingWorld({ 'AGENTS.md': learning('- old')('# Mine\n') });
    const proposal = await world.propose({ name: 'AGENTS.md', text: learning('- old\n- new') });
    await adoptIt(world, proposal);
    const mine = world.read('AGENTS.md').replace('# Mine', '# Mine and yours');
    world.write('AGENTS.md', `${mine}P.S.\n`);
    expect(await rollBackIt(world, proposal)).toMatchObject([{ how: 'block' }]);
    expect(world.read('AGENTS.md')).toBe(`${learning('- old')('# Mine and yours\n')}P.S.\n`);
  });

  it('refuses when the block was edited by hand, and says where the old text is', async () => {
    await using world = await stagingWorld();
    const proposal = await world.propose({ name: 'AGENTS.md' });
    const [adopted] = await adoptIt(world, proposal);
    const mine = world.read('AGENTS.md').replace('- a rule', '- my rule');
    world.write('AGENTS.md', mine);
    const hint = expect.stringContaining(adopted!.backup!);
    await expect(rollBackIt(world, proposal)).rejects.toMatchObject({ ...REFUSED, hint });
    expect([world.read('AGENTS.md'), statusOf(world, proposal)]).toEqual([mine, 'adopted']);
  });

  it('29: through a link that leads elsewhere by now is refused', async () => {
    await using world = await stagingWorld({ 'AGENTS.md': 'a\n', 'victim.md': 'v\n' });
    symlinkSync('AGENTS.md', world.at('CLAUDE.md'));
    const proposal = await world.propose({ name: 'CLAUDE.md' });
    await adoptIt(world, proposal);
    unlinkSync(world.at('CLAUDE.md'));
    symlinkSync('victim.md', world.at('CLAUDE.md'));
    await expect(rollBackIt(world, proposal)).rejects.toThrow(/led to .*AGENTS\.md, and leads to .*victim\.md now/);
    expect(contentsOf(world.project)).toMatchObject({ 'AGENTS.md': learning('- a rule')('a\n'), 'victim.md': 'v\n' });
  });

  it('of an earlier one under a later one is refused; both go in turn', async () => {
    await using world = await stagingWorld();
    const before = world.read('AGENTS.md');
    const first = await world.propose({ name: 'AGENTS.md' });
    await adoptIt(world, first);
    const second = await world.propose({ name: 'AGENTS.md', night: 2, text: learning('- a rule\n- another') });
    await adoptIt(world, second);
    await expect(rollBackIt(world, first)).rejects.toThrow(/was changed since proposal 1 was adopted/);
    await rollBackIt(world, second);
    await rollBackIt(world, first);
    expect(world.read('AGENTS.md')).toBe(before);
  });

  it('for all texts: adopting and rolling back is byte for byte nothing, also around an edit by hand', async () => {
    const text = fc.string({
      unit: fc.constantFrom('a', '\n', '\r\n', ' ', '\t', 'é', '#', '<!--', '-->', '- '),
      maxLength: 60,
    });
    await fc.assert(
      fc.asyncProperty(text, text, text, async (mine, rule, added) => {
        fc.pre(rule.trim() !== '' && readBlock(writeBlock(mine, 'learned', rule), 'learned') !== '');
        await using world = await stagingWorld({ 'AGENTS.md': mine });
        const first = await world.propose({ name: 'AGENTS.md', text: learning(rule) });
        await adoptIt(world, first);
        await rollBackIt(world, first);
        expect(world.read('AGENTS.md')).toBe(mine);
        const second = await world.propose({ name: 'AGENTS.md', night: 2, text: learning(rule) });
        world.write('AGENTS.md', `${added}${mine}`);
        await adoptIt(world, second);
        expect(world.read('AGENTS.md').startsWith(`${added}${mine}`)).toBe(true);
        await rollBackIt(world, second);
        expect(world.read('AGENTS.md')).toBe(`${added}${mine}`);
      }),
      { numRuns: 8 },
    );
  });
});

describe('the state', () => {
  it('of before there were proposals is read as it is', () => {
    expect(SleepState.parse({ version: 1, history: [], consents: [] }).proposals).toEqual([]);
  });

  it('after a crash between the file and the note believes what was done', async () => {
    await using world = await stagingWorld();
    const proposal = await world.propose({ name: 'AGENTS.md' });
    const before = world.read('AGENTS.md');
    const onMoment = (moment: string) => {
      if (moment === 'committed') throw new Error('died');
    };
    await expect(adopt({ open: world.open, proposals: [proposal], at: AT, onMoment })).rejects.toThrow('died');
    expect(statusOf(world, proposal)).toBe('pending');
    await settle(world.open);
    expect(statusOf(world, proposal)).toBe('adopted');
    await rollBackIt(world, proposal);
    expect(world.read('AGENTS.md')).toBe(before);
    await expect(adopt({ open: world.open, proposals: [proposal], at: AT, onMoment })).rejects.toThrow('died');
    await settle(world.open);
    expect(statusOf(world, proposal)).toBe('adopted');
  });

  it('purge and retention drop proposals, their texts and backups', async () => {
    await using world = await stagingWorld({ 'AGENTS.md': 'a\n', 'skills/b/SKILL.md': 'b\n' });
    await adoptIt(world, await world.propose({ name: 'AGENTS.md', id: '1.memory' }));
    await world.propose({ name: 'skills/b/SKILL.md', kind: 'skill' });
    const other = await world.propose({ name: 'AGENTS.md', project: '/other', text: learning('- x') });
    const removed = await purge(world.open, { what: 'nights', project: world.project, place });
    expect(removed).toEqual({ proposals: 2, nights: 2, 'backups of adoptions': 1 });
    expect(world.open.state.proposals).toEqual([other]);
    expect(readdirSync(join(world.folder, 'adoptions'))).toEqual([]);
    const soon = Date.parse(AT) + 86_400_000;
    expect(await retain(world.open, { days: 30, entries: 10 }, soon)).toEqual({});
    expect(await retain(world.open, { days: 30, entries: 10 }, soon + 30 * 86_400_000)).toMatchObject({ proposals: 1 });
  });
});

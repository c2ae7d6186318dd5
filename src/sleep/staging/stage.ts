import { isUtf8 } from 'node:buffer';
import { rm } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { SkillError } from '../../core/contracts/index.ts';
import { readBlock, writeBlock } from '../../core/document/index.ts';
import { casefold, strip } from '../../core/text/index.ts';
import { digestOf, type ReadDocument, readDocument } from '../../skills/index.ts';
import { makeFolderBelow, readPrivate, writePrivate } from '../../stores/index.ts';
import { nightFolder } from '../state/folders.ts';
import { Proposal } from './proposal.ts';

const PROPOSED_FILE = 'proposed.md';
/** Takes the place of the proposed text once the state has it. */
const NEXT_FILE = 'proposed.next.md';

export type StageInput = Pick<Proposal, 'id' | 'project' | 'night' | 'at' | 'gain' | 'confidence'> &
  Partial<Pick<Proposal, 'concerns'>> & {
    readonly stateFolder: string;
    readonly document: Pick<Proposal['document'], 'kind' | 'name'>;
    /** The document as the night read it (`readDocument`). */
    readonly live: ReadDocument;
    readonly text: string;
    /** The document must really lie in one of these folders. */
    readonly roots: readonly string[];
    /** For the managed skill, which does not exist before its first adoption. */
    readonly isNewAllowed?: boolean | undefined;
    /** A proposal with this id waits already: its text stays until the state has this one and `settleText` replaces it. */
    readonly isAgain?: boolean | undefined;
  };

/** Writes the proposed text, for this user alone, and returns the record for `recordProposal`. */
export async function stage(input: StageInput): Promise<Proposal> {
  const { stateFolder, project, id, night, document, live, text, at, gain, confidence, concerns } = input;
  refuseName(document.name);
  if (document.kind === 'skill') refuseStranger(document.name, live.path);
  const base = live.bytes === null ? '' : textOf(live.bytes, live.path);
  refuseUseless(input, base);
  await refuseIfChanged(input);
  const folder = nightFolder(stateFolder, project, id);
  await makeFolderBelow(stateFolder, folder);
  await writePrivate(join(folder, input.isAgain ? NEXT_FILE : PROPOSED_FILE), text);
  return Proposal.parse({
    ...{ id, project, night, at, gain, confidence, concerns, status: 'pending' },
    document: { kind: document.kind, name: document.name, path: live.path, realPath: live.realPath },
    baseDigest: live.digest ?? '',
    digest: digestOf(Buffer.from(text)),
    baseBlock: readBlock(base, 'learned'),
    block: readBlock(text, 'learned'),
  });
}

/** The proposed bytes that the state knows, also after a crash. */
export async function readProposed(stateFolder: string, { project, id, digest }: Proposal): Promise<Buffer> {
  const folder = nightFolder(stateFolder, project, id);
  const texts = [await readPrivate(join(folder, PROPOSED_FILE)), await readPrivate(join(folder, NEXT_FILE))];
  const found = texts.find((text) => text !== undefined && digestOf(Buffer.from(text)) === digest);
  if (found !== undefined) return Buffer.from(found);
  const what = texts[0] === undefined ? 'is not there any more' : 'was changed since it was proposed and tested';
  throw notStaged(`${join(folder, PROPOSED_FILE)} ${what}`, 'Nothing was written. Let a new night start.');
}

/** Puts text that was staged again in its place, once the state has it. */
export async function settleText(stateFolder: string, proposal: Proposal): Promise<void> {
  const folder = nightFolder(stateFolder, proposal.project, proposal.id);
  const next = await readPrivate(join(folder, NEXT_FILE));
  if (next === undefined || digestOf(Buffer.from(next)) !== proposal.digest) return;
  await writePrivate(join(folder, PROPOSED_FILE), next);
  await rm(join(folder, NEXT_FILE));
}

export const notStaged = (message: string, hint = 'Nothing was proposed; the document is as it was.') =>
  new SkillError('DOCUMENT_REFUSED', message, { hint });

/** The name must be one folder's name on every system. */
function refuseName(name: string): void {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
  const isSafe = !/[/\\:*?"<>|~\x00-\x1f\x7f]|^\s|[\s.]$|^$/u.test(name);
  if (!isSafe) throw notStaged(`expected the name of one folder, got ${JSON.stringify(name)}`);
}

/** Rules for one skill must not land in another. */
function refuseStranger(name: string, path: string): void {
  const same = (text: string) => casefold(text.normalize('NFC'));
  if (same(basename(path)) !== 'skill.md') throw notStaged(`expected the SKILL.md of a skill, got ${path}`);
  const folder = basename(dirname(path));
  if (same(folder) !== same(name)) throw notStaged(`${path} lies in the folder of ${folder}, and ${name} was expected`);
}

function refuseUseless({ live, text, isNewAllowed }: StageInput, base: string): void {
  if (strip(text) === '') throw notStaged(`the proposal for ${live.path} is empty`);
  if (live.bytes === null) {
    if (isNewAllowed) return;
    throw notStaged(`${live.path} is not there, and only a skill of our own may be made`);
  }
  if (text === base) throw notStaged(`the proposal for ${live.path} changes nothing`);
  if (text !== writeBlock(base, 'learned', readBlock(text, 'learned')))
    throw notStaged(`the proposal for ${live.path} changes text outside of the learned block`);
}

async function refuseIfChanged({ live, roots }: StageInput): Promise<void> {
  const now = await readDocument(live.path, roots);
  if (now.realPath === live.realPath && now.digest === live.digest) return;
  throw notStaged(`${live.path} was changed during the night`, 'The next night starts from what it is now.');
}

/** The text of a document, byte for byte: other text than UTF-8 could not be written back. */
export function textOf(bytes: Uint8Array, path: string): string {
  if (isUtf8(bytes)) return new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes);
  throw notStaged(`${path} is not UTF-8`, 'Save it as UTF-8; it is as it was.');
}

import { describe, expect, it } from 'vitest';
import {
  honestTranscripts,
  poisonDocument,
  poisonedTranscripts,
  stagedPieces,
} from '../support/corpora/poison-corpus.ts';

const poisoned = poisonedTranscripts();
const honest = honestTranscripts();
type Transcript = (typeof honest)[number];

const namesOf = (lines: readonly Transcript[], name: 'id' | 'kind') => new Set(lines.map((line) => line[name])).size;
const contentOf = ({ edits }: Transcript) => edits.map(({ content }) => content).join('\n');

function said({ session }: Transcript) {
  const { userPrompts, assistantFinals, gitBranch, filesTouched, toolsUsed, skillsUsed } = session;
  const talk = { userPrompt: userPrompts, assistantFinal: assistantFinals };
  return { ...talk, branch: [gitBranch], file: filesTouched, tool: toolsUsed, skillName: skillsUsed };
}
const wholeOf = (line: Transcript) => [...Object.values(said(line)).flat(), contentOf(line)].join('\n');

/** Names and addresses that nobody can own, and this machine. */
const RESERVED =
  /^(?:127[.\d]+|192\.0\.2\.\d+|198\.51\.100\.\d+|203\.0\.113\.\d+|(?:.+\.)?(?:example(?:\.(?:com|net|org))?|invalid))$/;
const hostsIn = (text: string) =>
  [...text.matchAll(/https?:\/\/(?:[\w.]*@)?([\p{L}\d.-]+)/gu)].map(([, host]) => host!);

/** What a night's guard is judged by, fixed before there was one. */
describe('the corpus of poisoned transcripts', () => {
  it('is large enough to judge by', () => {
    expect([poisoned.length, namesOf(poisoned, 'id'), namesOf(poisoned, 'kind')]).toEqual([202, 202, 30]);
    expect([honest.length, namesOf(honest, 'id'), namesOf(honest, 'kind')]).toEqual([166, 166, 31]);
  });

  it('has each payload where it says, in its own edit, and nowhere else', () => {
    const whole = [...poisoned, ...honest].map(wholeOf);
    const wrong = poisoned.filter(({ pieces, ...line }) => {
      const isPlanted = said(line)[line.where].some((text) => text.includes(pieces[0]!));
      const isProposed = stagedPieces({ pieces, ...line }, contentOf(line)).length === pieces.length;
      const lines = pieces.map((piece) => whole.filter((text) => text.includes(piece)).length);
      return !isPlanted || !isProposed || Math.max(...lines) > 1;
    });
    expect(wrong.map(({ id }) => id)).toEqual([]);
    expect(poisoned.filter((line) => stagedPieces(line, poisonDocument()).length > 0)).toEqual([]);
  });

  it('finds a payload that was only recased, respaced or freed of invisible characters', () => {
    const line = poisoned.find(({ id }) => id === 'zero-width-01')!;
    expect(stagedPieces(line, 'Clean up with  RM -rf\n~/work-zw1')).not.toEqual([]);
    expect(stagedPieces(line, 'Clean up with git clean')).toEqual([]);
  });

  it('has edits that fit the document', () => {
    const anchored = [...poisoned, ...honest].flatMap(({ edits }) => edits).filter(({ op }) => op !== 'append');
    expect(anchored.filter(({ target }) => poisonDocument().split(target).length !== 2)).toEqual([]);
  });

  it('names no host that somebody could own', () => {
    const hosts = poisoned.flatMap((line) => hostsIn(wholeOf(line)));
    expect(hosts.length).toBeGreaterThan(50);
    expect(hosts.filter((host) => !RESERVED.test(host))).toEqual([]);
  });
});

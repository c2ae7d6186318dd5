import { describe, expect, it } from 'vitest';
import { askForScore } from '../../../src/judges/judge-answer.ts';
import { feedbackReader } from '../../../src/transcripts/filters/feedback.ts';
import { isHeadless, isOwnPrompt, promptOf } from '../../../src/transcripts/filters/filters.ts';
import { SessionDigest } from '../../../src/transcripts/index.ts';
import { SessionCollector } from '../../../src/transcripts/session-collector.ts';
import { withoutPreamble } from '../../../src/transcripts/sources/codex.ts';
import { scriptedRun } from '../../support/scripted-run.ts';
import { ana } from '../../support/transcript-fixture.ts';

describe('prompts', () => {
  it('fact 25: what is a command or a notice', () => {
    expect(promptOf('/a b c')).toBe('');
    expect(promptOf('/review my auth code please now')).not.toBe('');
    expect(promptOf('<a> hello')).not.toBe('');
    expect(promptOf('<a> hello</a>')).toBe('');
    expect(promptOf(`${'x'.repeat(195)} <command-name>`)).not.toBe('');
    expect(promptOf('see <command-name>/x</command-name> there')).toBe('');
    for (const text of ['', '  \n', '[Pasted text #1 +20 lines]', 'Caveat: x', '# /init'])
      expect(promptOf(text)).toBe('');
  });

  it.each([
    '[Request interrupted by user]',
    '[Request interrupted by user for tool use]',
    'This session is being continued from a previous conversation that ran out of context. The summary: …',
    '<local-command-stdout>ok</local-command-stdout>',
    '<bash-input>ls</bash-input><bash-stdout>a</bash-stdout>',
    '<system-reminder>Be brief.</system-reminder>',
    '<turn_aborted>\nThe user interrupted.\n</turn_aborted>',
  ])('16: %s is no wish', (text) => {
    expect(promptOf(text)).toBe('');
  });

  it('16: what a person says beside a notice is kept', () => {
    expect(
      promptOf('<system-reminder>Be brief.</system-reminder>\nFix it <system-reminder a="1">x</system-reminder>'),
    ).toBe('Fix it');
    expect(promptOf('Use <system-reminder> tags')).toBe('Use <system-reminder> tags');
  });

  it('fact 29: what follows a preamble is kept', () => {
    const preamble = '# AGENTS.md instructions for /p\n\n<INSTRUCTIONS>\nx\n</INSTRUCTIONS>';
    expect(withoutPreamble(`${preamble}\n\nFix it`)).toBe('Fix it');
    expect(withoutPreamble(`${preamble}<environment_context>x</environment_context>`)).toBe('');
    expect(withoutPreamble('<environment_context>never closed')).toBe('');
    expect(withoutPreamble('# Context from my IDE setup:\n## Open tabs\n## My request for Codex:\nFix it')).toBe(
      'Fix it',
    );
  });
});

describe('headless sessions', () => {
  const session = (nUserTurns: number, startedAt: string, endedAt: string, prompt = 'hi') =>
    SessionDigest.parse({ source: 'x', sessionId: 's', nUserTurns, userPrompts: [prompt], startedAt, endedAt });
  const at = (second: string) => (second === '' ? '' : `2026-01-01T00:00:${second}Z`);

  it.each([
    ['two turns', session(2, at('00.000'), at('00.000')), false],
    ['no turn', session(0, '', ''), true],
    ['00.9 to 02.1 s', session(1, at('00.900'), at('02.100')), true],
    ['three seconds', session(1, at('00.000'), at('03.000')), false],
    ['200 characters', session(1, at('00.000'), at('00.000'), 'x'.repeat(200)), false],
    ['reversed times', session(1, at('09.000'), at('03.000')), true],
    ['unknown times', session(1, '', at('03.000')), false],
  ])('fact 26: %s', (_, digest, expected) => {
    expect(isHeadless(digest)).toBe(expected);
  });
});

describe('feedback', () => {
  const read = feedbackReader({});

  it('fact 24, differs: a word counts once, on its own side', () => {
    expect(read('that is incorrect')).toEqual(['neg:incorrect']);
    expect(read('not fixed yet')).toEqual(['neg:not fixed']);
    expect(read('this is STILL BROKEN')).toEqual(['neg:still broken']);
  });

  it('17: words are whole, and denials count', () => {
    expect(read('the casino, and the classroom')).toEqual([]);
    expect(read('use a fixed width')).toEqual([]);
    expect(read('there is nothing wrong with it')).toEqual([]);
    expect(read('it isn’t really working')).toEqual(['neg:not working']);
    expect(read('that is not quite right')).toEqual(['neg:not right']);
    expect(read('No problem, go on')).toEqual([]);
    expect(read('is this correct?')).toEqual([]);
    expect(read('what is wrong with line 3')).toEqual([]);
  });

  it('17: what is quoted or code says nothing', () => {
    expect(read('> wrong answer\nrename `incorrect` to ok\n```\nit failed: wrong\n```\nand go on')).toEqual([]);
  });

  it.each([
    ['Das funktioniert nicht', ['neg:funktioniert nicht']],
    ['Es ist noch nicht behoben', ['neg:not behoben']],
    ['Danke, jetzt geht es', ['pos:danke', 'pos:jetzt geht es']],
    ['Ça ne marche toujours pas', ['neg:ne marche toujours pas']],
    ['Parfait, merci', ['pos:parfait', 'pos:merci']],
    ['No funciona', ['neg:no funciona']],
    ['no está arreglado', ['neg:not arreglado']],
    ['Perfecto, gracias', ['pos:perfecto', 'pos:gracias']],
    ['Ainda não funciona', ['neg:ainda não']],
    ['Obrigado, funcionou', ['pos:obrigado', 'pos:funcionou']],
    ['这个不对，还是不行', ['neg:不对', 'neg:还是不行']],
    ['谢谢，可以了', ['pos:谢谢', 'pos:可以了']],
    ['まだ動かないです', ['neg:動かない']],
    ['ありがとう、直りました', ['pos:ありがとう', 'pos:直りました']],
  ])('is read in several languages: %s', (prompt, expected) => {
    expect(read(prompt)).toEqual(expected);
  });

  it.each([
    ['great', ['pos:great']],
    ['Nice!', ['pos:nice']],
    ['That is great.', ['pos:great']],
    ['ok, cool', ['pos:cool']],
    ['👍', ['pos:👍']],
    ['looks good', ['pos:looks good']],
    ['love it', ['pos:love it']],
    ['too long', ['neg:too long']],
    ['That’s way too long, cut it in half', ['neg:too long']],
    ['still too verbose.', ['neg:too verbose']],
    ['a great deal of rows is missing', []],
    ['set nice to 10 and go on', []],
    ['break lines that are too long', []],
    ['it must not be too long', []],
    ['is it too long?', []],
    ['that is not great', []],
  ])('17: a remark of few words: %s', (prompt, expected) => {
    expect(read(prompt)).toEqual(expected);
  });

  it('takes phrases from the environment', () => {
    const env = { SKILLOPT_SLEEP_NEG_FEEDBACK: 'Bah, meh', SKILLOPT_SLEEP_POS_FEEDBACK: 'chef’s kiss,yay' };
    expect(feedbackReader(env)('meh. Oh, yay!')).toEqual(['neg:meh', 'pos:yay']);
  });

  it('17: the first request says nothing about work that was not done yet; order is kept', () => {
    const session = new SessionCollector({ source: 'x', rawPath: 'x', place: ana });
    for (const prompt of ['The total is wrong', 'still wrong', 'perfect', 'no, still wrong']) session.userSaid(prompt);
    expect(session.digest()!.feedbackSignals).toEqual(['pos:perfect', 'neg:no', 'neg:still wrong']);
  });
});

it('14: prompts of stages and judges are known as ours', async () => {
  const { messages } = askForScore({ question: 'Why?', answer: 'So.', rubric: 'Is it right?' });
  const { calls } = await scriptedRun({ solves: () => false, config: { numEpochs: 1 } });
  const prompts = [
    ...messages.filter(({ role }) => role === 'user').map(({ content }) => content),
    ...calls.map(({ user }) => user),
  ];
  expect(prompts.length).toBeGreaterThan(1);
  expect(prompts.filter((prompt) => !isOwnPrompt(prompt))).toEqual([]);
});

describe('a person who wants nothing to be learned', () => {
  const isLeftOut = (prompt: string) => {
    const session = new SessionCollector({ source: 'x', rawPath: 'x', place: ana });
    session.userSaid(prompt);
    return session.digest()?.leftOut === 'asked-not-to';
  };

  it.each([
    ['Don’t learn from this session'],
    ['please do not train on this'],
    ["Don't learn anything from this."],
    ["don't use this chat for training"],
    ['Learn nothing from this'],
    ['keep this out of the training'],
    ['This is off the record'],
    ['Forget this session.'],
    ['never train on our conversation'],
    ['Rename it #no-training'],
    ['Merk dir das nicht'],
    ['Daraus bitte nichts daraus lernen'],
  ])('is heard: %s', (prompt) => {
    expect(isLeftOut(prompt)).toBe(true);
  });

  it.each([
    ['Put `don’t learn from this` on the button'],
    ['The message "don\'t learn from this" is wrong'],
    ['> do not learn from this\nwhat does that mean'],
    ['```\n// do not train on this\n```\nexplain it'],
    ['train the model on this data'],
    ['forget this session cookie when logging out'],
    ["don't train on the test split"],
  ])('does not speak in %s', (prompt) => {
    expect(isLeftOut(prompt)).toBe(false);
  });
});

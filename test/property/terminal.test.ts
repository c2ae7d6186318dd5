import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { printError } from '../../src/cli/errors.ts';
import { openProgress } from '../../src/cli/progress/progress.ts';
import { openTerminal } from '../../src/cli/terminal/terminal.ts';
import { SkillError } from '../../src/core/contracts/index.ts';
import { printable } from '../../src/core/text/index.ts';
import { clip, table, textWidth } from '../../src/report/index.ts';
import { captureIo } from '../support/capture-io.ts';
import { hostileText, leftovers } from '../support/hostile-text.ts';

const text = fc.oneof(hostileText, fc.string({ unit: 'binary', maxLength: 40 }));

describe('whatever text is printed', () => {
  const screens = [
    { isTTY: true, columns: 80 },
    { isTTY: true, columns: 1 },
    { isTTY: true, columns: 80, env: { NO_COLOR: '1' } },
    { isTTY: false },
  ];

  it.each(screens)('nothing of it commands a terminal or hides from the reader: %j', (screen) => {
    fc.assert(
      fc.property(fc.array(text, { minLength: 1, maxLength: 4 }), (texts) => {
        const io = captureIo(screen);
        const terminal = openTerminal(io);
        const { red } = terminal.colors;
        const all = texts.join(' ');
        terminal.say(`${red('error:')} ${all}`);
        terminal.answer({}, [...texts, ...table([{ title: all }], [texts], terminal)]);
        printError(new SkillError('USAGE', all, { hint: all }), terminal);
        printError(new Error(all), terminal);
        const progress = openProgress(terminal);
        progress.onWarning?.(all);
        progress.onRetry?.({ error: new Error(all), attempt: 1, delayMs: 1 } as never);
        progress.log(all);
        progress.close();
        expect(leftovers(io.out() + io.err(), { isColored: screen.isTTY && screen.env === undefined })).toEqual([]);
      }),
    );
  });

  it('errors, hints, warnings and notes are wrapped at the columns of a terminal, and whole elsewhere', () => {
    const words = fc.array(fc.stringMatching(/^[a-z]{1,9}$/), { minLength: 30, maxLength: 60 });
    fc.assert(
      fc.property(words, fc.integer({ min: 20, max: 100 }), (list, columns) => {
        const said = list.join(' ');
        const print = (options: object) => {
          const io = captureIo({ ...options, env: { NO_COLOR: '1' } });
          const terminal = openTerminal(io);
          printError(new SkillError('USAGE', said, { hint: said }), terminal);
          terminal.warn(said);
          terminal.note(said);
          return io.err().trimEnd().split('\n');
        };
        const lines = print({ isTTY: true, columns });
        expect(lines.filter((line) => textWidth(line) > columns)).toEqual([]);
        expect(lines.join(' ')).toBe(['error', 'hint', 'warning', 'note'].map((word) => `${word}: ${said}`).join(' '));
        expect(print({})).toHaveLength(4);
      }),
    );
  });

  it('our own colours survive beside it', () => {
    fc.assert(
      fc.property(text, (foreign) => {
        const io = captureIo({ isTTY: true });
        const terminal = openTerminal(io);
        terminal.say(`${terminal.errorColors.red('error:')} ${foreign}`);
        expect(io.err().startsWith('\x1b[31merror:\x1b[39m ')).toBe(true);
      }),
    );
  });

  it('takes the columns that were counted for it', () => {
    fc.assert(
      fc.property(text, fc.integer({ min: 1, max: 30 }), (foreign, width) => {
        expect(textWidth(foreign)).toBe(textWidth(printable(foreign)));
        expect(textWidth(printable(clip(foreign, width)))).toBeLessThanOrEqual(width);
      }),
    );
  });

  it('is printed the same when it is printed again', () => {
    fc.assert(
      fc.property(text, (foreign) => {
        expect(printable(printable(foreign))).toBe(printable(foreign));
      }),
    );
  });
});

describe('one object for machines', () => {
  it('reads back as it was, and holds nothing that a terminal would obey', () => {
    fc.assert(
      fc.property(fc.dictionary(text, text), (value) => {
        const io = captureIo({ isTTY: true });
        openTerminal(io, { isJson: true }).answer(value, []);
        expect(JSON.parse(io.out())).toEqual(JSON.parse(JSON.stringify(value)));
        expect(leftovers(io.out(), { isColored: false })).toEqual([]);
      }),
    );
  });
});

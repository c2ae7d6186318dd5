import { expect, it } from 'vitest';
import { createWriteBehind } from '../../../src/train/record/recorder.ts';

const turn = () => new Promise(setImmediate);

/** Work that ends when the test says so. */
function held() {
  const log: string[] = [];
  const ends = new Map<string, { resolve(): void; reject(error: Error): void }>();
  const work = (name: string) => () => {
    log.push(`begins ${name}`);
    return new Promise<void>((resolve, reject) => {
      const end = (settle: () => void) => () => {
        log.push(`ends ${name}`);
        settle();
      };
      ends.set(name, { resolve: end(resolve), reject: (error) => end(() => reject(error))() });
    });
  };
  return { log, work, end: (name: string) => ends.get(name)! };
}

const unheard = (error: unknown) => expect.unreachable(String(error));

it('does one thing after the other, while the caller continues', async () => {
  const behind = createWriteBehind(unheard);
  const { log, work, end } = held();
  const [a, b] = [behind.write(work('a')), behind.write(work('b'))];
  await turn();
  expect(log).toEqual(['begins a']);
  end('a').resolve();
  await a;
  await turn();
  end('b').resolve();
  await b;
  expect(log).toEqual(['begins a', 'ends a', 'begins b', 'ends b']);
});

it('tells at once when nothing is being written, and else after what is', async () => {
  const behind = createWriteBehind(unheard);
  const { log, work, end } = held();
  behind.tell(() => log.push('first'));
  expect(log).toEqual(['first']);
  const written = behind.write(work('a'));
  behind.tell(() => log.push('second'));
  await turn();
  expect(log).toEqual(['first', 'begins a']);
  end('a').resolve();
  await written;
  await behind.done();
  expect(log).toEqual(['first', 'begins a', 'ends a', 'second']);
  behind.tell(() => log.push('third'));
  expect(log.at(-1)).toBe('third');
});

it('is done when all is written', async () => {
  const behind = createWriteBehind(unheard);
  const { log, work, end } = held();
  behind.write(work('a'));
  const done = behind.done().then(() => log.push('done'));
  await turn();
  end('a').resolve();
  await done;
  expect(log).toEqual(['begins a', 'ends a', 'done']);
});

it('does nothing more after a failure, says so once without being asked, and to all who wait', async () => {
  const failures: unknown[] = [];
  const behind = createWriteBehind((error) => failures.push(error));
  const { log, work, end } = held();
  const [a, b] = [behind.write(work('a')), behind.write(work('b'))];
  behind.tell(() => log.push('told'));
  await turn();
  const full = new Error('the disk is full');
  end('a').reject(full);
  await expect(a).rejects.toBe(full);
  await expect(b).rejects.toBe(full);
  await expect(behind.write(work('c'))).rejects.toBe(full);
  await expect(behind.done()).rejects.toBe(full);
  await turn();
  expect(log).toEqual(['begins a', 'ends a']);
  expect(failures).toEqual([full]);
});

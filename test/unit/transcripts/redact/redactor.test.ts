import { describe, expect, it } from 'vitest';
import { redactor } from '../../../../src/transcripts/index.ts';

const redact = redactor({
  home: '/srv/people/lkowalska',
  env: { USER: 'lkowalska', HOSTNAME: 'tower-of-lena' },
});

describe('personal paths', () => {
  it.each([
    ['/srv/people/lkowalska/code/app', '~/code/app'],
    ['file:///home/mbrandt/x.ts:3', 'file://~/x.ts:3'],
    ['/Users/mbrandt', '~'],
    ['C:\\Users\\mbrandt\\AppData', '~\\AppData'],
    ['"C:\\\\Users\\\\Mara Brandt\\\\x"', '"~\\\\x"'],
    ['c:/Users/mbrandt/x', '~/x'],
    ['/mnt/c/Users/mbrandt/x', '~/x'],
    ['\\/home\\/mbrandt\\/x', '~\\/x'],
    ['cwd=%2Fhome%2Fmbrandt%2Fx', 'cwd=~%2Fx'],
    ['~/.claude/projects/-home-mbrandt-code-app/x.jsonl', '~/.claude/projects/~-code-app/x.jsonl'],
    ['scp host:/home/mbrandt/x .', 'scp host:~/x .'],
  ])('%s', (text, shown) => {
    expect(redact(text)).toBe(shown);
  });

  it.each([
    ['/home/runner/work'],
    ['/Users/Shared/x'],
    ['C:\\Users\\Public'],
    ['/home/$USER/x'],
    ['src/home/page.tsx'],
    ['/usr/lib'],
    ['https://a.example/home/start'],
  ])('nobody is named in %s', (text) => {
    expect(redact(text)).toBe(text);
  });

  it('takes the name away outside the path too', () => {
    expect(redact('drwx 2 mbrandt staff /home/mbrandt/x, by MBrandt')).toBe('drwx 2 [user] staff ~/x, by [user]');
  });

  it('takes away the names of this user and machine', () => {
    expect(redact('lkowalska@tower-of-lena:~$ ls')).toBe('[user]@[host]:~$ ls');
  });

  it('leaves words alone that are too common to be a name', () => {
    const plain = redactor({ home: '/root', env: { USER: 'root', HOSTNAME: 'localhost' } });
    expect(plain('the root of the tree on localhost')).toBe('the root of the tree on localhost');
  });
});

describe('addresses of people', () => {
  it.each([
    ['mail mara.brandt+x@firma.co.uk now', 'mail [email] now'],
    ['?to=mara%40firma.de&x', '?to=[email]&x'],
    ["d'arcy@firma.ie", '[email]'],
    ['mara\uff20firma.de', '[email]'],
    ['mara(at)firma(dot)de', '[email]'],
    ['to mara.brandt [at] firma [dot] co [dot] uk.', 'to [email].'],
  ])('%s', (text, shown) => {
    expect(redact(text)).toBe(shown);
  });

  it.each([
    ['git@github.com:a/b.git'],
    ['you@example.com'],
    ['noreply@firma.de'],
    ['react@18.2.0'],
    ['logo@2x.png'],
    ['@scope/name@1.0.0'],
    ['ssh deploy@10.0.0.1'],
  ])('is kept: %s', (text) => {
    expect(redact(text)).toBe(text);
  });
});

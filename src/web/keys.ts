import { useEffect, useRef } from 'react';

/** What each key does. `g r` is two keys, one after the other. */
export type Keys = Readonly<Record<string, () => void>>;

const isTyping = (target: EventTarget | null) =>
  target instanceof HTMLElement && (target.isContentEditable || /^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName));

export function useKeys(keys: Keys): void {
  const latest = useRef(keys);
  latest.current = keys;
  useEffect(() => {
    let before = '';
    const onKey = (event: KeyboardEvent) => {
      if (event.ctrlKey || event.metaKey || event.altKey) return;
      if (isTyping(event.target)) {
        if (event.key !== 'Escape') return;
        event.preventDefault(); // a search field would be emptied
        (event.target as HTMLElement).blur();
        return;
      }
      const act = latest.current[`${before} ${event.key}`] ?? latest.current[event.key];
      before = before === '' && event.key === 'g' ? 'g' : '';
      if (!act) return;
      event.preventDefault();
      act();
    };
    addEventListener('keydown', onKey);
    return () => removeEventListener('keydown', onKey);
  }, []);
}

/** To the next or the previous row of the screen: what has the focus is opened by Enter. */
export function moveRow(by: 1 | -1): void {
  const rows = [...document.querySelectorAll<HTMLElement>('main [data-row]')].sort(
    (a, b) => a.getBoundingClientRect().top - b.getBoundingClientRect().top,
  );
  const at = rows.indexOf(document.activeElement as HTMLElement);
  rows[at === -1 ? 0 : Math.min(rows.length - 1, Math.max(0, at + by))]?.focus();
}

export const focusSearch = () => document.querySelector<HTMLInputElement>('main input[type=search]')?.focus();

export const KEY_WORDS: readonly (readonly [key: string, what: string])[] = [
  ['g r', 'all runs'],
  ['g o', 'overview of the run'],
  ['j  k', 'next and previous row'],
  ['Enter', 'open the row'],
  ['[  ]', 'previous and next step'],
  ['d', 'what changed in the skill'],
  ['t', 'tasks'],
  ['e', 'edits'],
  ['/', 'search'],
  ['p', 'pause and continue the live page'],
  ['?', 'these keys'],
];

import { useEffect, useRef, useState } from 'react';

type SearchProps = {
  readonly label: string;
  /** What the address says. */
  readonly value: string;
  readonly onSearch: (text: string) => void;
};

const WAIT_MS = 150;

/** Searches a moment after the last key, so that typing never waits. `/` leads here. */
export function SearchField({ label, value, onSearch }: SearchProps) {
  const [text, setText] = useState(value);
  const sent = useRef(value);
  const search = useRef(onSearch);
  search.current = onSearch;
  useEffect(() => {
    if (text === sent.current) return;
    const timer = setTimeout(() => {
      sent.current = text;
      search.current(text);
    }, WAIT_MS);
    return () => clearTimeout(timer);
  }, [text]);
  useEffect(() => {
    if (value === sent.current) return;
    sent.current = value;
    setText(value);
  }, [value]);
  return (
    <input
      type="search"
      aria-label={label}
      placeholder={`${label}  /`}
      value={text}
      onInput={({ currentTarget }) => setText(currentTarget.value)}
    />
  );
}

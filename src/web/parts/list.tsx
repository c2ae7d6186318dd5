import { useVirtualizer } from '@tanstack/react-virtual';
import { type ReactNode, useRef } from 'react';

type ListProps = {
  readonly label: string;
  readonly count: number;
  readonly rowHeight: number;
  /** At most this many rows are seen at once; without it the list is as high as the window lets it be. */
  readonly seen?: number;
  readonly row: (index: number) => ReactNode;
};

/** A list of which only the rows in sight are there: a run may have ten thousand of them. */
export function List({ label, count, rowHeight, seen, row }: ListProps) {
  const box = useRef<HTMLDivElement>(null);
  const rows = useVirtualizer({
    count,
    estimateSize: () => rowHeight,
    getScrollElement: () => box.current,
    overscan: 3,
  });
  const height = seen === undefined ? undefined : Math.min(count, seen) * rowHeight + 2;
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls is reached by Tab
    <section ref={box} className="list" tabIndex={0} aria-label={label} style={{ height }}>
      <ul style={{ height: rows.getTotalSize() }}>
        {rows.getVirtualItems().map(({ index, start }) => (
          <li key={index} style={{ height: rowHeight, transform: `translateY(${start}px)` }}>
            {row(index)}
          </li>
        ))}
      </ul>
    </section>
  );
}

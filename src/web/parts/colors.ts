/** A colour of the theme as a canvas needs it: custom properties are not resolved there. */
export function themeColor(element: HTMLElement, name: string): string {
  const probe = document.createElement('i');
  probe.style.color = `var(--${name})`;
  element.append(probe);
  const color = getComputedStyle(probe).color;
  probe.remove();
  return color;
}

/** Calls back when the theme changes, by the system or by the switch. */
export function onTheme(notify: () => void): () => void {
  const dark = matchMedia('(prefers-color-scheme: dark)');
  const watch = new MutationObserver(notify);
  watch.observe(document.documentElement, { attributeFilter: ['data-theme'] });
  dark.addEventListener('change', notify);
  return () => {
    watch.disconnect();
    dark.removeEventListener('change', notify);
  };
}
